"""What a vault is like as a whole: counts, reach, orphans, dangling links, files that cannot be read.

Brings the catalogue up to date and reads it; changes nothing in the vault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from infold.catalogue.kinds import kind_of
from infold.catalogue.links import as_written, dangling_links
from infold.catalogue.store import catalogue_of
from infold.catalogue.sync import CatalogueResult, sync_catalogue
from infold.discovery import best_linked
from infold.knowledge.graph import Graph
from infold.progress import Progress, silent
from infold.workspace import Workspace


@dataclass(frozen=True)
class VaultStats:
    """A vault, looked at. `words` by path; `dangling` counts each link text that leads to no note."""

    found: CatalogueResult
    words: Mapping[str, int]
    kinds: Mapping[str, str]
    graph: Graph
    dangling: Counter[str]

    @cached_property
    def notes(self) -> list[str]:
        """Every note but the inbox."""
        return [path for path, kind in self.kinds.items() if kind != "inbox"]

    def reach_by_hops(self, root: str) -> list[int]:
        """How many notes lie 0, 1, 2, … links away from `root`; empty where it is no note."""
        hops = Counter(self.graph.reach(root).values())
        return [hops[distance] for distance in range(len(hops))]

    def best_linked(self) -> dict[str, int]:
        """How many notes each of the notes with the most links reaches."""
        return best_linked({path: self.graph.outgoing(path) for path in self.notes})


def vault_stats(workspace: Workspace, progress: Progress = silent) -> VaultStats:
    """Looks at the vault. Raises VaultNotFound and StateUnwritable."""
    with closing(catalogue_of(workspace)) as catalogue:
        found = sync_catalogue(catalogue, progress=lambda done, total: progress("tables", done, total))
        notes = catalogue.notes()
        kind = kind_of(workspace.params, workspace.vault)
        return VaultStats(
            found=found,
            words={note.path: note.words for note in notes},
            kinds={note.path: kind(note.path) for note in notes},
            graph=Graph(catalogue.outgoing()),
            dangling=Counter(as_written(link) for _, link in dangling_links(catalogue)),
        )

"""What a vault is like as a whole: counts, reach, orphans, dangling links, files that cannot be read.

Brings the tables up to date and reads them; changes nothing in the vault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from infold.catalogue.links import dangling_links, load_links
from infold.catalogue.notes import load_notes
from infold.catalogue.sync import TablesResult, sync_tables
from infold.discovery import best_linked
from infold.knowledge.graph import Graph
from infold.progress import Progress, silent
from infold.workspace import Workspace


@dataclass(frozen=True)
class VaultStats:
    """A vault, looked at. `words` by path; `dangling` counts each link text that leads to no note."""

    tables: TablesResult
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
    tables = sync_tables(
        workspace.vault, workspace.tables, workspace.params, lambda done, total: progress("tables", done, total)
    )
    notes = load_notes(workspace.tables)
    words = dict(zip(notes["path"], notes["words"], strict=True))
    dangling = Counter(dangling_links(load_links(workspace.tables))["raw"])
    return VaultStats(
        tables=tables,
        words=words,
        kinds=dict(zip(notes["path"], notes["kind"], strict=True)),
        graph=Graph(dict(zip(notes["path"], notes["outgoing"], strict=True))),
        dangling=dangling,
    )

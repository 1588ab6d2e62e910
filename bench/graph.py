"""The graph of a big vault: how long it takes to load, to answer, to rename, and what memory it takes.

    python -m bench.graph [--notes 38000] [--backlinks 5000] [--folder FOLDER]

The vault is real text repeated (bench/synthetic.py), with one more note that so many others link to.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.synthetic import shared_data, templates, write_vault
from infold.app import open_vault
from infold.catalogue.store import Catalogue
from infold.knowledge.communities import communities
from infold.knowledge.note_changes import NoteChanges
from infold.knowledge.vault_links import backlinks_of, graph_of

HUB = "The one hub.md"


def main() -> None:
    """Makes the vault, measures, prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=38_000)
    parser.add_argument("--backlinks", type=int, default=5_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "vault"
        if not folder.exists():
            write_vault(folder, options.notes, templates(shared_data()))
            link_to_the_hub(folder, options.backlinks)
        with open_vault(folder, state=Path(temporary) / "state") as vault:
            with timed("read the vault for the first time"), vault.catalogued():
                pass
            with vault.catalogued() as catalogue:
                measure(catalogue)
                rename(vault, catalogue)


def link_to_the_hub(folder: Path, count: int) -> None:
    """Adds the hub, and a link to it to so many notes."""
    for file in sorted(folder.rglob("*.md"))[:count]:
        with file.open("a", encoding="utf-8") as note:
            note.write("\nSee [[The one hub|the hub]].\n")
    (folder / HUB).write_text("# The one hub\n", encoding="utf-8")


def measure(catalogue: Catalogue) -> None:
    """Loading and asking."""
    process = psutil.Process()
    before = process.memory_info().rss
    with timed("load the graph"):
        graph = graph_of(catalogue)
    print(f"| memory of the graph | {(process.memory_info().rss - before) / 2**20:.0f} MB |")
    numbers = graph.statistics()
    print(f"| notes, links | {numbers.notes:,}, {numbers.links:,} |")
    ends = sorted(graph.notes)[7], sorted(graph.notes)[-9]
    ask("backlinks of a note in the graph", lambda: graph.backlinks(HUB))
    ask("neighbours within 2", lambda: graph.neighbours(ends[0], 2))
    ask("path between two notes", lambda: graph.path(*ends))
    ask("orphans", graph.orphans)
    ask("hubs", graph.hubs)
    ask("statistics", graph.statistics)
    with timed("communities"):
        found = communities(graph)
    print(f"| communities found | {len(found)} |")
    few = next(path for path in sorted(graph.notes) if 1 <= len(graph.backlinks(path)) <= 20)
    ask("backlinks with their context, of few", lambda: backlinks_of(catalogue, few))


def rename(vault: Any, catalogue: Catalogue) -> None:
    """A rename of the note that most others link to, and its undo."""
    changes = NoteChanges(vault.workspace, catalogue)
    with timed("plan the rename of the hub"):
        plan = changes.plan_move(HUB, "Another name")
    print(f"| links rewritten, not kept | {len(plan.links.rewritten):,}, {len(plan.links.unkept)} |")
    with timed("apply it"):
        change = plan.change.apply()
    with timed("undo it"):
        undone = vault.undo(change.id)
    print(f"| status after | {undone.change.status} |")


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints how long the block took."""
    started = time.perf_counter()
    yield
    print(f"| {what} | {time.perf_counter() - started:.2f} s |", flush=True)


def ask(what: str, call: Callable[[], object]) -> None:
    """Prints the best of three."""
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    print(f"| {what} | {best * 1000:.2f} ms |", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""The graph of a big vault: how long it takes to load, to answer, to rename, and what memory it takes.

    python -m bench.graph [--notes 38000] [--links 130000] [--backlinks 5000] [--folder FOLDER] [--lint]

The vault is real text repeated (bench/synthetic.py) with more links added, so that there are so many between two
different notes, and with one more note that so many others link to. What is kept of the graph is shown twice: made
anew, as after a note changed, and as it is found from then on.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from bench.synthetic import shared_data, templates, write_vault
from infold.app import open_vault
from infold.catalogue.store import Catalogue
from infold.knowledge.lint import lint
from infold.knowledge.note_changes import NoteChanges
from infold.knowledge.vault_links import (
    backlinks_of,
    communities_of,
    dangling_of,
    forward_links_of,
    graph_of,
    statistics_of,
)

HUB = "The one hub.md"
_LINKS_A_NOTE = 2.33  # of the repeated text


def main() -> None:
    """Makes the vault, measures, prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=38_000)
    parser.add_argument("--links", type=int, default=130_000)
    parser.add_argument("--backlinks", type=int, default=5_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--lint", action="store_true", help="also look for what is not well, contradictions too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "vault"
        if not folder.exists():
            write_vault(folder, options.notes, templates(shared_data()))
            add_links(folder, options.links - int(_LINKS_A_NOTE * options.notes))
            link_to_the_hub(folder, options.backlinks)
        with open_vault(folder, state=Path(temporary) / "state") as vault:
            with timed("read the vault for the first time"), vault.catalogued():
                pass
            with timed("see that nothing changed"), vault.catalogued():
                pass
            with vault.catalogued() as catalogue:
                measure(catalogue)
                if options.lint:
                    with timed("lint, without contradictions"):
                        lint(catalogue, None, with_contradictions=False, dangling_limit=50)
                    with timed("lint, with contradictions"):
                        lint(catalogue, None, dangling_limit=50)
                rename(vault, catalogue)


def add_links(folder: Path, count: int) -> None:
    """Adds so many links, each from a note to another, by chance."""
    files = sorted(folder.rglob("*.md"))
    chance = random.Random(7)
    for _ in range(max(0, count) // 5):
        names = (target.stem for target in chance.sample(files, 5))
        with chance.choice(files).open("a", encoding="utf-8") as note:
            note.write("\nSee " + ", ".join(f"[[{name}]]" for name in names) + ".\n")


def link_to_the_hub(folder: Path, count: int) -> None:
    """Adds the hub, and a link to it to so many notes."""
    for file in sorted(folder.rglob("*.md"))[:count]:
        with file.open("a", encoding="utf-8") as note:
            note.write("\nSee [[The one hub|the hub]].\n")
    (folder / HUB).write_text("# The one hub\n", encoding="utf-8")


def measure(catalogue: Catalogue) -> None:
    """Loading and asking."""
    for what, call in (("graph", graph_of), ("statistics", statistics_of), ("communities", communities_of)):
        with timed(f"{what}, made anew"):
            call(catalogue)
        ask(f"{what}, as kept", partial(call, catalogue))
    process = psutil.Process()
    before = process.memory_info().rss
    graph = graph_of(catalogue)
    print(f"| memory of the graph | {(process.memory_info().rss - before) / 2**20:.0f} MB |")
    numbers = statistics_of(catalogue)
    print(f"| notes, links, links to nothing | {numbers.notes:,}, {numbers.links:,}, {numbers.dangling:,} |")
    paths = sorted(graph.notes)
    few = next(path for path in paths if 1 <= len(graph.backlinks(path)) <= 20)
    ask("backlinks with their lines, of few", lambda: backlinks_of(catalogue, few))
    ask("forward links", lambda: forward_links_of(catalogue, few))
    ask("neighbours within 2", lambda: graph.neighbours(paths[7], 2))
    ask("path between two notes", lambda: graph.path(paths[7], paths[-9]))
    ask("orphans", graph.orphans)
    ask("dead ends", graph.dead_ends)
    ask("hubs", graph.hubs)
    ask("links to nothing, 50 with the nearest note", lambda: dangling_of(catalogue).first(50, graph.notes))


def rename(vault: Any, catalogue: Catalogue) -> None:
    """A rename of the note that most others link to, and its undo."""
    changes = NoteChanges(vault.workspace, catalogue)
    ask("find a note by its name", lambda: changes.find("The one hub"))
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
    main()

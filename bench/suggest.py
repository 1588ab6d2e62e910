"""How many of a note's links are suggested for its text without them: beside BM25 alone and similarity alone.

    python -m bench.suggest [--vaults foam-docs,…] [--most 150] [--words kept|gone]

A note's links are taken out: with `kept` what they show stays as plain text, with `gone` it goes too. Each row says how
many of the notes that were linked are among the first five and ten, on average over notes with links to two or more.
The note itself, and its links, are unknown to what suggests.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from infold.app import open_vault
from infold.knowledge.graph import Graph
from infold.knowledge.suggesting import DEPTH, NoteNames, suggest
from infold.search.query.fusion import best_scores
from infold.search.query.searcher import Searcher
from infold.vault.links import LinkResolver, alias_table
from infold.vault.note import parse, plain_text
from infold.vault.records import Note

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "vaults"
VAULTS: Final = ("foam-docs", "forgetful-notes", "quartz-docs", "dendron-site")
CUTS: Final = (5, 10)


def notes_of(folder: Path) -> dict[str, Note]:
    """The notes of a vault by path."""
    found = {}
    for file in sorted(folder.rglob("*.md")):
        path = file.relative_to(folder).as_posix()
        if not any(part.startswith(".") for part in path.split("/")):
            found[path] = parse(path, file.read_text(encoding="utf-8", errors="replace"))
    return found


def links_of(notes: dict[str, Note]) -> dict[str, list[str]]:
    """Where the links of each note lead, each once, itself left out."""
    resolver = LinkResolver(notes, alias_table((path, note.aliases) for path, note in notes.items()))
    return {
        path: [
            target
            for target in dict.fromkeys(resolver.resolve_link(link, path) for link in note.links)
            if target not in (None, path)
        ]
        for path, note in notes.items()
    }


def without_links(note: Note, words: str) -> str:
    """The note's text with its links as what they show, or gone."""
    if words == "kept":
        return plain_text(note)
    text = note.text
    for link in sorted(note.links, key=lambda link: -link.start):
        text = text[: link.start] + text[link.end :]
    return plain_text(parse(note.path, text))


def recall(found: Sequence[str], wanted: Sequence[str], cut: int) -> float:
    """The share of `wanted` among the first of `found`, of as many as can be there."""
    return len(set(found[:cut]) & set(wanted)) / min(cut, len(wanted))


def measure(folder: Path, most: int, words: str) -> dict[str, list[float]]:
    """For each way of suggesting its recall at each cut."""
    notes = notes_of(folder)
    links = links_of(notes)
    cases = [path for path, targets in links.items() if len(targets) >= 2]
    cases = random.Random(0).sample(cases, min(most, len(cases)))
    names = NoteNames((path, note.title, note.aliases) for path, note in notes.items())
    sums: dict[str, list[float]] = {way: [0.0] * len(CUTS) for way in ("BM25", "similarity", "suggest")}
    with tempfile.TemporaryDirectory() as state, open_vault(folder, state=state) as vault:
        vault.sync_index()
        with Searcher(vault.workspace.index, vault.params.search, vault.embedder) as search:
            for path in cases:
                content = without_links(notes[path], words)
                graph = Graph({**links, path: []})
                ways = {
                    "BM25": list(best_scores(search.keyword(content, DEPTH))),
                    "similarity": list(best_scores(search.dense(content, DEPTH))),
                    "suggest": [
                        each.path for each in suggest(content, search, graph, names, lambda _: "", 10, without=[path])
                    ],
                }
                for way, found in ways.items():
                    own = [other for other in found if other != path]
                    for at, cut in enumerate(CUTS):
                        sums[way][at] += recall(own, links[path], cut) / len(cases)
    return sums


def main() -> None:
    """Measures each vault and prints a row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--vaults", default=",".join(VAULTS))
    parser.add_argument("--most", type=int, default=150)
    parser.add_argument("--words", choices=("kept", "gone"), default="kept")
    options = parser.parse_args()
    print(
        "| vault | BM25 at 5 | at 10 | similarity at 5 | at 10 | suggest at 5 | at 10 |\n|---|---|---|---|---|---|---|"
    )
    for vault in options.vaults.split(","):
        found = measure(options.data / vault, options.most, options.words)
        print(
            f"| {vault} | " + " | ".join(f"{value:.3f}" for way in found.values() for value in way) + " |", flush=True
        )


if __name__ == "__main__":
    main()

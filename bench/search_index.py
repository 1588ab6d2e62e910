"""How fast the search index is made, kept and asked: passages a second, a sync after nothing or one change, queries.

`python bench/search_index.py [NOTES]`, 10,000 by default; `--sync-only` leaves the queries out. Wall and CPU time both,
CPU of workers included: on a busy machine only the second is stable, and the load average beside the table says how
busy it was. The notes are the public vaults repeated, so that many passages share their vector.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.synthetic import shared_data, templates, write_vault
from infold.search.embed.embedder import Embedder
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.change_detection import RACE_NS
from infold.search.index.sync import SyncResult, sync_index
from infold.search.query.searcher import Searcher
from infold.settings import Params
from infold.vault.note import parse, plain_text

QUERIES = 200


@dataclass
class Figures:
    """Rows of the table that is printed in the end."""

    rows: list[tuple[str, str, str]] = field(default_factory=list)
    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Leaves wall and CPU seconds of the block behind."""
        wall, cpu = time.perf_counter(), _cpu_seconds()
        yield
        self.wall, self.cpu = time.perf_counter() - wall, _cpu_seconds() - cpu

    def rate(self, name: str, count: int, unit: str) -> None:
        """A row of so many a second."""
        self.rows.append((name, f"{count / self.wall:,.0f} {unit}/s", f"{count / self.cpu:,.0f} {unit}/CPU s"))

    def took(self, name: str) -> None:
        """A row of how long it took."""
        self.rows.append((name, f"{self.wall * 1000:,.0f} ms", f"{self.cpu * 1000:,.0f} ms CPU"))

    def latencies(self, name: str, ask: Callable[[str], object], texts: Sequence[str]) -> None:
        """A row of median and 95th percentile over all queries."""
        times = []
        for text in texts:
            started = time.perf_counter()
            ask(text)
            times.append((time.perf_counter() - started) * 1000)
        high = statistics.quantiles(times, n=20)[-1]
        self.rows.append((name, f"p50 {statistics.median(times):.1f} ms", f"p95 {high:.1f} ms"))


def _cpu_seconds() -> float:
    """Of this process and of the workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(vault: Path, state: Path, *, with_queries: bool = True) -> Figures:
    """Every figure, over one vault."""
    figures = Figures()
    words_only = Params.model_validate({"search": {"embedding": "none"}})

    def sync(params: Params, embedder: Embedder, *, rebuild: bool = False) -> SyncResult:
        return sync_index(vault, state / "index", state / "embeddings", params, embedder, rebuild=rebuild)

    with figures.timed():
        made = sync(words_only, NO_EMBEDDER)
    figures.rate("first index, keywords alone", made.chunks_created, "passages")
    embedder = StaticEmbedder()
    embedder.embed(["warm"])
    with figures.timed():
        made = sync(Params(), embedder)
    figures.rate("first index, with static vectors", made.chunks_created, "passages")
    figures.rows.append(("passages, of them embedded", f"{made.chunks_created:,}", f"{made.embeddings_computed:,}"))
    with figures.timed():
        made = sync(Params(), embedder, rebuild=True)
    figures.rate("made anew", made.chunks_created, "passages")
    with figures.timed():
        sync(Params(), embedder)
    figures.took("sync after no change")
    changed = sorted(vault.rglob("*.md"))[len(list(vault.rglob("*.md"))) // 2]
    with changed.open("a", encoding="utf-8") as file:
        file.write("\nOne more sentence for the bench.\n")
    with figures.timed():
        sync(Params(), embedder)
    figures.took("sync after one changed note")
    with Searcher(state / "index", Params().search, embedder):
        with changed.open("a", encoding="utf-8") as file:
            file.write("\nAnd another.\n")
        with figures.timed():
            sync(Params(), embedder)
        figures.took("the same while a search is open, as beside a watcher")
    for note in sorted(vault.rglob("*.md"))[1:1001]:
        note.rename(note.with_name(f"renamed {note.name}"))
    with figures.timed():
        made = sync(Params(), embedder)
    figures.took(f"sync after 1,000 renamed notes ({made.embeddings_computed} vectors computed)")
    shutil.rmtree(state / "index")
    with figures.timed():
        made = sync(Params(), embedder)
    figures.took(f"index deleted, synced again ({made.embeddings_computed} vectors computed)")
    size = sum(file.stat().st_blocks * 512 for file in (state / "index").rglob("*") if file.is_file())
    figures.rows.append(("index on disk", f"{size / 1e6:,.0f} MB", ""))
    if with_queries:
        _ask(figures, vault, state, embedder)
    return figures


def _ask(figures: Figures, vault: Path, state: Path, embedder: Embedder) -> None:
    """How long queries take."""
    with figures.timed():
        searcher = Searcher(state / "index", Params().search, embedder)
    figures.took("opening a search")
    short, long = _queries(vault)
    with searcher:
        figures.latencies("keyword, 6 words", lambda text: searcher.keyword(text, 10), short)
        figures.latencies("dense, 6 words", lambda text: searcher.dense(text, 10), short)
        figures.latencies("hybrid, 6 words", lambda text: searcher.hybrid(text, 10), short)
        figures.latencies("candidates, 6 words", lambda text: searcher.candidates(text, 8), short)
        figures.latencies("keyword, 600 words", lambda text: searcher.keyword(text, 10), long)
        figures.latencies("candidates, 600 words", lambda text: searcher.candidates(text, 8), long)
        some = [path.relative_to(vault).as_posix() for path in random.Random(0).sample(sorted(vault.rglob("*.md")), 60)]
        figures.latencies("score of 60 notes, 600 words", lambda text: searcher.score(text, some), long)


def _queries(vault: Path) -> tuple[list[str], list[str]]:
    """Short and long queries out of the notes' own words; the long ones of several notes each, as chunks are."""
    chance = random.Random(1)
    notes = [
        plain_text(parse(file.name, file.read_text("utf-8"))).split() for file in sorted(vault.rglob("*.md"))[:2000]
    ]
    notes = [words for words in notes if len(words) > 100]
    short = [" ".join(words[at : at + 6]) for words in chance.choices(notes, k=QUERIES) for at in [len(words) // 2]]
    long = [" ".join(" ".join(words[:100]) for words in chance.sample(notes, 6)) for _ in range(QUERIES // 4)]
    return short, long


def main() -> None:
    """Measures and prints one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", type=int, nargs="?", default=10_000)
    parser.add_argument("--sync-only", action="store_true")
    options = parser.parse_args()
    count = options.notes
    sources = templates(shared_data())
    folder = Path(tempfile.mkdtemp(prefix="infold-bench-"))
    try:
        before = os.getloadavg()[0]
        vault = write_vault(folder / "vault", count, sources)
        time.sleep(RACE_NS / 1e9)
        figures = measure(vault, folder / "state", with_queries=not options.sync_only)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    table = Table("", "wall", "", title=f"search index, {count:,} notes; load average {before:.1f} before")
    for row in figures.rows:
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()

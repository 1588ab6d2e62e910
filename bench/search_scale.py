"""How the embedded engine answers at 10,000, 100,000 and 500,000 passages: latency, recall, memory, disk, opening.

`python -m bench.search_scale [PASSAGES …]`. Passages are pairs of windows of the public vaults' text; as a static
vector is the mean of its words', that of a pair is the mean of two. Wall times on a busy machine say little: CPU stands
beside. Recall is of the best ten of an exact scan. "Client" asks a second process, which has the index open.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from bench.synthetic import shared_data
from infold.search import terms
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.contract import Filter, IndexPoint, VectorIndex, VectorRecord
from infold.search.index.generations import Generations
from infold.search.index.nearest import nearest
from infold.search.index.point_ids import point_number
from infold.search.index.word_writer import WordWriter
from infold.search.index.words import WordIndex
from infold.search.query.searcher import FUSED_PASSAGES
from infold.search.shared.embedded import EdgeEngine

QUERIES = 200
DEPTH = FUSED_PASSAGES  # of each leg
WINDOW_WORDS = 40
BATCH = 5000
FILTERS = {
    "source": Filter(groups=("daily",)),
    "prefix": Filter(prefixes=("folder 3",)),
    "tag": Filter(tags=("work",)),
    "since": Filter(since="2024-01-01"),
}

Question = tuple[dict[str, float], Any]


@dataclass(frozen=True)
class Both:
    """The words and the vectors of a generation."""

    words: WordIndex
    vectors: VectorIndex

    def close(self) -> None:
        """Of both."""
        self.words.close()
        self.vectors.close()


def opened(folder: Path, generation: str) -> Both:
    """Both, open."""
    return Both(WordIndex(Generations(folder).words_of(generation)), EdgeEngine(folder).open(generation))


@dataclass
class Corpus:
    """Windows of real text with their vectors; passage n is a pair of them, the same on every machine."""

    windows: list[str]
    vectors: Any
    pairs: Any = None

    def vector(self, first: int, last: int) -> Any:
        """The vectors of some passages."""
        some = self.pairs[first:last]
        found = self.vectors[some[:, 0]] + self.vectors[some[:, 1]]
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)

    def point(self, n: int) -> IndexPoint:
        """Passage n: every third is of a daily note, every tenth has a tag, every second a date."""
        one, two = self.pairs[n]
        words, written = terms.document_words(f"{self.windows[one]} {self.windows[two]}", "english")
        return IndexPoint(
            id=str(UUID(int=n)),
            path=f"folder {n // 500}/part {n // 50 % 10}/{n // 5}.md",
            start_line=n % 5 * 20 + 1,
            end_line=n % 5 * 20 + 20,
            title="A note of the bench",
            trail=("Top", "Part"),
            kind="standard",
            group="daily" if n % 3 == 0 else "notebook",
            words=words,
            written=written,
            date=f"202{n % 6}-01-0{n % 9 + 1}" if n % 2 else None,
            tags=("work/urgent",) if n % 10 == 0 else (),
        )


@dataclass
class Figures:
    """Rows of the table, one a measure."""

    rows: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, value: str) -> None:
        """A row."""
        self.rows.append((name, value))

    def latencies(self, name: str, ask: Callable[[Question], object], questions: Sequence[Question]) -> None:
        """A row of median and 95th percentile, and of the CPU time that a question takes."""
        for question in questions[:20]:
            ask(question)
        cpu, times = time.process_time(), []
        for question in questions:
            started = time.perf_counter()
            ask(question)
            times.append((time.perf_counter() - started) * 1000)
        cpu_ms = (time.process_time() - cpu) * 1000 / len(times)
        high = statistics.quantiles(times, n=20)[-1]
        self.add(name, f"p50 {statistics.median(times):.2f}  p95 {high:.2f}  CPU {cpu_ms:.2f} ms")


def corpus(embedder: StaticEmbedder) -> Corpus:
    """The windows of every note of the public vaults."""
    windows: dict[str, None] = {}
    for file in sorted((shared_data() / "vaults").rglob("*.md")):
        words = re.findall(r"\w[\w'-]+", file.read_text("utf-8", errors="replace"))
        for at in range(0, len(words), WINDOW_WORDS):
            windows.setdefault(" ".join(words[at : at + WINDOW_WORDS]))
    texts = list(windows)
    return Corpus(texts, np.concatenate([embedder.embed(texts[at : at + 1000]) for at in range(0, len(texts), 1000)]))


def measure(folder: Path, made_of: Corpus, count: int, embedder: StaticEmbedder) -> Figures:
    """Every figure at one size."""
    figures = Figures()
    made_of.pairs = np.random.default_rng(count).integers(0, len(made_of.windows), (count, 2))
    index_folder, engine = Generations(folder), EdgeEngine(folder)
    generation = index_folder.new_generation()
    wall = cpu = 0.0
    with (
        closing(engine.create(generation, embedder.size)) as index,
        closing(WordWriter(index_folder.words_of(generation))) as words,
    ):
        for at in range(0, count, BATCH):
            vectors = made_of.vector(at, min(count, at + BATCH))
            points = [made_of.point(at + n) for n in range(len(vectors))]
            started, spent = time.perf_counter(), time.process_time()
            words.replace((), points)
            words.commit()
            index.put([VectorRecord(point_number(p.id), v) for p, v in zip(points, vectors, strict=True)])
            index.flush()
            wall, cpu = wall + time.perf_counter() - started, cpu + time.process_time() - spent
    figures.add("written", f"{count / wall:,.0f} /s  {count / cpu:,.0f} /CPU s")
    size = sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())
    figures.add("on disk", f"{size / 1e6:,.0f} MB")
    asked = subprocess.run(
        [sys.executable, "-m", "bench.search_scale", "--ask", str(folder), generation, str(count)],
        capture_output=True,
        text=True,
        check=True,
    )
    return Figures([*figures.rows, *map(tuple, json.loads(asked.stdout))])


def ask(folder: Path, generation: str, count: int) -> Figures:
    """The figures of asking, in a process that has done nothing else."""
    figures = Figures()
    embedder = StaticEmbedder()
    made_of = corpus(embedder)
    made_of.pairs = np.random.default_rng(count).integers(0, len(made_of.windows), (count, 2))
    chance = random.Random(1)
    texts = [" ".join(text.split()[5:11]) for text in chance.sample(made_of.windows, QUERIES)]
    questions = _questions(texts, embedder)
    process = psutil.Process()
    before = process.memory_info().rss
    started, spent = time.perf_counter(), time.process_time()
    with closing(opened(folder, generation)) as index:
        opening = f"{time.perf_counter() - started:.2f} s  CPU {time.process_time() - spent:.2f} s"
        figures.add("opened", opening)
        _latencies(figures, index, questions, "")
        for name, where in FILTERS.items():

            def filtered(asked: Question, where: Filter = where) -> None:
                _hybrid(index, asked, where)

            figures.latencies(f"hybrid, {name}", filtered, questions)
        figures.add("memory, mapped files too", f"{(process.memory_info().rss - before) / 1e6:,.0f} MB more")
        figures.add("recall@10", f"{_recall(index, made_of, count, questions):.3f}")
        client = subprocess.run(
            [sys.executable, "-m", "bench.search_scale", "--client", str(folder), generation, str(count)],
            capture_output=True,
            text=True,
            check=True,
        )
    return Figures([*figures.rows, *map(tuple, json.loads(client.stdout))])


def ask_as_client(folder: Path, generation: str) -> Figures:
    """What another process than the owner sees."""
    figures = Figures()
    embedder = StaticEmbedder()
    texts = corpus(embedder).windows
    chosen = [" ".join(text.split()[5:11]) for text in random.Random(1).sample(texts, QUERIES)]
    questions = _questions(chosen, embedder)
    with closing(opened(folder, generation)) as index:
        _latencies(figures, index, questions, " (client)")
    return figures


def _questions(texts: Sequence[str], embedder: StaticEmbedder) -> list[Question]:
    """Six words each; those of which the model knows none are left out."""
    vectors = embedder.embed(list(texts))
    return [(terms.query_weights(text), vector) for text, vector in zip(texts, vectors, strict=True) if vector.any()]


def _latencies(figures: Figures, index: Both, questions: Sequence[Question], who: str) -> None:
    figures.latencies(f"keyword{who}", lambda asked: index.words.search(asked[0], DEPTH).scored, questions)
    figures.latencies(f"dense{who}", lambda asked: _dense(index, asked, Filter()), questions)
    figures.latencies(f"hybrid{who}", lambda asked: _hybrid(index, asked, Filter()), questions)


def _hybrid(index: Both, asked: Question, where: Filter) -> None:
    index.words.search(asked[0], DEPTH, where)
    _dense(index, asked, where)


def _dense(index: Both, asked: Question, where: Filter) -> None:
    nearest(index.words, index.vectors, asked[1], DEPTH, where)


def _recall(index: Both, made_of: Corpus, count: int, questions: Sequence[Question]) -> float:
    """The share of an exact scan's best ten (or their equals) among the ten that the index gives."""
    found, some = 0, questions[:100]
    asked = np.array([vector for _, vector in some])
    scores = np.concatenate([made_of.vector(at, min(count, at + BATCH)) @ asked.T for at in range(0, count, BATCH)])
    for n, (_, vector) in enumerate(some):
        tenth = np.partition(scores[:, n], -10)[-10]
        hits = nearest(index.words, index.vectors, vector, 10).scored
        found += sum(scores[UUID(hit.id).int, n] >= tenth - 2e-4 for hit in hits)
    return found / (10 * len(some))


def main() -> None:
    """Measures at each size, and prints one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--ask", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--client", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask or given.client:
        folder, generation, count = given.ask or given.client
        done = ask(Path(folder), generation, int(count)) if given.ask else ask_as_client(Path(folder), generation)
        print(json.dumps(done.rows))
        return
    embedder = StaticEmbedder()
    made_of = corpus(embedder)
    columns = []
    for count in given.passages:
        folder = Path(tempfile.mkdtemp(prefix="infold-bench-"))
        try:
            columns.append(dict(measure(folder, made_of, count, embedder).rows))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    table = Table("", *(f"{count:,}" for count in given.passages), title="the embedded engine, by passages")
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console(width=60 + 50 * len(columns)).print(table)


if __name__ == "__main__":
    main()

"""infold's index beside the engines one would else build upon, over the same passages with the same vectors.

`python bench/rivals.py [PASSAGES]`, 10,000 by default: SQLite's FTS5 with sqlite-vec, qdrant-client's local mode, and
LanceDB, each in processes of its own: one that indexes, two that open and are asked, one that changes a note. The
engines are asked in turn and then once more, and the lesser figure counts: on a busy machine that is the one that says
something about the engine. Queries have twelve words; their vectors are given. The filter lets through one folder. All
vector search here is exact. The passages are those of `bench/synthetic.py`'s notes, so many of them differ by little.

Rivals need `pip install 'infold[bench]'`; what is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.rival_databases import Lance, QdrantLocal
from bench.rival_engines import Corpus, Engine, Infold
from bench.rival_sqlite import Sqlite
from bench.synthetic import shared_data, templates

QUERIES = 200
FEWEST_QUERIES = 20
SECONDS_A_KIND = 4.0
WORD = "zygomorphicness"
ENGINES: tuple[type[Engine], ...] = (Infold, Sqlite, QdrantLocal, Lance)


def write_corpus(home: Path, count: int) -> None:
    """Passages of as many repetitions of the public vaults as it takes, with the static model's vectors."""
    from infold.catalogue.passages import cut, indexed_text, written_title
    from infold.search.embed.static_embedder import StaticEmbedder
    from infold.vault.note import parse

    sources = templates(shared_data())
    passages: list[tuple[int, str, str, str]] = []
    number = 0
    while len(passages) < count:
        for template in sources:
            note = parse(template.name(number), template.text(number))
            title = written_title(note)
            for passage in cut(note):
                passages.append((len(passages) + 1, note.path, f"r{number}", indexed_text(passage, title)))
        number += 1
    passages = passages[:count]
    chance = random.Random(0)
    words = [text.split() for *_, text in chance.sample(passages, min(count, 4 * QUERIES))]
    starts = [(some, chance.randrange(len(some) - 12)) for some in words if len(some) > 40]
    queries = [" ".join(some[at : at + 12]) for some, at in starts][:QUERIES]
    embedder = StaticEmbedder()
    home.mkdir(parents=True)
    (home / "passages.json").write_text(json.dumps(passages))
    (home / "queries.json").write_text(json.dumps(queries))
    np.save(home / "vectors.npy", embedder.embed([text for *_, text in passages]))
    np.save(home / "query_vectors.npy", embedder.embed(queries))


def build(kind: type[Engine], corpus: Corpus, home: Path) -> dict[str, float]:
    """Seconds to index everything."""
    assert len(corpus.passages) == len(corpus.vectors)
    wall, cpu = time.perf_counter(), time.process_time()
    kind(home).build(corpus)
    return {"index_s": time.perf_counter() - wall, "index_cpu_s": time.process_time() - cpu}


def ask(kind: type[Engine], corpus: Corpus, home: Path) -> dict[str, float]:
    """Opening, every kind of query, and memory."""
    queries, vectors = corpus.queries, corpus.query_vectors
    started = time.perf_counter()
    engine = kind(home)
    engine.open()
    assert engine.keyword(queries[0])
    figures: dict[str, float] = {"open_s": time.perf_counter() - started}
    for folder in (None, "r0"):
        kinds: dict[str, Callable[[int], list[str]]] = {
            "keyword": lambda n, only=folder: engine.keyword(queries[n], only),  # type: ignore[misc]
            "dense": lambda n, only=folder: engine.dense(vectors[n], only),  # type: ignore[misc]
            "hybrid": lambda n, only=folder: engine.hybrid(queries[n], vectors[n], only),  # type: ignore[misc]
        }
        for name, query in kinds.items():
            label = name if folder is None else f"{name}_filtered"
            figures |= _latencies(label, query, len(queries), folder)
    figures["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def change(kind: type[Engine], corpus: Corpus, home: Path) -> dict[str, float]:
    """One changed note, which has to be found at once."""
    engine = kind(home)
    engine.open()
    engine.keyword(corpus.queries[0])
    passages = corpus.passages
    path = passages[len(passages) // 2].path
    rows = [row for row, passage in enumerate(passages) if passage.path == path]
    old = [passages[row] for row in rows]
    top = len(passages) + 1
    new = [replace(passage, id=top + place, text=f"{passage.text} {WORD}") for place, passage in enumerate(old)]
    started = time.perf_counter()
    engine.change(old, new, corpus.vectors[rows])
    took = (time.perf_counter() - started) * 1000
    assert path in engine.keyword(WORD), f"{kind.name} does not find what was just written"
    return {"change_ms": took}


def _latencies(label: str, query: Callable[[int], list[str]], count: int, folder: str | None) -> dict[str, float]:
    took: list[float] = []
    query(0)
    started = time.perf_counter()
    for number in range(count):
        asked = time.perf_counter()
        found = query(number)
        took.append((time.perf_counter() - asked) * 1000)
        assert folder is None or all(path.startswith(f"{folder}/") for path in found)
        if len(took) >= FEWEST_QUERIES and time.perf_counter() - started > SECONDS_A_KIND:
            break
    return {f"{label}_p50": statistics.median(took), f"{label}_p95": statistics.quantiles(took, n=20)[-1]}


def in_a_process(step: str, kind: type[Engine], corpus: Path, home: Path) -> dict[str, float] | str:
    """The figures of one step of one engine; a sentence where it could not be measured."""
    words = [sys.executable, "-m", "bench.rivals", "--step", step, kind.__name__, str(corpus), str(home)]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=root)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1]
        missing = "ModuleNotFoundError" in last
        return f"not installed: pip install 'infold[bench]' ({last})" if missing else f"failed: {last}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(kinds: list[type[Engine]], corpus: Path, scratch: Path) -> dict[str, dict[str, float] | str]:
    """Everything about each engine: figures by their name, or a sentence where there are none."""
    found: dict[str, dict[str, float] | str] = {kind.name: {} for kind in kinds}
    for step in ("build", "ask", "ask", "change"):
        for kind in kinds:
            known, home = found[kind.name], scratch / kind.__name__
            if isinstance(known, str):
                continue
            some = in_a_process(step, kind, corpus, home)
            if isinstance(some, str):
                found[kind.name] = some
                continue
            if step == "build":
                some["disk_mb"] = sum(file.stat().st_blocks * 512 for file in home.rglob("*") if file.is_file()) / 1e6
            known |= {name: min(figure, known.get(name, figure)) for name, figure in some.items()}
    return found


def row(name: str, figures: dict[str, float]) -> list[str]:
    """A line of the table."""

    def pair(label: str) -> str:
        return f"{figures[f'{label}_p50']:.1f} / {figures[f'{label}_p95']:.1f}"

    kinds = [pair(kind + suffix) for suffix in ("", "_filtered") for kind in ("keyword", "dense", "hybrid")]
    return [
        name,
        f"{figures['index_s']:.1f} ({figures['index_cpu_s']:.1f})",
        f"{figures['change_ms']:.0f}",
        f"{figures['open_s']:.2f}",
        *kinds,
        f"{figures['memory_mb']:,.0f}",
        f"{figures['disk_mb']:,.0f}",
    ]


def main() -> None:
    """Measures every engine and prints one table, in a form that Markdown takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages", type=int, nargs="?", default=10_000)
    parser.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        step, name, corpus, home = arguments.step
        kind = next(kind for kind in ENGINES if kind.__name__ == name)
        steps: dict[str, Any] = {"build": build, "ask": ask, "change": change}
        print(json.dumps(steps[step](kind, Corpus(Path(corpus)), Path(home))))
        return
    scratch = Path(tempfile.mkdtemp(prefix="infold-rivals-"))
    try:
        write_corpus(scratch / "corpus", arguments.passages)
        columns = ["engine", "index s (CPU)", "one note ms", "open s", "keyword", "dense", "hybrid"]
        columns += ["keyword, filter", "dense, filter", "hybrid, filter", "memory MB", "disk MB"]
        print(f"{arguments.passages:,} passages; queries in milliseconds, p50 / p95\n")
        print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
        most = arguments.passages
        measured = [kind for kind in ENGINES if kind.most_passages is None or most <= kind.most_passages]
        found = measure(measured, scratch / "corpus", scratch)
        for kind in ENGINES:
            figures = found.get(kind.name, f"not measured: made for at most {kind.most_passages or 0:,} points")
            line = [kind.name, figures] if isinstance(figures, str) else row(kind.name, figures)
            print(f"| {' | '.join(line)} |")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()

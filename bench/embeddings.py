"""What each rung of the embedding ladder costs: passages a second, the first query of a process, memory, a query.

`python bench/embeddings.py [MODEL ...]`: the bundled static model, then each MODEL (a name of `infold models list` or a
folder), else those that were used here. Each rung runs in a process of its own, over the same passages of the public
vaults. Wall and CPU time both: on a busy machine only the second is stable.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.synthetic import shared_data, templates

PASSAGES = {"static": 4000, "onnx": 300}
QUERIES = 100
SEED = 0


@dataclass(frozen=True)
class Cost:
    """What one rung took. Seconds and milliseconds of wall time unless named otherwise; memory is the peak."""

    name: str
    dimensions: int
    passages: int
    per_second: float
    per_cpu_second: float
    first_query_s: float
    memory_mb: float
    query_p50_ms: float
    query_p95_ms: float


def texts(count: int) -> tuple[list[str], list[str]]:
    """Passages as the index embeds them, and queries of twenty of their words."""
    from infold.catalogue.passages import cut, indexed_text, written_title
    from infold.vault.note import parse

    chance = random.Random(SEED)
    notes = [parse(f"{template.path}.md", template.text(0)) for template in templates(shared_data())]
    found = [indexed_text(passage, written_title(note)) for note in notes for passage in cut(note)]
    chance.shuffle(found)
    while len(found) < count:
        found += [f"{text} {len(found)}" for text in found]
    words = [text.split() for text in found if len(text.split()) >= 40]
    queries = [" ".join(some[at : at + 20]) for some in words[:QUERIES] for at in [chance.randrange(len(some) - 20)]]
    return found[:count], queries


def measure(model: str) -> Cost:
    """The cost of one rung, in this process."""
    kind = "static" if model == "static" else "onnx"
    passages, queries = texts(PASSAGES[kind])
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started = time.perf_counter()
    from infold.search.embed.providers import open_embedder
    from infold.settings import SearchParams

    named = None if kind == "static" else model
    embedder = open_embedder(SearchParams.model_validate({"embedding": kind, "embedding_model": named}))
    embedder.embed_query(queries[0])
    first = time.perf_counter() - started
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = embedder.embed(passages)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    took = []
    for query in queries:
        asked = time.perf_counter()
        embedder.embed_query(query)
        took.append((time.perf_counter() - asked) * 1000)
    return Cost(
        name=embedder.name,
        dimensions=vectors.shape[1],
        passages=len(passages),
        per_second=len(passages) / wall,
        per_cpu_second=len(passages) / cpu,
        first_query_s=first,
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before_mb,
        query_p50_ms=statistics.median(took),
        query_p95_ms=statistics.quantiles(took, n=20)[-1],
    )


def in_a_process(model: str) -> Cost:
    """The same, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.embeddings", "--measure", model],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[1],
        env=os.environ,
    )
    if done.returncode:
        sys.exit(f"{model}: {done.stderr.strip().splitlines()[-1]}")
    return Cost(**json.loads(done.stdout))


def main() -> None:
    """Measures every rung and prints one table."""
    from infold.search.embed.models import registered

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--measure", metavar="MODEL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(asdict(measure(arguments.measure))))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "rung",
        "dim",
        "passages/s",
        "a CPU s",
        "first query s",
        "memory MB",
        "query p50 ms",
        "p95 ms",
        title="embeddings",
    )
    for model in ["static", *(arguments.models or [model.name for model in registered()])]:
        cost = in_a_process(model)
        table.add_row(
            cost.name,
            str(cost.dimensions),
            f"{cost.per_second:,.0f}",
            f"{cost.per_cpu_second:,.0f}",
            f"{cost.first_query_s:.2f}",
            f"{cost.memory_mb:,.0f}",
            f"{cost.query_p50_ms:.2f}",
            f"{cost.query_p95_ms:.2f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()

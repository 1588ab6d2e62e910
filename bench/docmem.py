"""How fast memory trees are written, read and searched: append, insert, find, serialise, expand, search.

`python bench/docmem.py [NODES …]`, 1,000 and 100,000 by default; 1000000 takes a few minutes. Half of a tree's nodes
hang on one parent, the other half on summaries of a hundred each. A memory has 20 tokens. Every commit is synchronised
to the disk under the temporary folder (TMPDIR). Wall time first, processor time in brackets: on a busy machine only the
second is stable.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from infold.docmem import maintenance
from infold.docmem.feed import index_memory
from infold.docmem.memory import Docmem, open_docmem
from infold.docmem.node import Context
from infold.docmem.place import child_of
from infold.docmem.recalling import recall, relevance
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.sync import sync_index
from infold.search.query.searcher import Searcher
from infold.settings import Params
from infold.workspace import Workspace

SIZES = (1_000, 100_000)
BATCH = 2_000
SINGLES = 300
BUDGET_TOKENS = 8_000
ROUNDS = 5
MEMORY = Context("memory", "source", "bench")
SUMMARY = Context("summary", "by", "bench")


def main() -> None:
    """Prints a table, a column a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    sizes = parser.parse_args().sizes
    columns = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            memory = open_docmem(Path(folder) / "state" / "kept" / "docmem.sqlite")
            columns.append(_measure(memory, size) | _measure_search(memory, Path(folder)))
            memory.close()
    table = Table("", *(f"{size:,} nodes" for size in sizes), title="Docmem")
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console().print(table)


def _measure(memory: Docmem, size: int) -> dict[str, str]:
    figures: dict[str, str] = {}
    clock = _Clock()
    parents = _grow(memory, size)
    figures[f"append, batches of {BATCH:,}"] = clock.rate(size)
    log = parents[0]
    some = memory.children(log)[:: max(1, size // 2 // SINGLES)]
    chosen = random.Random(7).choices(some, k=SINGLES)
    figures["append, each durable"] = _rate(lambda number: memory.append(log, _sentence(number), MEMORY))
    figures["insert after one of many, each durable"] = _rate(
        lambda number: memory.insert_after(chosen[number].id, _sentence(number), MEMORY)
    )
    leaves = memory.children(parents[-1])
    figures["insert after the one before, each durable"] = _in_a_row(memory, leaves[len(leaves) // 2].id)
    figures["move, each durable"] = _rate(
        lambda number: memory.move(chosen[number].id, child_of(parents[-1]), memory.get(chosen[number].id).hash)
    )
    figures["update content, each durable"] = _rate(
        lambda number: memory.update_content(leaves[0].id, _sentence(number), memory.get(leaves[0].id).hash)
    )
    ids = [node.id for node in random.Random(7).choices(some + leaves, k=2_000)]
    clock = _Clock()
    for node_id in ids:
        memory.find(node_id)
    figures["find"] = clock.each(len(ids))
    figures["root of a node"] = _median(lambda: memory.get_root(leaves[0].id))
    figures["serialise all"] = _median(lambda: memory.serialise("bench"))
    figures["structure of all"] = _median(lambda: memory.structure("bench"))
    figures[f"expand the root to {BUDGET_TOKENS:,} tokens"] = _median(lambda: _expand(memory, "bench"))
    user = memory.get(parents[-1]).parent_id
    figures[f"expand below summaries to {BUDGET_TOKENS:,}"] = _median(lambda: _expand(memory, str(user)))
    clock = _Clock()
    assert maintenance.problems(memory.store) == []
    figures["check of everything"] = clock.each(1)
    figures["file"] = f"{maintenance.facts(memory.store).size_bytes / 1e6:,.0f} MB"
    return figures


def _measure_search(memory: Docmem, folder: Path) -> dict[str, str]:
    """The index made of all nodes with the bundled embeddings, searched, and the tree expanded by what it finds."""
    (folder / "vault").mkdir()
    (folder / "vault" / "index.md").write_text("# Home\n")
    params = Params.model_validate({"search": {"embedding": "static"}})
    space = Workspace(folder / "vault", folder / "state", folder / "vault" / "inbox.md", params)
    embedder = StaticEmbedder()
    sync_index(space.vault, space.index, space.embeddings, params, embedder)
    figures: dict[str, str] = {}
    clock = _Clock()
    sent = index_memory(memory, space, embedder).chunks_created
    figures["index, all nodes anew"] = clock.rate(sent)
    memory.append("bench", "A red kite circled over the quarry.", MEMORY)
    clock = _Clock()
    index_memory(memory, space, embedder)
    figures["index, one node"] = clock.each(1)
    with Searcher(space.index, params.search, embedder) as searcher:
        assert recall(memory, searcher, "red kite").results[0].node.text.startswith("A red kite")
        figures["search"] = _median(lambda: recall(memory, searcher, "red kite seen on a walk"))

        def expand() -> None:
            scores = relevance(memory, searcher, "red kite seen on a walk", within="bench")
            memory.expand("bench", BUDGET_TOKENS, relevance=scores)

        figures[f"expand by a question to {BUDGET_TOKENS:,}"] = _median(expand)
    figures["expand with marks to 8,000"] = _median(lambda: memory.expand("bench", BUDGET_TOKENS))
    return figures


def _grow(memory: Docmem, size: int) -> list[str]:
    """A tree of `size` nodes below its root. Gives the parent of half of them, and the summaries over the others."""
    memory.create_root("", Context("root", "purpose", "bench"), root_id="bench")
    users = [memory.append("bench", name, Context("user", "name", name)).id for name in ("others", "log")]
    parents = [users[1]]
    left = size - 2
    while left > 0:
        with memory.batch():
            for number in range(min(left, BATCH)):
                if number % 2 == 0:
                    parent = users[1]
                else:
                    if (number - 1) % 200 == 0:
                        parents.append(memory.append(users[0], _sentence(number), SUMMARY).id)
                        continue
                    parent = parents[-1]
                memory.append(parent, _sentence(number), MEMORY)
        left -= BATCH
    return parents


def _sentence(number: int) -> str:
    """A sentence of 20 tokens."""
    return f"{number:>6} is a sentence of memory that says what was seen on a walk on some day.".ljust(80, ".")


def _rate(operation: Callable[[int], object]) -> str:
    clock = _Clock()
    for number in range(SINGLES):
        operation(number)
    return clock.rate(SINGLES)


def _in_a_row(memory: Docmem, first: str) -> str:
    last = first

    def insert(number: int) -> None:
        nonlocal last
        last = memory.insert_after(last, _sentence(number), MEMORY).id

    return _rate(insert)


def _expand(memory: Docmem, node_id: str) -> None:
    nodes = memory.expand_to_length(node_id, BUDGET_TOKENS)
    assert sum(node.token_count for node in nodes) <= BUDGET_TOKENS


def _median(operation: Callable[[], object]) -> str:
    times = []
    for _ in range(ROUNDS):
        clock = _Clock()
        operation()
        times.append(clock.read())
    wall, cpu = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
    return f"{wall:,.2f} ms ({cpu:,.2f})"


class _Clock:
    """Wall and processor time since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._began[0], time.process_time() - self._began[1]

    def rate(self, count: int) -> str:
        wall, cpu = self.read()
        return f"{count / wall:,.0f}/s ({count / cpu:,.0f})"

    def each(self, count: int) -> str:
        wall, cpu = (seconds / count * 1000 for seconds in self.read())
        return f"{wall:,.3f} ms ({cpu:,.3f})"


if __name__ == "__main__":
    main()

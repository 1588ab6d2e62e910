"""How fast a vault is taken in: parsing, and tables with summaries of 1,000, 10,000 and 38,000 notes.

`python bench/preprocess.py [NOTES …]`. For each size: the first time, again with nothing changed, and with one note
changed. Wall and CPU time both: on a busy machine only the second is stable. Each size runs in a process of its own, so
that its peak memory is its own; the offline librarian makes the summaries. Imports are not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.synthetic import shared_data, templates, write_vault
from infold.app import open_steps
from infold.settings import Params, SearchParams
from infold.vault.note import parse
from infold.vault.outline import _MARKDOWN
from infold.vault.scanning import scan
from infold.workspace import Workspace

SIZES = (1_000, 10_000, 38_000)
ROUNDS = 3

Timed = tuple[float, float]  # wall and CPU seconds, worker processes included


def main() -> None:
    """Prints two tables: parsing, and preprocessing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(asyncio.run(_measure(arguments.measure, arguments.sizes[0]))))
        return
    console = Console()
    sources = templates(shared_data())
    console.print(_parsing([source.text(0) for source in sources]))
    columns = ("notes", "what", "seconds", "of it tables", "CPU s", "of it tables", "notes/s", "peak MB")
    table = Table(*columns, title="Preprocess: tables and summaries")
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.sizes:
            vault = write_vault(Path(folder) / f"vault-{size}", size, sources)
            command = [sys.executable, __file__, "--measure", str(vault), str(size)]
            figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for name, *seconds in figures["rows"]:
                is_first = name == "first"
                rate = f"{size / seconds[0]:,.0f}" if is_first else ""
                peak = f"{figures['peak_mb']:,.0f}" if is_first else ""
                table.add_row(f"{size:,}", name, *(f"{value:.2f}" for value in seconds), rate, peak)
            table.add_section()
    console.print(table)


def _parsing(texts: Sequence[str]) -> Table:
    """Notes and MB a second in one process; beside it the parser's events alone, and markdown-it-py where present."""
    table = Table("parser", "MB/s", "MB/CPU s", "notes/CPU s", title=f"Parsing, {len(texts):,} notes, one process")
    ways: dict[str, Callable[[str], object]] = {
        "infold: blocks, links, tags, front matter": lambda text: parse("note.md", text),
        "pulldown-cmark: events alone": lambda text: sum(1 for _ in _MARKDOWN.events_with_range(text)),
    }
    if importlib.util.find_spec("markdown_it"):
        from markdown_it import MarkdownIt

        ways["markdown-it-py: tokens alone"] = MarkdownIt().parse
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    for name, way in ways.items():
        wall, cpu = min((_timed_all(way, texts) for _ in range(ROUNDS)), key=lambda timed: timed[1])
        table.add_row(name, f"{megabytes / wall:.1f}", f"{megabytes / cpu:.1f}", f"{len(texts) / cpu:,.0f}")
    return table


def _timed_all(way: Callable[[str], object], texts: Sequence[str]) -> Timed:
    started = _now()
    for text in texts:
        way(text)
    return _since(started)


async def _measure(vault: Path, size: int) -> dict[str, object]:
    """Preprocesses `vault` three times in this process, and once its scan alone."""
    import polars as pl  # noqa: F401 - so that no figure holds its import

    params = Params(search=SearchParams(embedding="none"))
    workspace = Workspace(vault, vault.parent / f"state-{size}", vault / params.vault.inbox_file, params)
    rows: list[tuple[str, float, float, float, float]] = []  # wall, of it tables, CPU, of it tables
    started = _now()
    scan(vault, params.vault)
    wall, cpu = _since(started)
    rows.append(("scan alone", wall, wall, cpu, cpu))
    for name in ("first", "settle", "nothing changed", "one changed"):
        if name == "one changed":
            file = next(vault.glob("r0/**/*.md"))
            file.write_text(file.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
        if name == "settle":
            await asyncio.sleep(2.5)  # files written just now are hashed once more; that is not the everyday case
        started = _now()
        async with open_steps(workspace) as steps:
            steps.sync_tables()
            tables_wall, tables_cpu = _since(started)
            await steps.sync_summaries()
        wall, cpu = _since(started)  # with its workers at an end, whose processor time counts only then
        if name != "settle":
            rows.append((name, wall, tables_wall, cpu, tables_cpu))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"rows": rows, "peak_mb": peak}


def _now() -> Timed:
    times = os.times()
    return times.elapsed, times.user + times.system + times.children_user + times.children_system


def _since(started: Timed) -> Timed:
    wall, cpu = _now()
    return max(wall - started[0], 0.01), max(cpu - started[1], 0.01)


if __name__ == "__main__":
    main()

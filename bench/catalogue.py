"""What the catalogue costs: the first time, with nothing changed, with one note changed; and reading notes from it.

`python -m bench.catalogue [NOTES …]`, 1,000 and 10,000 by default, made of real notes. CPU seconds count workers too,
and are stable on a busy machine where wall seconds are not. Each size runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.synthetic import shared_data, templates, write_vault
from infold.catalogue.export import export_tables
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.settings import Params
from infold.vault.note import parse

SIZES = (1_000, 10_000)
READ = 1_000  # notes that are read from the catalogue, and parsed to compare
SETTLED_SECONDS = 2.5  # files written just now are hashed once more; that is not the everyday case

Timed = tuple[float, float]  # wall and CPU seconds, worker processes included


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(_measure(arguments.measure)))
        return
    sources = templates(shared_data())
    table = Table("notes", "what", "wall s", "CPU s", "CPU s per 1,000", title="The catalogue of the notes")
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as folder:
            vault = write_vault(Path(folder) / "vault", size, sources)
            command = [sys.executable, "-m", "bench.catalogue", "--measure", str(vault)]
            figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for name, wall, cpu, notes in figures["rows"]:
            table.add_row(f"{size:,}", name, f"{wall:.2f}", f"{cpu:.2f}", f"{cpu / notes * 1000:.3f}")
        share = figures["catalogue_bytes"] / figures["vault_bytes"]
        table.add_row(
            f"{size:,}", f"file: {figures['catalogue_bytes'] / 1e6:.1f} MB, {share:.0%} of the notes", "", "", ""
        )
        table.add_section()
    Console().print(table)


def _measure(vault: Path) -> dict[str, object]:
    files = sorted(vault.rglob("*.md"))
    catalogue = Catalogue(vault.parent / "catalogue.sqlite", vault, Params())
    rows: list[tuple[str, float, float, int]] = []

    def timed(name: str, work: Callable[[], object], notes: int = len(files)) -> None:
        started = _now()
        work()
        ended = _now()
        rows.append((name, ended[0] - started[0], ended[1] - started[1], notes))

    timed("first", lambda: sync_catalogue(catalogue))
    time.sleep(SETTLED_SECONDS)
    sync_catalogue(catalogue)
    timed("nothing changed", lambda: sync_catalogue(catalogue))
    files[0].write_text(files[0].read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
    timed("one note changed", lambda: sync_catalogue(catalogue))
    (vault / "A new note.md").write_text("# A new note\n", encoding="utf-8")
    timed("one note new", lambda: sync_catalogue(catalogue))
    timed("exported to parquet", lambda: export_tables(catalogue, vault.parent / "tables"))
    paths = [note.path for note in catalogue.notes()][:READ]
    for path in paths:
        catalogue.text(path)
    timed("a note made of its outline", lambda: [catalogue.note(path) for path in paths], len(paths))
    timed("the same, parsed", lambda: [parse(path, catalogue.text(path)) for path in paths], len(paths))
    catalogue.close()
    size = sum(file.stat().st_size for file in files)
    return {"rows": rows, "catalogue_bytes": catalogue.file.stat().st_size, "vault_bytes": size}


def _now() -> Timed:
    times = os.times()
    return times.elapsed, times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()

"""Texts that could take minutes, as a note and as an inbox, of 50 KB, 200 KB and 4 MB.

`python -m bench.hostile [--sizes N,N] [NAME …]`. A vault of a few notes is indexed with each text as one more note,
and an inbox that holds each text after one ordinary paragraph is folded in. Told are the CPU seconds, which a busy
machine leaves as they are, beside what the same vault takes without the text, and how much longer the larger text takes
for each byte (1 is linear). Each text has a process of its own, which is ended after two minutes; imports are not
counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

import infold
from bench.hostile_texts import NAMES, hostile

SIZES: Final = (50_000, 200_000, 4_000_000)
MOST_SECONDS: Final = 120


def measure(folder: Path, name: str, size: int) -> dict[str, float]:
    """Seconds of indexing the note, and of folding the inbox in; size 0 is without the text."""
    text = hostile(name, size) if size else ""
    return {"index": _index(folder / "a", text), "integrate": _integrate(folder / "b", text)}


def _vault(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "index.md").write_text("# Home\n\nSee [[Boiler]] and [[Garden]].\n")
    (folder / "Boiler.md").write_text("# Boiler\n\nThe boiler hums when it starts.\n\n- bleed it in October\n")
    (folder / "Garden.md").write_text("# Garden\n\nThe fence wants paint. A list of words: word, more, note.\n")
    return folder


def _index(folder: Path, text: str) -> float:
    vault = _vault(folder / "vault")
    if text:
        (vault / "hostile.md").write_text(text)
    with infold.open(vault, state=folder / "state") as opened:
        started = time.process_time()
        opened.sync()
        return time.process_time() - started


def _integrate(folder: Path, text: str) -> float:
    vault = _vault(folder / "vault")
    (vault / "inbox.md").write_text(f"The boiler was serviced; it hums less.\n\n{text}")
    with infold.open(vault, state=folder / "state") as opened:
        opened.sync()
        started = time.process_time()
        opened.integrate()
        return time.process_time() - started


def _asked(name: str, size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.hostile", "--measure", folder, "--sizes", str(size), name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return {"index": float("inf"), "integrate": float("inf")}
        found: dict[str, float] = json.loads(done.stdout)
        return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--sizes", type=lambda said: tuple(map(int, said.split(","))), default=SIZES)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(measure(arguments.measure, arguments.names[0], arguments.sizes[0])))
        return
    without = _asked("one word", 0)
    sizes = [f"{size // 1000:,} KB" for size in arguments.sizes]
    table = Table("text", *(f"{what} {size}" for what in ("index", "integrate") for size in sizes), "a byte, largest")
    for name in arguments.names:
        found = [_asked(name, size) for size in arguments.sizes]
        cells, ratios = [], []
        for what in ("index", "integrate"):
            seconds = [max(0.0, each[what] - without[what]) for each in found]
            cells += [f"{each:.1f}" for each in seconds]
            growth = arguments.sizes[-1] / arguments.sizes[-2] if len(seconds) > 1 else 1
            ratios.append(
                f"{seconds[-1] / seconds[-2] / growth:.1f}" if len(seconds) > 1 and seconds[-2] > 0.1 else "-"
            )
        table.add_row(name, *cells, " ".join(ratios))
    Console(width=140).print(table)
    print(f"Without the text: index {without['index']:.1f} s, integrate {without['integrate']:.1f} s.")


if __name__ == "__main__":
    main()

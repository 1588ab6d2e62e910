"""What an inbox costs in a large vault: `infold integrate --dry-run` of 20 paragraphs, whole processes, state ready.

`python -m bench.inbox [NOTES ...]`, 1,000 and 38,000 by default. The paragraphs are those of the vault's notes with
every fifth word left out, drawn by a seed. CPU seconds and peak memory of one process, mapped files included: the least
and the median of several. The first run, which settles what is kept, is not counted. The vaults are those of
`bench.synthetic`.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.synthetic import shared_data, templates, write_vault
from infold.app import open_vault
from infold.vault.note import parse
from infold.vault.records import BlockKind

_PARAGRAPHS: Final = 20
_LEAST_WORDS: Final = 25
_LEFT_OUT: Final = 5  # each such word
_RUNS: Final = 5


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=int, nargs="*", default=[1_000, 38_000])
    table = Table("notes", "CPU s, least", "median", "peak MB, least", "median")
    for size in parser.parse_args().notes:
        with tempfile.TemporaryDirectory() as folder:
            vault, state, inbox = (Path(folder) / name for name in ("vault", "state", "inbox.md"))
            write_vault(vault, size, templates(shared_data()))
            inbox.write_text("\n\n".join(reworded(vault)) + "\n", encoding="utf-8")
            for _ in range(2):  # the second finds nothing to do, and says so for those that come
                with open_vault(vault, state=state) as opened:
                    opened.sync()
            run(vault, state, inbox)
            runs = [run(vault, state, inbox) for _ in range(_RUNS)]
        seconds, megabytes = zip(*runs, strict=True)
        cells = (min(seconds), statistics.median(seconds), min(megabytes), statistics.median(megabytes))
        table.add_row(f"{size:,}", *(f"{value:.2f}" for value in cells[:2]), *(f"{value:.0f}" for value in cells[2:]))
    Console().print(table, f"load average {os.getloadavg()[0]:.1f}")


def reworded(vault: Path, seed: int = 0) -> list[str]:
    """Paragraphs of the vault's notes with every fifth word left out; the same for the same vault and seed."""
    chance, files, found = random.Random(seed), sorted(vault.rglob("*.md")), list[str]()
    while len(found) < _PARAGRAPHS:
        text = chance.choice(files).read_text(encoding="utf-8")
        prose = [text[b.start : b.end].split() for b in parse("", text).blocks if b.kind is BlockKind.PARAGRAPH]
        long = [words for words in prose if len(words) >= _LEAST_WORDS]
        if long:
            words = chance.choice(long)
            found.append(" ".join(word for at, word in enumerate(words, 1) if at % _LEFT_OUT))
    return found


def run(vault: Path, state: Path, inbox: Path) -> tuple[float, float]:
    """CPU seconds and peak megabytes of one process that plans the inbox."""
    options = ["--dry-run", "--quiet", "--runner", "direct", "--inbox", inbox, "--vault", vault, "--state", state]
    program = [sys.executable, "-c", "from infold.cli.start import main; main()", "integrate", *map(str, options)]
    process = os.posix_spawn(sys.executable, program, os.environ, file_actions=_UNHEARD)
    _, _, used = os.wait4(process, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


_UNHEARD: Final = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]

if __name__ == "__main__":
    main()

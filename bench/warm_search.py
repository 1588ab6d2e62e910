"""A search in a process that has the vault open: all of it, beside the two engines alone, in the same run.

`python -m bench.warm_search [NOTES ...]`, 1,000 and 10,000 by default. 200 questions, each the title of a note; CPU
milliseconds of one, p50 and p95. "All of it" looks for changes, cuts snippets out of the files, and answers as
`vault.search` does; "the engines" are the two queries with as many passages as that asks for. The notes are those of
`bench/synthetic.py`.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.synthetic import shared_data, templates, write_vault
from infold.app import OpenVault
from infold.locate import WorkspaceRequest, locate_workspace
from infold.search.query.searcher import FUSED_PASSAGES

QUESTIONS = 200


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=int, nargs="*", default=[1_000, 10_000])
    sizes = parser.parse_args().notes
    print(f"load average {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            vault, state = Path(folder) / "vault", Path(folder) / "state"
            write_vault(vault, size, templates(shared_data()))
            measure(vault, state)
    print(f"load average {os.getloadavg()[0]:.1f} after")


def measure(vault: Path, state: Path) -> None:
    """The rows of one vault, which is indexed where it is not."""
    with OpenVault(locate_workspace(WorkspaceRequest(vault, state))) as opened:
        opened.is_kept_open = True
        opened.sync_index()
        titles = [file.stem for file in vault.rglob("*.md")]
        questions = random.Random(0).sample(titles, min(QUESTIONS, len(titles)))
        searcher = opened.searcher
        print(f"\n{len(titles):,} notes, {searcher.count():,} passages")
        engines = timed(lambda q: (searcher.keyword(q, FUSED_PASSAGES), searcher.dense(q, FUSED_PASSAGES)), questions)
        whole = timed(opened.search, questions)
        print(f"the engines  p50 {engines[0]:5.1f}   p95 {engines[1]:5.1f} ms of CPU")
        print(f"all of it    p50 {whole[0]:5.1f}   p95 {whole[1]:5.1f} ms of CPU   ({whole[1] / engines[1]:.1f} times)")


def timed(ask: Callable[[str], object], questions: Sequence[str]) -> tuple[float, float]:
    """CPU milliseconds of a question, p50 and p95; the first ones are not counted."""
    for question in questions[:10]:
        ask(question)
    found = []
    for question in questions:
        started = time.process_time()
        ask(question)
        found.append((time.process_time() - started) * 1000)
    return statistics.median(found), statistics.quantiles(found, n=20)[-1]


if __name__ == "__main__":
    main()

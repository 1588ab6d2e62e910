"""How long a person waits for `infold search`: from the start of the process to its last line.

`python bench/cold_search.py [NOTES ...]`, 1,000 and 10,000 by default. Each row is 20 processes, one after another:
wall time p50 and p95, and the CPU seconds of one. "Alone" opens the index itself; beside an owner, another process has
it open already; with a resident that one answers, whose own CPU seconds are shown apart. The vault does not change,
which is looked at each time unless `--no-sync` is given. The notes are those of `bench/synthetic.py`.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.synthetic import shared_data, templates, write_vault
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.sync import sync_index
from infold.search.shared.rendezvous import RESIDENT_CARD
from infold.settings import Params

RUNS = 20
_ALONE = {"INFOLD_RESIDENT": "0"}
QUESTION = ("graph", "view", "of", "notes")
_OWNER = """
import sys
from pathlib import Path
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.query.searcher import Searcher
from infold.settings import Params
with Searcher(Path(sys.argv[1]), Params().search, NO_EMBEDDER):
    print("open", flush=True)
    sys.stdin.read()
"""


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=int, nargs="*", default=[1_000, 10_000])
    sizes = parser.parse_args().notes
    data = shared_data()
    print(f"load average {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, Python {sys.version.split()[0]}")
    print(f"a Python that does nothing: {row([sys.executable, '-c', 'pass'])}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            vault, state = Path(folder) / "vault", Path(folder) / "state"
            write_vault(vault, size, templates(data))
            index = state / "derived" / "index"
            done = sync_index(vault, index, state / "derived" / "embeddings", Params(), StaticEmbedder())
            print(f"\n{size:,} notes, {done.chunks_created:,} passages")
            measure(vault, state, index)
    print(f"\nload average {os.getloadavg()[0]:.1f} after")


def measure(vault: Path, state: Path, index: Path) -> None:
    """The rows of one vault."""
    for alone, name in ((True, "alone"), (False, "beside an owner")):
        with beside(index, is_wanted=not alone):
            for words, what in (
                ((), "words and meaning"),
                (("--set", "search.embedding=none", "--no-sync"), "words, no sync"),
                (("--no-sync",), "words and meaning, no sync"),
            ):
                print(f"{name:16} {what:28} {row(command(vault, state, words), **_ALONE)}")
    with resident(vault, state) as server:
        before = sum(server.cpu_times()[:2])
        said = row(command(vault, state, ()))
        own = (sum(server.cpu_times()[:2]) - before) / (RUNS + 1)
        print(f"{'with a resident':16} {'words and meaning':28} {said}   and {own:.3f} s of the resident's CPU")
        print(f"{'':16} the resident's memory: {server.memory_info().rss / 1e6:.0f} MB")


def command(vault: Path, state: Path, words: Sequence[str]) -> list[str]:
    """One search, as the installed program does it."""
    program = [sys.executable, "-c", "from infold.cli.start import main; main()"]
    return [*program, "search", *QUESTION, *words, "--vault", str(vault), "--state", str(state)]


def row(words: list[str], **variables: str) -> str:
    """Wall and CPU time of `words`, run again and again; the first, which reads the files, is not counted."""
    environment = {**os.environ, **variables}
    run(words, environment)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    walls = [run(words, environment) for _ in range(RUNS)]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / RUNS
    high = statistics.quantiles(walls, n=20)[-1]
    return f"p50 {statistics.median(walls):.3f} s   p95 {high:.3f} s   CPU {cpu:.3f} s   least {min(walls):.3f} s"


def run(words: list[str], environment: dict[str, str]) -> float:
    """Seconds until the process has ended."""
    started = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


@contextmanager
def resident(vault: Path, state: Path) -> Iterator[psutil.Process]:
    """With a process that answers searches."""
    record = state / "derived" / "index" / RESIDENT_CARD
    with subprocess.Popen([sys.executable, "-m", "infold.cli.resident", str(vault), str(state), ""]) as process:
        while not record.exists():
            time.sleep(0.1)
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


@contextmanager
def beside(index: Path, *, is_wanted: bool) -> Iterator[None]:
    """With another process that has the index open, where that is wanted."""
    if not is_wanted:
        yield
        return
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _OWNER, str(index)], stdin=pipe, stdout=pipe) as owner:
        assert owner.stdin is not None
        assert owner.stdout is not None
        owner.stdout.readline()
        try:
            yield
        finally:
            owner.stdin.close()


if __name__ == "__main__":
    main()

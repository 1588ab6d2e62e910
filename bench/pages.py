"""The pages on a big vault: cold start to the first page, what each page weighs and takes, search as one types.

    python -m bench.pages [--notes 38000] [--folder FOLDER --state FOLDER] [--typed 12]

The server is a process of its own, as a person starts it, on an index that is there. A page's weight is the page with
every file that it names: scripts, what they import, styles. Typing is every beginning of a title from two letters on,
asked one after another as the script of the search page asks.
"""

from __future__ import annotations

import argparse
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urljoin

import psutil

from bench.synthetic import shared_data, templates, write_vault
from infold.app import open_vault

PAGES = ("/", "/notebook", "/search", "/search?q=note+links", "/inbox", "/runs", "/nav", "/browse", "/themes", "/graph")
MORE = ("/graph?most=5000", "/memory", "/sources", "/evaluations", "/settings")
_NAMED = re.compile(r"""(?:src|href)="(/static/[^"]+)"|(?:from|import) "(\./[^"]+)\"""")


def main() -> None:
    """Makes the vault and its index where they are not there, measures, prints tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=38_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--typed", type=int, default=12, help="titles that are typed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "vault"
        state = options.state or Path(temporary) / "state"
        if not folder.exists():
            write_vault(folder, options.notes, templates(shared_data()))
        with open_vault(folder, state=state, changes=["search.embedding=static"]) as vault:
            vault.sync_index()
            with vault.catalogued() as catalogue:
                notes = [note.path for note in catalogue.notes()]
        measure(folder, state, notes, options.typed)


def measure(folder: Path, state: Path, notes: Sequence[str], typed: int) -> None:
    """Everything that is printed."""
    starts, worked = [], []
    for _ in range(3):
        with serving(folder, state) as (base, seconds, cpu):
            starts.append(seconds)
            worked.append(cpu)
    print(f"{len(notes):,} notes\n")
    print(
        f"cold start to the first page: {statistics.median(starts):.2f} s, of it CPU {statistics.median(worked):.2f} s"
    )
    print(f"(three starts: {_listed(starts)}; CPU {_listed(worked)})\n")
    with serving(folder, state) as (base, _, _):
        show_pages(base, [*PAGES, f"/note/{quote(notes[len(notes) // 2])}", *MORE])
        show_typing(base, [Path(path).stem for path in notes[:: max(1, len(notes) // typed)]][:typed])


def show_pages(base: str, pages: Sequence[str]) -> None:
    """A row a page: weight, files, how long it takes asked again."""
    print("| page | page kB | with scripts and style kB | files | again ms |\n|---|---|---|---|---|")
    for page in pages:
        text = _asked(base + page)
        files = _files(base, text.decode())
        began = time.perf_counter()
        _asked(base + page)
        took = (time.perf_counter() - began) * 1000
        whole = len(text) + sum(files.values())
        print(f"| {page} | {len(text) / 1000:.1f} | {whole / 1000:.1f} | {len(files)} | {took:.0f} |")


def show_typing(base: str, titles: Sequence[str]) -> None:
    """The times of every answer while titles are typed, the first answer left out: it opens the index."""
    _asked(f"{base}/search?q=warm&part=results")
    took = []
    for title in titles:
        for end in range(2, len(title) + 1):
            began = time.perf_counter()
            _asked(f"{base}/search?part=results&q={quote(title[:end])}")
            took.append((time.perf_counter() - began) * 1000)
    cuts = statistics.quantiles(took, n=100)
    shown = ", ".join(f"p{cut} {cuts[cut - 1]:.0f} ms" for cut in (50, 95, 99))
    print(f"\nsearch as one types, {len(took)} answers: {shown}")


def _files(base: str, text: str) -> dict[str, int]:
    """Every file that a page names, and that those name, with its size."""
    found: dict[str, int] = {}
    waiting = [first or urljoin("/static/", second) for first, second in _NAMED.findall(text)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        content = _asked(base + name)
        found[name] = len(content)
        if name.endswith(".js"):
            waiting += [urljoin("/static/", second) for _, second in _NAMED.findall(content.decode()) if second]
    return found


@contextmanager
def serving(folder: Path, state: Path) -> Iterator[tuple[str, float, float]]:
    """A server of its own process: its address, the seconds from its start to its first whole page, its CPU seconds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "infold",
        "serve",
        "--port",
        str(port),
        "--vault",
        str(folder),
        "--state",
        str(state),
    ]
    began = time.perf_counter()
    with subprocess.Popen([*command, "--set", "search.embedding=static"], stderr=subprocess.DEVNULL) as process:
        try:
            base = f"http://127.0.0.1:{port}"
            while process.poll() is None:
                try:
                    _asked(base)
                except urllib.error.URLError:
                    time.sleep(0.02)
                else:
                    break
            took, cpu = time.perf_counter() - began, psutil.Process(process.pid).cpu_times()
            yield base, took, cpu.user + cpu.system
        finally:
            process.terminate()


def _asked(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=120) as answer:
        found: bytes = answer.read()
        return found


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


if __name__ == "__main__":
    main()

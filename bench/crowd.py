"""Readers and writers of one vault at once, half over the HTTP API and half over MCP, each a server of its own.

    python bench/crowd.py                 # 50 readers and 5 writers for a minute
    python bench/crowd.py --seconds 10 --notes 1000

Every writer edits pages that others edit too: it reads a page with its hash, adds a line, and reads anew where somebody
was quicker. At the end each line must stand in its page once. The table has the time of each call as its client saw it,
and what the servers held in memory over the time.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

PAGES: Final = 3
WORDS: Final = ["boiler", "hedge", "compost", "valve", "radiator", "garden", "cellar", "autumn", "pressure", "seed"]
_SETTINGS: Final = ("--set", "search.embedding=static")

Ask = Callable[[str, dict[str, Any]], Any]  # a tool and its arguments: the answer, None where it was refused


@dataclass
class Seen:
    """What the clients saw."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    written: list[tuple[str, str]] = field(default_factory=list)
    conflicts: int = 0
    errors: list[str] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    def lost(self, vault: Path) -> list[str]:
        """Lines that do not stand in their page exactly once."""
        texts = {page: (vault / page).read_text().split("\n") for page in {page for page, _ in self.written}}
        return [line for page, line in self.written if texts[page].count(line) != 1]

    def table(self) -> str:
        """Calls, median and p95 of each kind, then memory."""
        rows = [f"{'calls':22}{'count':>8}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}"]
        for name, seconds in sorted(self.seconds.items()):
            ordered = sorted(seconds)
            at = [1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 1)]
            rows.append(f"{name:22}{len(ordered):>8}{at[0]:>9.0f}{at[1]:>9.0f}{at[2]:>9.0f}")
        sixth = max(1, len(self.memory_mb) // 6)
        parts = [self.memory_mb[at : at + sixth] for at in range(0, sixth * 6, sixth)]
        held = ", ".join(f"{sum(part) / len(part):.0f}" for part in parts if part)
        rows.append(f"memory of both servers, MB, sixth by sixth of the time: {held}")
        return "\n".join(rows)


def make_vault(folder: Path, notes: int) -> Path:
    """Notes to find, and the pages that are written to."""
    drawn = random.Random(0)
    for number in range(notes):
        file = folder / f"notes/{number // 100}/note {number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Note {number}\n\n{' '.join(drawn.choices(WORDS, k=60))}\n")
    for page in range(PAGES):
        (folder / f"page{page}.md").write_text(f"# Page {page}\n")
    return folder


def infold(vault: Path, *words: str) -> list[str]:
    """The command of a server for the vault, with its state beside it."""
    program = str(Path(sys.executable).with_name("infold"))
    return [program, *words, "--vault", str(vault), "--state", str(vault.parent / "state"), *_SETTINGS]


async def crowd(vault: Path, *, seconds: float, readers: int, writers: int) -> Seen:
    """Lets them at the vault for so long."""
    seen = Seen()
    async with AsyncExitStack() as stack:
        http_port, http = await stack.enter_async_context(_served(vault, "serve"))
        mcp_port, mcp = await stack.enter_async_context(_served(vault, "mcp", "--http"))
        clients = [
            await stack.enter_async_context(_over_mcp(mcp_port) if number % 2 else _over_http(http_port))
            for number in range(readers + writers)
        ]
        await asyncio.gather(
            *(ask("memory_get", {"path": "page0.md"}) for _, ask in clients)
        )  # lists of tools are read
        watching = asyncio.create_task(_watch(seen, [http.pid, mcp.pid], seconds / 20))
        until = time.monotonic() + seconds
        work = [_write(seen, until, number, *client) for number, client in enumerate(clients[:writers])]
        work += [_read(seen, until, number, *client) for number, client in enumerate(clients[writers:])]
        await asyncio.gather(*work)
        watching.cancel()
    return seen


async def _read(seen: Seen, until: float, number: int, face: str, ask: Ask) -> None:
    drawn = random.Random(number)
    while time.monotonic() < until:
        query = " ".join(drawn.sample(WORDS, 2))
        found = await _timed(seen, f"{face} memory_search", ask, "memory_search", {"query": query})
        if found is not None:
            await _timed(seen, f"{face} memory_get", ask, "memory_get", {"path": f"page{drawn.randrange(PAGES)}.md"})


async def _write(seen: Seen, until: float, number: int, face: str, ask: Ask) -> None:
    drawn, count = random.Random(-number - 1), 0
    while time.monotonic() < until:
        page, line = f"page{drawn.randrange(PAGES)}.md", f"line {number} {count}"
        if await _add_line(seen, face, ask, page, line):
            seen.written.append((page, line))
            count += 1
        await asyncio.sleep(0.05)


async def _add_line(seen: Seen, face: str, ask: Ask, page: str, line: str) -> bool:
    """Whether the line is in; not, where somebody else wrote between reading and writing each time."""
    for _ in range(50):
        read = await ask("memory_get", {"path": page})
        edit = {"path": page, "content": f"{read['text']}{line}\n", "hash": read["hash"]}
        begun = time.perf_counter()
        if await ask("notebook_edit", edit) is not None:
            seen.seconds[f"{face} notebook_edit"].append(time.perf_counter() - begun)
            return True
        seen.conflicts += 1
    return False


async def _timed(seen: Seen, name: str, ask: Ask, tool: str, arguments: dict[str, Any]) -> Any:
    begun = time.perf_counter()
    found = await ask(tool, arguments)
    seen.seconds[name].append(time.perf_counter() - begun)
    if found is None:
        seen.errors.append(name)
        await asyncio.sleep(0.1)
    return found


@asynccontextmanager
async def _over_http(port: int) -> AsyncIterator[tuple[str, Ask]]:
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:

        async def ask(tool: str, arguments: dict[str, Any]) -> Any:
            answer = await client.post(f"/api/{tool}", json=arguments)
            return answer.json() if answer.status_code == httpx2.codes.OK else None

        yield "http", ask


@asynccontextmanager
async def _over_mcp(port: int) -> AsyncIterator[tuple[str, Ask]]:
    http = httpx2.AsyncClient(timeout=120)
    async with http, Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client:

        async def ask(tool: str, arguments: dict[str, Any]) -> Any:
            answer = await client.call_tool(tool, arguments)
            return None if answer.is_error else answer.structured_content

        yield "mcp", ask


@asynccontextmanager
async def _served(vault: Path, *words: str) -> AsyncIterator[tuple[int, asyncio.subprocess.Process]]:
    """A server as a process, when it answers; ended at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *infold(vault, *words, "--port", str(port)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        await _answers(port)
        yield port, process
    finally:
        process.terminate()
        await process.wait()


async def _answers(port: int, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise TimeoutError(f"nothing answers at port {port}")


async def _watch(seen: Seen, pids: list[int], pause: float) -> None:
    while True:
        await asyncio.sleep(pause)
        seen.memory_mb.append(sum(map(_resident_mb, pids)))


def _resident_mb(pid: int) -> float:
    """What a process holds in memory, as Linux tells it."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main() -> None:
    """Prints the table; exits with 1 where an edit was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--writers", type=int, default=5)
    parser.add_argument("--notes", type=int, default=1000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = make_vault(Path(folder) / "vault", asked.notes)
        subprocess.run(infold(vault, "index"), check=True, capture_output=True)
        seen = asyncio.run(crowd(vault, seconds=asked.seconds, readers=asked.readers, writers=asked.writers))
        lost = seen.lost(vault)
    print(f"{asked.readers} readers, {asked.writers} writers, {asked.seconds:g} s, {asked.notes} notes")
    print(seen.table())
    print(f"{len(seen.written)} edits, {seen.conflicts} read anew, {len(lost)} lost, {len(seen.errors)} calls refused")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()

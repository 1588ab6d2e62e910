"""How soon an MCP client gets answers from a vault that was never indexed, and what the lists of tools cost it.

    python bench/mcp_start.py             # 38,000 notes, then the lists
    python bench/mcp_start.py 1000 10000

Times are from the start of the process, as a client on its stdin and stdout sees them: what the server answers to a
greeting, the list of tools, a note that is read, and the first search that is no "being indexed". Then the same of a
second start, with the index there. Tokens are characters of the list's JSON by four.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.synthetic import ROOT, shared_data, templates, write_vault
from infold.mcp.tools import tool
from infold.operations.tool_choice import TOOL_SETS, ToolChoice
from infold.text import token_count

INFOLD: Final = str(Path(sys.executable).with_name("infold"))
_GREETING: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Started:
    """A server on its stdin and stdout, and the clock since it was started."""

    def __init__(self, vault: Path, state: Path) -> None:
        self._begun = time.perf_counter()
        command = [INFOLD, "mcp", "--vault", str(vault), "--state", str(state), "--set", "search.embedding=none"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._number = 0

    def ask(self, method: str, **params: Any) -> tuple[dict[str, Any], float]:
        """The answer, and when it came."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        for line in self._process.stdout or ():
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"], time.perf_counter() - self._begun
        raise EOFError("the server ended")

    def greet(self) -> float:
        """When it answers a greeting."""
        _, at = self.ask("initialize", **_GREETING)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return at

    def call(self, name: str, **arguments: Any) -> tuple[dict[str, Any], float]:
        """The same of a tool's call."""
        return self.ask("tools/call", name=name, arguments=arguments)

    def first_search(self) -> float:
        """When a search finds something."""
        while True:
            answer, at = self.call("memory_search", query="notes")
            if not answer.get("isError"):
                return at
            time.sleep(0.5)

    def end(self) -> None:
        """Waits until it has ended."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()


def start(vault: Path, state: Path) -> list[float]:
    """The times of one start."""
    server = Started(vault, state)
    times = [server.greet(), server.call("memory_get", path=ROOT)[1], server.ask("tools/list")[1]]
    times.append(server.first_search())
    server.end()
    return times


def list_tokens() -> list[tuple[str, int, int]]:
    """Each set: its tools, and the tokens of their list."""
    rows = []
    for name in TOOL_SETS:
        offered = ToolChoice((name,)).offered()
        listed = [
            tool(each, operation).model_dump(mode="json", by_alias=True, exclude_none=True)
            for each, operation in offered.items()
        ]
        told = [{key: each[key] for key in ("name", "description", "inputSchema")} for each in listed]
        rows.append((name, len(listed), token_count(json.dumps(told, ensure_ascii=False))))
    return rows


def main() -> None:
    """Prints the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=int, nargs="*", default=[38_000])
    print(f"{'set':12}{'tools':>7}{'tokens':>9}")
    for name, tools, tokens in list_tokens():
        print(f"{name:12}{tools:>7}{tokens:>9,}")
    sources = templates(shared_data())
    print(f"\n{'notes':>8}  {'start':8}{'greeting s':>12}{'a note s':>10}{'tools s':>9}{'search s':>10}", flush=True)
    for count in parser.parse_args().notes:
        with tempfile.TemporaryDirectory() as folder:
            vault = write_vault(Path(folder) / "vault", count, sources)
            for which in ("first", "second"):
                times = start(vault, Path(folder) / "state")
                print(
                    f"{count:>8}  {which:8}"
                    + "".join(f"{at:>{n}.2f}" for at, n in zip(times, (12, 10, 9, 10), strict=True)),
                    flush=True,
                )


if __name__ == "__main__":
    main()

"""The server as a process of its own, as a client starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

INFOLD = str(Path(sys.executable).with_name("infold"))


@pytest.mark.slow
async def test_a_client_starts_it_and_asks(folder, tmp_path):
    """Started by its command line it lists tools, answers and ends with its client."""
    arguments = ["mcp", "--vault", str(folder), "--state", str(tmp_path / "state"), "--tools", "memory"]
    server = StdioServerParameters(command=INFOLD, args=arguments, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        assert "memory_get" in [tool.name for tool in (await client.list_tools()).tools]
        read = await client.call_tool("memory_get", {"path": "index"})
        assert "boiler" in read.structured_content["text"]


@pytest.mark.slow
def test_stdout_is_protocol_and_nothing_else(folder, tmp_path):
    """Every line on stdout is a message, also while the index is made and when nonsense is sent; the end of input ends it."""
    sent = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "memory_get", "arguments": {"path": "index"}},
        },
        {"jsonrpc": "2.0", "id": 3, "method": "no/such", "params": {}},
    ]
    lines = "\n".join(json.dumps(message) for message in sent) + "\nnot json\n"
    done = subprocess.run(
        [INFOLD, "mcp", "--vault", str(folder), "--state", str(tmp_path / "state")],
        input=lines,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr

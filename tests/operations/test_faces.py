"""An operation is written in one place, and is in every face from then on."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from string import Template

from infold.cli.commands import COMMANDS, CommandGroup
from infold.operations.contract import Face
from infold.operations.table import operations

NEW = '''
"""An operation that is new."""

from infold.app import OpenVault
from infold.operations.contract import Effect, Group, Message
from infold.operations.table import operation


class NoteCountRequest(Message):
    """Which notes."""

    folder: str = ""
    """Only below this folder."""


class NoteCountAnswer(Message):
    """How many."""

    note_count: int


@operation(Group.VAULT, Effect.READS)
def note_count(vault: OpenVault, request: NoteCountRequest) -> NoteCountAnswer:
    """Count the notes."""
    return NoteCountAnswer(note_count=len(list((vault.workspace.vault / request.folder).rglob("*.md"))))
'''

ASK_EVERYBODY = """
import asyncio, sys
from pathlib import Path

import infold
import infold.operations

infold.operations.__path__.append(sys.argv[1])
vault = infold.open(sys.argv[2], state=sys.argv[3])

from infold.operations.table import find_operation

new = find_operation("note_count")
assert new(vault, new.request.from_json({"folder": "."})).as_json() == {"noteCount": 1}

from infold.mcp.tools import tool
from infold.operations.tool_choice import ToolChoice

offered = ToolChoice().offered()
assert "note_count" in offered, sorted(offered)
assert tool("note_count", offered["note_count"]).input_schema["properties"]["folder"]["description"]

from infold.web.app import create_app
import httpx

async def over_http():
    transport = httpx.ASGITransport(create_app(vault, token="t"))
    headers = {"authorization": "Bearer t"}
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as http:
        return await http.post("/api/note_count", json={})

answer = asyncio.run(over_http())
assert answer.json() == {"noteCount": 1}, (answer.status_code, answer.text)
vault.close()

from typer.testing import CliRunner
from infold.cli.app import app
import json

prompt = CliRunner().invoke(app, ["call", "note_count", "folder=.", "--vault", sys.argv[2], "--state", sys.argv[3]])
assert json.loads(prompt.stdout) == {"noteCount": 1}, prompt.output
"""


def test_a_new_operation_is_one_file_and_in_all_faces(tmp_path):
    """A file beside the others, nothing else: a function of Python, a tool for agents, a path of the API, an `infold call`."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "counting.py").write_text(NEW)
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "one.md").write_text("# One\n")
    command = [sys.executable, "-c", ASK_EVERYBODY, *map(str, (tmp_path / "more", tmp_path / "vault", tmp_path / "s"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_command_that_names_an_operation_names_one_there_is():
    """And each but once: what a command prints with --json is that operation's answer."""
    parts = (part for entry in COMMANDS for part in (entry.entries if isinstance(entry, CommandGroup) else (entry,)))
    named = [part.operation for part in parts if part.operation]
    assert set(named) <= operations(Face.CLI).keys()
    assert len(named) == len(set(named))


def test_instructions_name_only_operations_there_are(tmp_path):
    """They are written by name, and a name that no operation has would be followed in vain."""
    text = Template((files("infold.operations") / "instructions.md").read_text(encoding="utf-8"))
    assert set(text.get_identifiers()) - {"reference"} <= operations(Face.MCP).keys()

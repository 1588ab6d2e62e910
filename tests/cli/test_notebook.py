"""`infold write`, `log`, `context` and `sessions`, as a person and as a program call them."""

from __future__ import annotations

import json
import re

from typer.testing import CliRunner

from infold.cli.app import app

TALK = [
    {"role": "user", "content": "Where is the spare gasket?", "timestamp": "2026-02-20T12:00:00Z"},
    {"role": "assistant", "content": "In the grey tin in the shed."},
]


def test_items_of_a_list_are_text_and_can_be_taken_back(infold, vault):
    """`- Milk` is no option; the message says what changed, and the id that takes it back works."""
    assert infold("write", "lists/shopping", "- Milk", "--section", "Groceries").exit_code == 0
    done = infold("write", "lists/shopping", "--section", "groceries", "- Eggs")
    assert "20 → 27 bytes" not in done.stderr
    assert (vault / "lists/shopping.md").read_text() == "## Groceries\n- Milk\n- Eggs\n"
    name = re.search(r"undo (w-\S+)", done.stdout)[1]
    assert "restored lists/shopping.md" in infold("undo", name).stdout
    assert (vault / "lists/shopping.md").read_text() == "## Groceries\n- Milk\n"
    assert "removed" in infold("undo", "w-last").stdout


def test_the_answer_for_programs_is_the_specifications(infold, vault):
    """{success, message} and {success, path}; an error is an object too."""
    wrote = json.loads(infold("write", "a", "x", "--json").stdout)
    assert (wrote["success"], wrote["path"], wrote["bytesBefore"], wrote["bytesAfter"]) == (True, "a.md", 0, 2)
    assert "a.md is new" in wrote["message"]
    logged = json.loads(infold("log", "x", "--json").stdout)
    assert logged["success"]
    assert (vault / logged["path"]).is_file()
    refused = infold("write", "../a", "x", "--json")
    assert refused.exit_code == 2
    assert json.loads(refused.stdout)["error"]["type"] == "PathRefused"


def test_text_comes_from_stdin_or_a_file(vault, tmp_path):
    """In a pipe, with `-`, with --file; never from two places, never nothing."""
    run = CliRunner().invoke
    assert run(app, ["write", "a"], input="- Übung\n").exit_code == 0
    assert run(app, ["log", "-"], input="From a pipe\nwith a body\n").exit_code == 0
    (tmp_path / "text.txt").write_text("from a file\n")
    assert run(app, ["write", "a", "--file", str(tmp_path / "text.txt")]).exit_code == 0
    assert (vault / "a.md").read_text() == "- Übung\n\nfrom a file\n"
    assert run(app, ["write", "a", "x", "--file", str(tmp_path / "text.txt")]).exit_code == 2
    assert run(app, ["write", "a"], input=" \n").exit_code == 2
    assert run(app, ["write", "a"], input=b"\xff\xfe").exit_code == 2
    assert run(app, ["write", "a", "--replac"]).exit_code == 2


def test_the_context_is_printed_or_nothing(infold, vault):
    """On stdout, ready for a prompt; an empty notebook says so on stderr alone."""
    empty = infold("context")
    assert (empty.exit_code, empty.stdout) == (0, "")
    infold("write", "reference/contacts", "Sarah: 555-1234")
    infold("log", "Called Sarah")
    text = infold("context").stdout
    assert text.index("Sarah: 555-1234") < text.index("Called Sarah")
    value = json.loads(infold("context", "--json").stdout)
    assert [file["label"] for file in value["files"]] == ["reference", "daily log"]
    assert value["text"] + "\n" == text


def test_a_summary_makes_its_own_text(infold, vault):
    """A short day needs none, and no text goes with the option."""
    assert "its own" in infold("log", "--summary").stdout
    assert infold("log", "--summary", "text").exit_code == 2
    assert not (vault / "daily").exists()


def test_sessions_from_adding_to_forgetting(infold, vault, tmp_path):
    """Added, indexed, found, read by their lines, listed, and forgotten only when it was meant."""
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in TALK) + "{oops\n")
    keyword = ("--set", "search.embedding=none")
    assert infold("sessions", "list").stdout.startswith("No sessions")
    assert "2 turns" in infold("sessions", "add", file).stdout
    indexed = infold("sessions", "index", *keyword)
    assert "1 session in" in indexed.stdout
    missing = infold("sessions", "add", tmp_path / "talc.jsonl")
    assert (missing.exit_code, "There is no file" in missing.stderr) == (2, True)
    assert "1 line cannot be read: 3" in indexed.stderr
    found = json.loads(infold("search", "gasket", "--source", "sessions", "--json", *keyword).stdout)
    (hit,) = found["results"]["sessions"]
    assert (hit["filePath"], hit["date"], hit["trust"]) == ("sessions/talk.jsonl", "2026-02-20", "session")
    assert infold("get", "sessions/talk.jsonl:2").stdout == "Assistant: In the grey tin in the shed.\n"
    assert "2026-02-20" in infold("sessions", "list").stdout
    assert infold("sessions", "forget", "talk").exit_code == 2
    assert infold("sessions", "forget", "talk", "--yes", *keyword).exit_code == 0
    found = json.loads(infold("search", "gasket", "--source", "sessions", "--json", *keyword).stdout)
    assert found["results"]["sessions"] == []
    assert infold("sessions", "forget", "talk", "--yes").exit_code == 2


def test_the_last_reminder_is_in_the_status(infold, vault, tmp_path):
    """An agent was told to write its memories down: status says when; before that, nothing of it."""
    from infold.notebook.flush import flush_reminder
    from infold.settings import Params
    from infold.workspace import Workspace

    state = tmp_path / "state"
    assert "flush" not in infold("status", "--state", state).stdout
    flush_reminder(Workspace(vault, state, vault / "inbox.md", Params()), "session", 1)
    assert "flush" in infold("status", "--state", state).stdout
    assert json.loads(infold("status", "--state", state, "--json").stdout)["lastFlush"]

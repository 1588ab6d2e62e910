"""Where output goes, and how far long work is."""

from __future__ import annotations

import io
import json
import sys

import pytest
from rich.console import Console

from infold.cli import progress
from infold.cli.progress import Stages
from infold.cli.terminal import Terminal, own_command
from infold.errors import KeyMissing


def test_with_json_nothing_but_the_object_is_on_stdout(capsys):
    """Sentences and tables are for people; notices go to stderr either way."""
    at = Terminal(is_json=True)
    at.say("for people")
    at.show("a table")
    at.notice("by the way")
    at.emit({"run": None, "name": "crème"})
    streams = capsys.readouterr()
    assert json.loads(streams.out) == {"run": None, "name": "crème"}
    assert streams.err == "by the way\n"


def test_commands_are_never_wrapped(capsys, monkeypatch):
    """A command that was cut at the edge of the terminal cannot be copied."""
    monkeypatch.setenv("COLUMNS", "40")
    line = "undo    infold undo 2026-01-01-000000-0000 --vault '/a/long path/to/the/vault'"
    Terminal().say(line)
    assert capsys.readouterr().out == f"{line}\n"


def test_what_is_shown_in_a_pipe_has_no_blanks_at_line_ends(capsys):
    """So that a transcript can be kept and compared."""
    Terminal().show("a\nlonger")
    assert capsys.readouterr().out == "a\nlonger\n"


def test_an_error_gives_its_exit_code(capsys):
    """Two lines: what happened, what to do."""
    assert Terminal().fail(KeyMissing("No key.", hint="Set one.")) == 3
    assert capsys.readouterr().err == "infold: No key.\n  Set one.\n"


def test_quick_work_says_nothing_in_a_pipe(capsys):
    """A cron job's mail is not filled with progress."""
    with Stages(Terminal()) as stages:
        for done in range(100):
            stages("tables", done, 100)
    assert capsys.readouterr() == ("", "")


def test_long_work_says_now_and_then_how_far_it_is(capsys, monkeypatch):
    """A bare line on stderr, at most every few seconds."""
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))  # type: ignore[attr-defined]
    with Stages(Terminal()) as stages:
        for done in range(5):
            stages("summaries", done, 5)
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.splitlines() == ["Summarising: 1 of 5", "Summarising: 3 of 5"]


def test_a_person_sees_bars():
    """On a terminal each stage has one, in words; they are gone when the work is done."""
    at = Terminal()
    screen = io.StringIO()
    at.__dict__["err"] = Console(file=screen, force_terminal=True, width=80)
    with Stages(at) as stages:
        stages("chunks", 1, 4)
        stages("chunks", 4, 4)
    assert "Exploring and editing" in screen.getvalue()
    assert "4/4" in screen.getvalue()


@pytest.mark.parametrize("found", [True, False])
def test_a_printed_command_calls_the_program_that_printed_it(tmp_path, monkeypatch, found):
    """`infold` where that is this program, else the path it was called by."""
    program = tmp_path / "bin dir" / "infold"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setattr("shutil.which", lambda name: str(program) if found else None)
    monkeypatch.chdir(tmp_path)
    assert own_command() == ("infold" if found else "'bin dir/infold'")


def test_python_dash_m_is_called_the_same_way(tmp_path, monkeypatch):
    """Without an installed command, the interpreter is named."""
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "infold" / "__main__.py")])
    assert own_command().endswith(" -m infold")

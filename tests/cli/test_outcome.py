"""A run on the screen and as JSON."""

from __future__ import annotations

import pytest

from infold.cli.outcome import command_line, cost, exit_code, show_run, show_totals
from infold.cli.terminal import Terminal
from infold.inbox.run import Run, RunStatus
from infold.librarian.spend import Usage
from infold.locate import WorkspaceRequest
from infold.operations.inbox import integrate_answer


def test_the_contract_has_exactly_the_promised_names(a_run):
    """Other programs read these names; nothing is missing, nothing is added."""
    value = integrate_answer(a_run).as_json()
    assert list(value) == [
        "run", "status", "paragraphs", "chunks", "usage", "seconds", "warnings", "skipped", "waiting", "quote"
    ]  # fmt: skip
    assert value["paragraphs"][2] == {"n": 3, "outcome": "left", "chunk": 2, "reason": "nothing is near it"}
    assert value["chunks"][0] == {
        "id": 1,
        "paragraphs": [1, 2],
        "viewed": ["index.md", "house/boiler.md"],
        "checkedOut": ["house/boiler.md"],
        "edits": [
            {"file": "house/boiler.md", "kind": "edit", "applied": True},
            {"file": "house/boiler.md", "kind": "duplicate", "applied": False},
        ],
    }
    assert value["usage"] == {
        "calls": 3, "promptTokens": 12000, "completionTokens": 800, "usd": 0.0123, "reused": 0, "failed": 0
    }  # fmt: skip


def test_nothing_to_do_has_no_run():
    """An empty inbox is done, and there is nothing to undo."""
    run = Run(id="", status=RunStatus.NOTHING_TO_DO, vault="/v", inbox="inbox.md", created_at="", librarian="offline/1")
    value = integrate_answer(run).as_json()
    assert (value["run"], value["status"], value["paragraphs"], value["chunks"]) == (None, "nothing-to-do", [], [])
    assert exit_code(integrate_answer(run)) == 0


def test_paragraphs_that_stay_make_the_exit_code_1(a_run):
    """Work is left, with reasons; without it the code is 0."""
    assert exit_code(integrate_answer(a_run)) == 1
    assert exit_code(integrate_answer(a_run.model_copy(update={"paragraphs": a_run.paragraphs[:2]}))) == 0


def test_the_screen_tells_every_paragraphs_fate(a_run, capsys):
    """What was looked at and opened, the edit, the quote that covers a duplicate, and each reason for staying."""
    show_run(Terminal(), a_run)
    text = capsys.readouterr().out
    for part in (
        "Chunk 1     paragraph 1  “The pump hums.”",
        "looked at index · house/boiler",
        "opened    house/boiler",
        "+ The pump hums.",
        "house/boiler.md has it already",
        "“Radiators are bled in October.”",
        "paragraph 3 stays in the inbox: nothing is near it",
        "In no chunk paragraph 4",
        "it stays in the inbox: in no chunk",
    ):
        assert part in text


def test_warnings_and_skipped_files_are_no_part_of_the_result(a_run, tmp_path, capsys):
    """They go to stderr; totals, cost and report to stdout."""
    show_totals(Terminal(), a_run, tmp_path / "report.html")
    streams = capsys.readouterr()
    assert "4 paragraphs: 1 went into 1 note, 1 already there, 2 left in the inbox." in streams.out
    assert f"report  {tmp_path / 'report.html'}" in streams.out
    assert "3 calls, 12,000 tokens in, 800 out, $0.0123" in streams.out
    assert "no root note" in streams.err
    assert "skipped old.md: not UTF-8" in streams.err


def test_text_of_notes_is_never_markup(a_run, capsys):
    """A note may hold what looks like a style or a link."""
    odd = a_run.paragraphs[3].model_copy(update={"text": "[bold]x[/bold]", "reason": "[red]why"})
    show_run(Terminal(), a_run.model_copy(update={"paragraphs": (*a_run.paragraphs[:3], odd)}))
    assert "[red]why" in capsys.readouterr().out


@pytest.mark.parametrize(
    "usage, words",
    [
        (Usage(), "nothing (no model was asked)"),
        (
            Usage(calls=1, prompt_tokens=5, completion_tokens=2, usd=None),
            "1 call, 5 tokens in, 2 out, price unknown",
        ),
    ],
)
def test_an_unknown_price_is_never_shown_as_zero(usage, words):
    """No call is free; a call of unknown price is not."""
    assert cost(usage) == words


def test_a_printed_command_names_the_place_that_was_named(tmp_path):
    """So that it works as printed, also for a path with a blank."""
    line = command_line("undo", "r1", WorkspaceRequest(vault=tmp_path / "my notes", state=tmp_path / "s"))
    assert line.endswith(f"undo r1 --vault '{tmp_path / 'my notes'}' --state {tmp_path / 's'}")

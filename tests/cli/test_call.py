"""`infold call`: every operation of the table at a prompt, with no line of code of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infold.operations.contract import Effect, Face
from infold.operations.table import operations

PLACE = ("--vault", "notes", "--state", "state")
HERE = operations(Face.CLI)
ELSEWHERE = sorted(operations().keys() - HERE.keys())


@pytest.fixture
def notes():
    """A vault of one note in the current folder."""
    folder = Path("notes")
    folder.mkdir()
    (folder / "boiler.md").write_text("# Boiler\n\nThe pump hums at night.\n")
    return folder


def test_alone_it_lists_every_operation(infold):
    """Each with its group, effect and first sentence; as JSON too."""
    shown = infold("call")
    assert shown.exit_code == 0
    for name, operation in HERE.items():
        assert f"  {name} " in shown.stdout
        assert operation.summary in shown.stdout
    listed = json.loads(infold("call", "--json").stdout)["operations"]
    assert [each["name"] for each in listed] == list(HERE)


@pytest.mark.parametrize("name", HERE)
def test_every_operation_shows_what_it_takes(infold, name):
    """Each argument by its name with its type, and what is needed is said to be."""
    shown = infold("call", name, "--arguments")
    assert shown.exit_code == 0
    schema = json.loads(infold("call", name, "--arguments", "--json").stdout)["arguments"]
    lines = [line.strip() for line in shown.stdout.splitlines()]
    for argument, field in schema["properties"].items():
        line = next(line for line in lines if line.startswith(f"{argument}: {field['type']}"))
        assert line.endswith("needed") == (argument in schema.get("required", ()))


def test_limits_and_defaults_are_shown(infold):
    """What is refused outside, and what is taken where nothing is given."""
    shown = infold("call", "memory_search", "--arguments").stdout
    assert "  minScore: number, at least 0, at most 1\n" in shown
    assert "  explain: boolean, default false\n" in shown


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_decided_against_is_refused_with_the_reason(infold, name):
    """`not_in` holds here too."""
    refused = infold("call", name)
    assert refused.exit_code == 2
    assert operations()[name].not_in[Face.CLI] in refused.stderr


def test_it_answers_in_json(infold, notes):
    """Words are read as what the operation takes: a text, a number, a list that is repeated or JSON."""
    asked = ("query=pump hums", "maxResults=1", "paths=boiler.md", "paths=other", *PLACE)
    found = json.loads(infold("call", "memory_search", *asked).stdout)
    assert found["query"] == "pump hums"
    assert [each["filePath"] for each in found["results"]["notebook"]] == ["boiler.md"]
    (notes.parent / "asked.json").write_text('{"query": "roof"}')
    again = json.loads(infold("call", "memory_search", "--input", "asked.json", *PLACE).stdout)
    assert again["query"] == "roof"
    again = json.loads(infold("call", "memory_search", "--input", "asked.json", "query=night", *PLACE).stdout)
    assert again["query"] == "night"


def test_what_it_writes_is_undone(infold, notes):
    """A write goes through the journal that `infold undo` reads."""
    text = "page=boiler.md", "content=It was bled.\nTwice."
    done = json.loads(infold("call", "notebook_write", *text, *PLACE).stdout)
    assert (notes / "boiler.md").read_text().endswith("It was bled.\nTwice.\n")
    assert infold("undo", done["write"], *PLACE).exit_code == 0
    assert (notes / "boiler.md").read_text() == "# Boiler\n\nThe pump hums at night.\n"


@pytest.mark.parametrize(
    "words, said",
    [
        (("memory_serch",), "Did you mean memory_search"),
        (("memory_search", "max_result=3", "query=x"), "Did you mean 'maxResults'?"),
        (("memory_search",), "memory_search needs query."),
        (("memory_search", "query=x", "maxResults=few"), "maxResults: "),
        (("memory_search", "x"), "'x' is not an argument"),
        (("memory_search", "--input", "none.json"), "cannot be read"),
        (("memory_search", "--input", "list.json"), "not a JSON object"),
        (("memory_search", "--input", "broken.json"), "not JSON"),
    ],
)
def test_a_slip_is_answered(infold, notes, words, said):
    """With the name or the value that would do, as wrong use."""
    (notes.parent / "list.json").write_text("[1]")
    (notes.parent / "broken.json").write_text("{")
    refused = infold("call", *words, *PLACE)
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert not refused.stdout


def test_what_cannot_be_taken_back_wants_a_yes(infold, notes):
    """No operation that destroys is called by its name alone."""
    assert any(each.effect is Effect.DESTROYS for each in HERE.values())
    (notes.parent / "talk.jsonl").write_text('{"role": "user", "content": "The roof leaks."}\n')
    assert infold("call", "session_add", "files=talk.jsonl", *PLACE).exit_code == 0
    refused = infold("call", "session_forget", "name=talk", *PLACE)
    assert (refused.exit_code, "--yes" in refused.stderr) == (2, True)
    assert infold("call", "session_forget", "name=talk", "--yes", *PLACE).exit_code == 0


def test_a_price_is_told_before_it_is_paid(infold, notes, monkeypatch):
    """Where a model decides, the first answer is an estimate, and its token is named."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model = ("--set", "librarian.kind=model", "--set", "librarian.model=m")
    first = infold("call", "ask", "question=What hums?", *model, *PLACE)
    token = json.loads(first.stdout)["quote"]["token"]
    assert f"token={token}" in first.stderr

"""What a person at a prompt counts on: help of everything, with examples, and output that can be made short."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from infold import __version__
from infold.cli.commands import COMMANDS, CommandGroup
from infold.cli.examples import EXAMPLES

EVERY = [
    name
    for entry in COMMANDS
    for name in (
        [f"{entry.name} {part.name}" for part in entry.entries] if isinstance(entry, CommandGroup) else [entry.name]
    )
]


def test_every_command_has_two_examples_and_nothing_else_has():
    """Of the whole tree."""
    assert sorted(EXAMPLES) == sorted(EVERY)
    assert all(len(set(lines)) == 2 for lines in EXAMPLES.values())


@pytest.mark.parametrize("name", EVERY)
def test_the_examples_of_a_command_are_its_own_and_parse(infold, monkeypatch, name):
    """Each calls that command, with arguments and options that it takes."""
    called = []
    monkeypatch.setattr("infold.cli.app._Command.invoke", lambda command, _: called.append(command.words))
    for line in EXAMPLES[name]:
        done = infold(*shlex.split(re.split(r" [|>]", line)[0]))
        assert done.exit_code == 0, done.output
    assert called == [name, name]


@pytest.mark.parametrize("name", ["get", "runs prune", "docmem append"])
def test_help_ends_with_the_examples(infold, name):
    """And so do the pages made of it."""
    for words in ([*name.split(), "--help"], ["help", *name.split()]):
        shown = infold(*words)
        assert shown.exit_code == 0
        assert all(f"infold {line}" in shown.stdout for line in EXAMPLES[name])


def test_help_is_a_command_too(infold):
    """`infold help` is `infold --help`; of a word that is no command it says what comes near."""
    assert infold("help").stdout.split() == infold("--help").stdout.split()
    wrong = infold("help", "serch")
    assert (wrong.exit_code, "Did you mean search" in " ".join(wrong.stderr.split())) == (2, True)
    assert infold("help", "runs", "prnue").exit_code == 2
    assert infold("help", "get", "more").exit_code == 2


def test_the_version_has_a_short_option(infold):
    """`-V` is `--version`."""
    assert infold("-V").stdout == infold("--version").stdout == f"infold {__version__}\n"


@pytest.mark.parametrize(
    "words, near", [(("status", "--jsno"), "--json"), (("search", "x", "--surce", "y"), "--source")]
)
def test_a_misspelt_option_is_told_with_the_one_that_was_meant(infold, words, near):
    """As a misspelt command is."""
    done = infold(*words)
    assert done.exit_code == 2
    assert near in done.stderr


@pytest.fixture
def vault(tmp_path):
    """Two notes that are linked and tagged, and an inbox with a line for one of them."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "index.md").write_text("---\ntags: [home]\n---\n# Home\n\nSee [[Boiler]] #House\n")
    (folder / "Boiler.md").write_text("# Boiler\n\nThe boiler hums when it starts. #house/heating\n")
    (folder / "inbox.md").write_text("The boiler was serviced in October; the boiler hums less.\n")
    return folder


def test_quiet_leaves_results_warnings_and_errors(infold, vault):
    """No progress, no asides, and of an integration no more than how it ended."""
    loud = infold("integrate", "--dry-run", "--vault", vault)
    quiet = infold("integrate", "--dry-run", "--quiet", "--vault", vault)
    assert "Chunk 1" in loud.stdout
    assert "Running directly" in loud.stderr
    assert quiet.stderr == ""
    assert "Chunk 1" not in quiet.stdout
    assert "1 paragraph: 1 would go into 1 note" in quiet.stdout
    assert infold("status", "-q", "--vault", vault / "gone").stderr.startswith("infold: There is no folder")


def test_links_and_backlinks_of_a_note(infold, vault):
    """With the line that a link stands on; JSON is that of the graph."""
    assert "Boiler.md:6" in infold("links", "index", "--vault", vault).stdout
    assert "index.md:6  See [[Boiler]]" in infold("backlinks", "Boiler", "--vault", vault).stdout
    answer = json.loads(infold("backlinks", "Boiler", "--json", "--vault", vault).stdout)
    assert [note["path"] for note in answer["notes"]] == ["index.md"]


def test_tags_and_the_notes_of_one(infold, vault):
    """Of front matter and text; a tag has the notes of those below it; case aside."""
    listed = infold("tags", "--vault", vault).stdout
    assert [line.split() for line in listed.splitlines()] == [["1", "#home"], ["1", "#House"], ["1", "#house/heating"]]
    found = infold("tags", "#house", "--vault", vault).stdout
    assert "index.md" in found
    assert "Boiler.md" in found
    assert "No note has #garden" in infold("tags", "garden", "--vault", vault).stderr


def test_runs_can_be_limited(infold, vault):
    """The newest come first."""
    for text in ("one", "two", "three"):
        assert infold("log", text, "--vault", vault).exit_code == 0
    ids = [run["run"] for run in json.loads(infold("runs", "--json", "--vault", vault).stdout)["runs"]]
    few = json.loads(infold("runs", "-n", "2", "--json", "--vault", vault).stdout)["runs"]
    assert [run["run"] for run in few] == ids[:2]
    assert infold("runs", "--limit", "0", "--vault", vault).exit_code == 2

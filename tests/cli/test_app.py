"""What every command does alike: help at once, errors in two lines, exit codes, one JSON object."""

from __future__ import annotations

import json

import pytest

COMMANDS = [
    "demo",
    "init",
    "integrate",
    "runs",
    "show",
    "diff",
    "apply",
    "undo",
    "index",
    "watch",
    "rebuild",
    "status",
    "doctor",
    "flows",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does(infold, command):
    """Each has help of at least one sentence, and the top level lists it."""
    assert command in infold("--help").stdout
    done = infold(command, "--help")
    assert done.exit_code == 0
    assert "." in done.stdout


def test_the_exit_codes_are_documented_where_people_look(infold):
    """`infold --help` names all four."""
    text = " ".join(infold("--help").stdout.split())
    assert all(part in text for part in ("0 done", "1 some work is left", "2 wrong use", "3 the environment"))


def test_a_foreseen_error_is_two_lines_and_a_code(infold):
    """What happened, then what to do; nothing on stdout; no traceback."""
    done = infold("status", "--vault", "gone")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith("infold: There is no folder gone")
    assert len(done.stderr.splitlines()) == 2


def test_with_json_an_error_is_the_one_object(infold):
    """Programs find type, message, hint and exit code; people still find the sentence on stderr."""
    done = infold("status", "--vault", "gone", "--json")
    error = json.loads(done.stdout)["error"]
    assert (error["type"], error["exitCode"], done.exit_code) == ("VaultNotFound", 2, 2)
    assert error["message"] in " ".join(done.stderr.split())


def test_even_a_misspelt_option_is_json_for_a_program(infold):
    """A command line that cannot be parsed still answers with one object where --json stands in it."""
    done = infold("status", "--jsn", "--json")
    assert done.exit_code == 2
    assert "--jsn" in json.loads(done.stdout)["error"]["message"]


def test_a_word_left_out_of_a_question_is_told_how_to_stand_there(infold):
    """`infold search compost -soil`: the shell hands `-soil` over bare, and it is no option."""
    done = infold("search", "compost", "-soil")
    told = " ".join(done.stderr.replace("│", " ").split())
    assert done.exit_code == 2
    assert "stands after --: infold search -- …" in told
    assert "stands after" not in infold("search", "compost", "--soil").stderr


def test_a_misspelt_setting_is_named(infold):
    """The setting, not a stack of validators."""
    done = infold("status", "--vault", ".", "--set", "integrate.concurency=3")
    assert done.exit_code == 2
    assert "integrate.concurency" in done.stderr


def test_an_unexpected_error_is_a_sentence_unless_it_is_being_debugged(infold, monkeypatch):
    """No traceback reaches a person who did not ask for one."""

    def broken(self, **settings):
        raise RuntimeError("wires crossed")

    monkeypatch.setattr("infold.cli.options.Call.place", broken)
    done = infold("status")
    assert done.exit_code == 1
    assert "wires crossed" in done.stderr
    assert "--debug" in done.stderr
    assert "Traceback" not in done.output
    assert isinstance(infold("status", "--debug").exception, RuntimeError)


@pytest.mark.parametrize("words", [("index",), ("search", "peas")])
def test_the_environment_at_fault_exits_with_3(infold, tmp_path, words):
    """A state folder that cannot be written is no mistake of the caller's: it is named, with what to do."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Peas.md").write_text("Peas climb.\n")
    (tmp_path / "full").write_text("no folder")
    done = infold(*words, "--vault", vault, "--state", tmp_path / "full" / "state")
    assert done.exit_code == 3
    told = "".join(done.stderr.split())
    assert f"{tmp_path}/full/state/derived" in told
    assert "Freediskspace" in told


@pytest.mark.parametrize(
    "words, near", [(("serch", "x"), "Did you mean search"), (("sessions", "ad"), "Did you mean add"), (("qqqq",), "")]
)
def test_a_misspelt_command_is_told_with_the_one_that_was_meant(infold, words, near):
    """Also where no command was loaded yet; and where none comes near, nothing is guessed."""
    done = infold(*words)
    assert done.exit_code == 2
    assert f"No such command '{words[-1] if words[0] == 'sessions' else words[0]}'" in done.stderr
    assert near in " ".join(done.stderr.split())
    assert bool(near) == ("Did you mean" in done.stderr)

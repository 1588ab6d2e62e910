"""What a person types wrongly on the first day, or on an odd terminal, is told plainly and with the documented code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def vault(tmp_path):
    """Two notes and an inbox."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Home.md").write_text("# Home\n\nSee [[Boiler]].\n")
    (folder / "Boiler.md").write_text("# Boiler\n\nThe boiler hums.\n")
    (folder / "Inbox.md").write_text("The boiler was serviced.\n")
    return folder


@pytest.mark.parametrize(
    "words, told",
    [
        (("integrate", "--inbox", "nope.md"), "There is no inbox nope.md"),
        (("integrate", "--inbox", "."), "is a folder"),
        (("integrate", "--max-usd", "-1"), "--max-usd"),
        (("write", "../x", "text"), "not a path within the vault"),
        (("get", "../x"), "not a path within the vault"),
        (("status", "--params", "nope.yaml"), "There is no file of settings nope.yaml"),
        (("flows", "up", "--cron", "banana"), "'banana' is no schedule"),
    ],
)
def test_wrong_use_is_told_as_such(infold, vault, words, told):
    """Exit code 2, the thing that is wrong by its name, and nothing of the libraries' own words."""
    done = infold(*words, "--vault", vault)
    assert done.exit_code == 2
    assert told in " ".join(done.stderr.split())
    assert "Value error" not in done.stderr
    assert "please report" not in done.stderr


def test_an_empty_folder_does_not_become_the_vault_by_mistake(infold, vault, tmp_path):
    """`init` of one remembers nothing, unless a vault is to begin there."""
    (tmp_path / "empty").mkdir()
    infold("init", "--vault", vault)
    assert infold("init", "--vault", tmp_path / "empty").exit_code == 2
    assert json.loads(infold("status", "--json").stdout)["vault"] == str(vault)
    assert infold("init", "--vault", tmp_path / "empty", "--create-inbox").exit_code == 0


def test_a_root_note_may_be_named_as_notes_are(infold, vault):
    """With or without `.md`."""
    assert json.loads(infold("init", "--vault", vault, "--root", "Home", "--json").stdout)["root"] == "Home.md"


def test_without_init_root_and_inbox_are_found_in_the_same_way(infold, vault):
    """`init` writes down what every command finds."""
    before = json.loads(infold("status", "--json", "--vault", vault).stdout)
    infold("init", "--vault", vault)
    after = json.loads(infold("status", "--json", "--vault", vault).stdout)
    assert before["inbox"] == after["inbox"] == str(vault / "Inbox.md")
    for when in ((), ("--state", vault.parent / "other")):
        assert infold("config", "get", "vault.root_file", "--vault", vault, *when).stdout == "Home.md\n"


def test_one_line_entries_of_a_log_are_found(infold, vault):
    """Whose whole text is the heading that they stand under."""
    for text in ("Called Sarah about the venue", "Paid the invoice", "Asked Tom for the slides"):
        infold("log", text, "--vault", vault)
    for word, text in (("sarah", "Called Sarah"), ("invoice", "Paid the invoice"), ("slides", "Asked Tom")):
        found = json.loads(infold("search", word, "--source", "daily", "--json", "--vault", vault).stdout)
        assert text in json.dumps(found)


def test_undo_of_a_write_takes_its_folders_too(infold, vault):
    """None is left empty."""
    infold("write", "deep/er/page", "text", "--vault", vault)
    assert (vault / "deep" / "er" / "page.md").exists()
    assert infold("undo", "w-last", "--vault", vault).exit_code == 0
    assert not (vault / "deep").exists()


def test_an_id_is_whole_on_a_narrow_terminal(infold, vault, monkeypatch):
    """It is there to be typed."""
    infold("log", "text", "--vault", vault)
    run = json.loads(infold("runs", "--json", "--vault", vault).stdout)["runs"][0]["run"]
    monkeypatch.setenv("COLUMNS", "40")
    assert run in infold("runs", "--vault", vault).stdout


def called(*words: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The program in a process of its own."""
    path = os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))
    command = [sys.executable, "-m", "infold", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONPATH": path, **environment}, timeout=120, check=False
    )


def test_a_terminal_that_lacks_a_sign_is_told_all_the_same(infold, vault):
    """In Latin-1 what it has no sign for comes as an escape; JSON stays the same value."""
    infold("log", "Called Sarah… 漢字 😀", "--vault", vault)
    plain = called("search", "sarah", "--vault", vault, PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert plain.returncode == 0, plain.stderr
    assert rb"Sarah\u2026" in plain.stdout
    found = called("get", "daily", "--json", "--vault", vault, PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert found.returncode == 0
    shown = called("diff", "w-last", "--json", "--vault", vault, PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert "Sarah… 漢字 😀" in json.loads(shown.stdout)["diffs"][0]["diff"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_device_is_the_environment(vault):
    """Code 3 and a plain sentence."""
    path = os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "infold", "status", "--vault", str(vault)],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            timeout=120,
            check=False,
        )
    assert done.returncode == 3
    assert b"No space left" in done.stderr
    assert b"please report" not in done.stderr


def test_added_sessions_say_when_they_are_found(infold, vault, tmp_path):
    """At once by the command that is named; a search does not take a conversation that may still go on."""
    (tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "The gasket leaks"}\n')
    added = infold("sessions", "add", tmp_path / "talk.jsonl", "--vault", vault)
    assert "`infold sessions index` makes them searchable now" in added.stdout
    assert infold("sessions", "index", "--vault", vault).exit_code == 0
    assert "The gasket leaks" in infold("search", "gasket", "--vault", vault).stdout


@pytest.mark.parametrize("words", [("show", "last"), ("search", "boiler"), ("doctor",)])
def test_a_pipe_that_is_closed_ends_it_in_silence(infold, vault, words):
    """Whoever reads has seen enough, as `head` has: no traceback, no plea to report anything."""
    infold("integrate", "--dry-run", "--vault", vault, "--set", "integrate.quiet_seconds=0")
    path = os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "infold", *words, "--vault", str(vault)],
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            timeout=120,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr
    assert b"report" not in done.stderr


@pytest.mark.parametrize("words", [("init",), ("search", "boiler")])
def test_a_home_that_does_not_exist_is_the_environment(vault, words):
    """Code 3 and a plain sentence that names the folder."""
    nowhere = {"HOME": "/dev/null/nobody", "INFOLD_STATE_HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    done = called(*words, "--vault", vault, **nowhere)
    assert done.returncode == 3, done.stderr
    assert b"/dev/null/nobody" in done.stderr
    assert b"please report" not in done.stderr

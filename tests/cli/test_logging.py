"""`--verbose` and the log file, in processes of their own: what a bug report carries, and what it never does."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

KEY, TEXT, QUESTION = "sk-test-1234567890", "The combination of the safe is", "wherever-is-it"


@pytest.fixture
def place(tmp_path) -> tuple[Path, Path]:
    """A vault with one private note and an inbox, and its state folder."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "index.md").write_text(f"# Home\n\n{TEXT} in this note.\n")
    (vault / "inbox.md").write_text(f"{TEXT} 4711.\n")
    return vault, tmp_path / "state"


@pytest.fixture
def program(place):
    """Calls `infold` on it, with a key in the environment and an endpoint where nobody listens."""
    environment = {
        **os.environ,
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"http://user:{KEY}@127.0.0.1:9/v1",
        "INFOLD_RESIDENT": "0",
    }
    where = ("--vault", str(place[0]), "--state", str(place[1]), "--set", "search.embedding=none")

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "infold", *words, *where]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)

    return call


def test_the_log_says_what_ran_and_holds_no_secret(program, place):
    """Commands, options by name, counts and ends are there; no key, note, question or value is, on stderr neither."""
    model = ("--set", "librarian.max_retries=0", "--set", "librarian.give_up_seconds=5", "--set", "librarian.model=m")
    found = program("search", QUESTION, "--verbose")
    logged = program("log", TEXT, "--verbose")
    asked = program("integrate", "--librarian", "model", *model, "--max-tokens", "99999", "--verbose", "--yes")
    program("show", QUESTION)
    log = place[1] / "infold.log"
    text = log.read_text()
    assert found.returncode == logged.returncode == 0, found.stderr + logged.stderr
    assert asked.returncode != 0
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    for part in ("search.search with ", "is_verbose", "exit code 0 after", "2 files: ", "log of 1 files", "ended by "):
        assert part in text
    for private in (KEY, TEXT, QUESTION, "4711", "99999"):
        assert private not in text
    assert KEY not in found.stderr + logged.stderr + asked.stderr
    assert TEXT not in found.stderr + logged.stderr


def test_verbose_goes_to_stderr_alone(program):
    """Results on stdout are the same with it and without; without it stderr is quiet."""
    program("index")
    plain, verbose = program("search", "safe"), program("search", "safe", "--verbose")
    assert (plain.returncode, plain.stdout, plain.stderr) == (0, verbose.stdout, "")
    assert "infold.search.index.sync: " in verbose.stderr


def test_doctor_names_the_log(program, place):
    """Whoever reports a bug learns where it is."""
    assert f"{place[1] / 'infold.log'}" in program("doctor", "--json").stdout


def test_a_log_that_cannot_be_written_stops_nothing(program, place):
    """It is told in one line, and the command does its work."""
    (place[1] / "infold.log").mkdir(parents=True)
    done = program("search", "safe")
    assert done.returncode == 0
    assert "index.md" in done.stdout
    assert done.stderr.count("cannot be written") == 1

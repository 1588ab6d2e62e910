"""`infold restore` killed at every moment: the note is there whole or not at all, and what it replaces is not lost.

SIGKILL comes before each call for a file; a tenth of them here, others each time, all of them by `make chaos`.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from infold.cli.app import app
from tests.fakes.saving_editor import saving_at

STEP = max(1, round(1 / float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))))
OTHER = b"# Other\n\nSee [[old]].\n"
DELETED = b"# Old\r\n\r\nAs it was, with Windows line ends.\r\n"
TAKEN = b"# Old\n\nAnother note that has its name by now.\n"

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.name == "nt", reason="forks and SIGKILL"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # a fork beside threads, as 3.12 has it
]


@pytest.fixture
def place(nowhere, tmp_path) -> Callable[[int], tuple[Path, Callable[..., Result]]]:
    """Makes a vault whose note `old.md` was deleted, and gives it with the command line for it."""

    def made(number: int) -> tuple[Path, Callable[..., Result]]:
        vault = tmp_path / str(number) / "vault"
        vault.mkdir(parents=True)
        (vault / "other.md").write_bytes(OTHER)
        (vault / "old.md").write_bytes(DELETED)

        def infold(*words: str) -> Result:
            return CliRunner().invoke(app, [*words, "--vault", str(vault), "--state", str(vault.with_name("state"))])

        assert infold("delete", "old.md").exit_code == 0
        return vault, infold

    return made


def is_killed(call: int, act: Callable[[], Any]) -> bool:
    """Whether SIGKILL before the call of that number ended a process that does this; not, where there are fewer."""
    child = os.fork()
    if child == 0:
        try:
            with saving_at(call, lambda: os.kill(os.getpid(), signal.SIGKILL)):
                act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def newest(infold: Callable[..., Result]) -> str:
    """The id of the newest change."""
    found: str = json.loads(infold("runs", "--json").stdout)["runs"][0]["run"]
    return found


@pytest.mark.parametrize("taken", [None, TAKEN], ids=["its place is free", "in place of another"])
def test_a_restore_killed_at_any_moment_leaves_whole_notes(place, taken):
    """The next command finishes it or leaves it; run again it is done once, and its undo gives what was there before."""
    kills = 0
    for call in itertools.count(os.getpid() % STEP, STEP):
        vault, infold = place(call)
        words = ["restore", newest(infold)]
        if taken is not None:
            (vault / "old.md").write_bytes(taken)
            words.append("--replace")
        if not is_killed(call, partial(infold, *words)):
            break
        kills += 1
        assert infold("runs").exit_code == 0
        left = {file.name: file.read_bytes() for file in vault.iterdir()}
        assert left.pop("other.md") == OTHER
        assert left in ({}, {"old.md": DELETED}, {"old.md": taken})
        if left.get("old.md") != DELETED:
            assert left.get("old.md") == taken
            assert infold(*words).exit_code == 0
        assert (vault / "old.md").read_bytes() == DELETED
        assert infold("undo", newest(infold)).exit_code == 0
        assert {file.name: file.read_bytes() for file in vault.iterdir()} == {
            "other.md": OTHER,
            **({} if taken is None else {"old.md": taken}),
        }
    assert kills

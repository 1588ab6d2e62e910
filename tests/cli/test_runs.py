"""Which run a name means."""

from __future__ import annotations

import pytest

import infold
from infold.errors import RunNotFound
from infold.inbox.run import Run, RunStatus


@pytest.fixture
def vault(tmp_path):
    """A vault with an applied run and a later plan."""
    (tmp_path / "vault").mkdir()
    with infold.open(tmp_path / "vault", state=tmp_path / "state") as opened:
        for name, status in (("2026-01-01-a", RunStatus.APPLIED), ("2026-01-02-b", RunStatus.PLANNED)):
            run = Run(id=name, status=status, vault="v", inbox="inbox.md", created_at="2026-01-01", librarian="l")
            opened.runs.save(run)
        yield opened


def test_last_means_the_latest_run_that_the_command_can_do_something_with(vault):
    """`undo last` after a dry run takes back the last applied run; `show last` shows the dry run."""
    assert vault.find_run("last").id == "2026-01-02-b"
    assert vault.find_run("last", wanted=("applied", "partial")).id == "2026-01-01-a"
    assert vault.find_run("last", wanted=("undone",)).id == "2026-01-02-b"


def test_a_unique_beginning_is_enough_and_an_ambiguous_one_names_the_runs(vault):
    """Nobody types a whole id."""
    assert vault.find_run("2026-01-02").id == "2026-01-02-b"
    with pytest.raises(RunNotFound, match="2 runs begin with"):
        vault.find_run("2026")

"""Which run a name means."""

from __future__ import annotations

import pytest

from infold.cli.runs import find_run
from infold.errors import RunNotFound
from infold.inbox.run import Run, RunStatus
from infold.inbox.runs import RunStore
from infold.locate import WorkspaceRequest, locate_workspace


@pytest.fixture
def place(tmp_path):
    """A vault with an applied run and a later plan."""
    (tmp_path / "vault").mkdir()
    place = locate_workspace(WorkspaceRequest(vault=tmp_path / "vault", state=tmp_path / "state"))
    for name, status in (("2026-01-01-a", RunStatus.APPLIED), ("2026-01-02-b", RunStatus.PLANNED)):
        run = Run(id=name, status=status, vault="v", inbox="inbox.md", created_at="2026-01-01", librarian="l")
        (place.workspace.runs / name).mkdir(parents=True)
        RunStore(place.workspace.runs).save(run)
    return place


def test_last_means_the_latest_run_that_the_command_can_do_something_with(place):
    """`undo last` after a dry run takes back the last applied run; `show last` shows the dry run."""
    assert find_run(place, "last").id == "2026-01-02-b"
    assert find_run(place, "last", wanted=("applied", "partial")).id == "2026-01-01-a"
    assert find_run(place, "last", wanted=("undone",)).id == "2026-01-02-b"


def test_a_unique_beginning_is_enough_and_an_ambiguous_one_names_the_runs(place):
    """Nobody types a whole id."""
    assert find_run(place, "2026-01-02").id == "2026-01-02-b"
    with pytest.raises(RunNotFound, match="2 runs begin with"):
        find_run(place, "2026")

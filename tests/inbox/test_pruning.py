"""Old changes are forgotten to get room back, and only they."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import infold
from infold.durable.change_store import ChangeStore
from infold.errors import RunNotFound
from infold.inbox.pruning import old_changes, prune
from infold.operations.pruning import RunPruneRequest, run_prune


@pytest.fixture
def vault(tmp_path):
    """A vault in which an inbox was folded in, and then two entries were logged."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "index.md").write_text("# Home\n\nSee [[Boiler]].\n")
    (folder / "Boiler.md").write_text("# Boiler\n\nThe boiler hums when it starts.\n")
    (folder / "inbox.md").write_text("The boiler was serviced; the boiler hums less.\n")
    with infold.open(folder, state=tmp_path / "state") as opened:
        opened.integrate()
        opened.log("one")
        opened.log("two")
        yield opened


LATER = datetime.now(UTC) + timedelta(days=40)


def files(vault) -> dict[str, bytes]:
    """Every note with its bytes."""
    return {path.name: path.read_bytes() for path in vault.workspace.vault.rglob("*.md")}


def test_what_stays_can_be_undone_as_before(vault):
    """Each change keeps what its own undo needs: forgetting the run takes nothing from the logs after it."""
    before = files(vault)
    gone = prune(vault.workspace, days=30, keep=2, now=LATER)
    assert [each.change.kind for each in gone if hasattr(each.change, "kind")] == []
    assert len(gone) == 1
    assert gone[0].bytes_on_disk > 100
    assert files(vault) == before
    assert [change.kind for change in vault.all_changes()] == ["log", "log"]
    with pytest.raises(RunNotFound):
        vault.find_change(gone[0].change.id)
    for change in vault.all_changes():
        assert not vault.undo(change.id).conflicts
    assert not [name for name in files(vault) if name not in before]
    assert "two" not in "".join(map(str, files(vault).values()))


def test_nothing_goes_before_its_time_nor_of_the_newest(vault):
    """Younger changes stay, and so do the newest however old they are."""
    assert old_changes(vault.workspace, days=50, keep=1, now=LATER) == []
    assert old_changes(vault.workspace, days=0, keep=3, now=LATER) == []
    assert len(old_changes(vault.workspace, days=30, keep=1, now=LATER)) == 2


def test_what_is_not_finished_never_goes(vault):
    """Its journal is what the next start finishes it by."""
    oldest = vault.all_changes()[-1].id
    ChangeStore(vault.workspace.runs).mark_pending(oldest)
    assert oldest not in [each.change.id for each in old_changes(vault.workspace, days=0, keep=1, now=LATER)]


def test_it_is_said_first_what_would_go(vault):
    """Without `dryRun: false` nothing goes; the room is that of what would."""
    said = run_prune(vault, RunPruneRequest(days=0, keep=1))
    assert (len(said.runs), said.dry_run, len(vault.all_changes())) == (2, True, 3)
    done = run_prune(vault, RunPruneRequest(days=0, keep=1, dry_run=False))
    assert (done.runs, done.bytes_freed) == (said.runs, said.bytes_freed)
    assert len(vault.all_changes()) == 1

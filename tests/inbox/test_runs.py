"""Runs: kept, applied whole, finished after any stop."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time

import pytest

from infold.durable.files import Disk
from infold.durable.locks import vault_lock
from infold.errors import NoteChanged, RunNotFound, RunStateWrong, StateUnwritable, VaultBusy
from infold.inbox.run import RunStatus
from infold.inbox.run_store import RunStore
from infold.inbox.runs import apply_run, recover, save_planned, undo_run
from tests.fakes.planned import NOTES, planned_vault
from tests.fakes.stopping_disk import MOMENTS, Stopped, stopping_at


@pytest.fixture
def planned(tmp_path):
    return planned_vault(tmp_path)


def test_a_plan_changes_nothing_and_applying_it_makes_exactly_its_files(planned):
    """What was reviewed is what is written: every file gets the planned bytes, and no other file appears."""
    assert planned.bytes() == planned.before
    run = apply_run(planned.workspace, planned.run.id)
    assert planned.bytes() == planned.after
    assert run.status is RunStatus.PARTIAL
    assert run.applied_at
    assert [[edit.applied for edit in chunk.edits] for chunk in run.chunks] == [[True], [True], [True], [False], []]


def test_line_ends_bom_and_the_missing_last_line_end_stay(planned):
    """A CRLF note with a BOM, trailing spaces, a tab and no last line end keeps them all."""
    apply_run(planned.workspace, planned.run.id)
    wanted = NOTES["tyres.md"] + "\r\n\r\nTyre sealant dries out in heat."
    assert planned.read("tyres.md") == wanted


def test_a_run_is_applied_once(planned):
    """Applying again is refused, with the moment of the first time."""
    apply_run(planned.workspace, planned.run.id)
    with pytest.raises(RunStateWrong, match=r"applied on 20\d\d-"):
        apply_run(planned.workspace, planned.run.id)
    assert planned.bytes() == planned.after


def test_a_changed_note_stops_the_whole_run_before_it_begins(planned):
    """NoteChanged names each note that is not what the plan saw; nothing is written, the run stays planned."""
    planned.write("tyres.md", "# Tyres\n")
    (planned.workspace.vault / "food/bread.md").unlink()
    now = planned.bytes()
    with pytest.raises(NoteChanged) as caught:
        apply_run(planned.workspace, planned.run.id)
    assert set(caught.value.paths) == {"tyres.md", "food/bread.md"}
    assert planned.bytes() == now
    assert RunStore(planned.workspace.runs).load(planned.run.id).status is RunStatus.PLANNED
    assert recover(planned.workspace) == []


def test_text_added_to_the_inbox_since_stays(planned):
    """The inbox loses the run's paragraphs and nothing else, whatever was added between plan and application."""
    planned.write(
        "inbox.md", "New on top.\n\n" + planned.read("inbox.md").replace("\n\nRye cools", "\n\nNew.\n\nRye cools")
    )
    apply_run(planned.workspace, planned.run.id)
    assert planned.read("inbox.md") == "New on top.\n\n# Inbox\n\nNew.\n\nGeneral average is a rule of shipping.\n"


def test_a_paragraph_rewritten_in_the_inbox_since_stays_and_is_named(planned):
    """Text that is not what the run placed is never removed."""
    planned.write("inbox.md", planned.read("inbox.md").replace("a whole day", "two whole days"))
    run = apply_run(planned.workspace, planned.run.id)
    assert "Rye cools for two whole days." in planned.read("inbox.md")
    assert any("Paragraph 2" in warning for warning in run.warnings)


def test_a_deleted_inbox_is_not_created_again(planned):
    """The notes get their text; the inbox that a person deleted stays deleted, with a warning."""
    planned.workspace.inbox.unlink()
    run = apply_run(planned.workspace, planned.run.id)
    assert not planned.workspace.inbox.exists()
    assert any("deleted" in warning for warning in run.warnings)


def test_an_inbox_outside_the_vault_is_written_where_it_lies(tmp_path):
    """The inbox may be any file; its path is absolute in the records."""
    planned = planned_vault(tmp_path, is_saved=False)
    outside = tmp_path / "elsewhere" / "inbox.md"
    outside.parent.mkdir()
    shutil.move(planned.workspace.inbox, outside)
    workspace = type(planned.workspace)(
        planned.workspace.vault, planned.workspace.state, outside, planned.workspace.params
    )
    files = {path: (planned.before[path], planned.after[path]) for path in NOTES}
    files[str(outside)] = (planned.before["inbox.md"], planned.after["inbox.md"])
    run = save_planned(workspace, planned.run.model_copy(update={"inbox": str(outside)}), files)
    apply_run(workspace, run.id)
    assert outside.read_bytes() == planned.after["inbox.md"]
    undo_run(workspace, run.id)
    assert outside.read_bytes() == planned.before["inbox.md"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_stopped_at_any_effect_the_next_start_finishes(tmp_path, moment):
    """Stopped at any write, rename or removal and recovered: the end is that of the uninterrupted run.

    Where nothing had begun, the plan stands as it was, and can be applied.
    """
    effects = 0
    for effect in range(200):
        planned = planned_vault(tmp_path / str(effect))
        workspace = planned.workspace
        try:
            with stopping_at(effect, moment):
                apply_run(workspace, planned.run.id)
            break
        except Stopped:
            effects += 1
        recover(workspace)
        run = RunStore(workspace.runs).load(planned.run.id)
        if run.status is RunStatus.PLANNED:
            assert planned.bytes() == planned.before
            run = apply_run(workspace, planned.run.id)
        assert run.status is RunStatus.PARTIAL
        assert planned.bytes() == planned.after
        assert recover(workspace) == []
    assert effects > 20


@pytest.mark.parametrize("moment", MOMENTS)
def test_stopped_and_stopped_again_while_recovering(tmp_path, moment):
    """Recovery itself may be stopped anywhere, any number of times."""
    for effect in range(2, 24, 3):
        planned = planned_vault(tmp_path / str(effect))
        workspace = planned.workspace
        with contextlib.suppress(Stopped), stopping_at(effect, moment):
            apply_run(workspace, planned.run.id)
        for again in range(60):
            try:
                with stopping_at(again, moment):
                    recover(workspace)
                break
            except Stopped:
                continue
        if RunStore(workspace.runs).load(planned.run.id).status is RunStatus.PLANNED:
            apply_run(workspace, planned.run.id)
        assert planned.bytes() == planned.after


def test_a_note_edited_elsewhere_between_a_stop_and_the_next_start_gets_both(tmp_path):
    """The person's words and the run's stand in the note; the paragraph leaves the inbox; undo still works."""
    tried = 0
    for effect in range(4, 24):
        planned = planned_vault(tmp_path / str(effect))
        with contextlib.suppress(Stopped), stopping_at(effect, "before"):
            apply_run(planned.workspace, planned.run.id)
        mine = planned.read("food/bread.md").replace("# Bread", "# Bread and rolls")
        planned.write("food/bread.md", mine)
        recover(planned.workspace)
        run = RunStore(planned.workspace.runs).load(planned.run.id)
        if run.status is RunStatus.PLANNED:
            continue
        tried += 1
        wanted = planned.after["food/bread.md"].decode().replace("# Bread", "# Bread and rolls")
        assert planned.read("food/bread.md") == wanted
        assert planned.bytes()["inbox.md"] == planned.after["inbox.md"]
        undo_run(planned.workspace, run.id)
        original = NOTES["food/bread.md"].replace("# Bread", "# Bread and rolls")
        assert planned.read("food/bread.md") == original
        assert planned.bytes()["inbox.md"] == planned.before["inbox.md"]
    assert tried > 5


def test_a_note_rewritten_between_a_stop_and_the_next_start_keeps_its_text(tmp_path):
    """Where both cannot stand, the person's text does; the paragraph is in the inbox, with the reason."""
    tried = 0
    for effect in range(4, 24):
        planned = planned_vault(tmp_path / str(effect))
        with contextlib.suppress(Stopped), stopping_at(effect, "before"):
            apply_run(planned.workspace, planned.run.id)
        if planned.bytes().get("food/bread.md") != planned.before["food/bread.md"]:
            continue
        planned.write("food/bread.md", "All new.\n")
        recover(planned.workspace)
        run = RunStore(planned.workspace.runs).load(planned.run.id)
        if run.status is RunStatus.PLANNED:
            continue
        tried += 1
        assert planned.read("food/bread.md") == "All new.\n"
        assert "Rye cools for a whole day." in planned.read("inbox.md")
        assert "A stone gives back" in planned.read("inbox.md")
        assert "Tyre sealant" not in planned.read("inbox.md")
        outcomes = {p.n: p.outcome for p in run.paragraphs}
        assert (outcomes[1], outcomes[2], outcomes[3]) == ("integrated", "left", "left")
        assert "was changed while" in (run.paragraphs[1].reason or "")
    assert tried > 1


def test_a_full_disk_leaves_everything_recoverable(planned, monkeypatch):
    """StateUnwritable in the middle: said so, and with space again the next start finishes the run."""
    exchange = Disk.exchange

    def full(self, source, target):
        if target.name == "bread.md":
            raise StateUnwritable(f"{target} cannot be written: No space left on device.")
        return exchange(self, source, target)

    monkeypatch.setattr(Disk, "exchange", full)
    with pytest.raises(StateUnwritable):
        apply_run(planned.workspace, planned.run.id)
    monkeypatch.setattr(Disk, "exchange", exchange)
    assert "finished now" in recover(planned.workspace)[0]
    assert planned.bytes() == planned.after


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_read_only_note_stops_the_run_before_it_begins(planned):
    """A note that may not be written: named, nothing else changed."""
    (planned.workspace.vault / "tyres.md").chmod(0o444)
    with pytest.raises(StateUnwritable, match=r"tyres\.md"):
        apply_run(planned.workspace, planned.run.id)
    assert planned.bytes() == planned.before


def test_permissions_of_a_note_stay(planned):
    """The file that takes a note's place has its permissions."""
    note = planned.workspace.vault / "tyres.md"
    note.chmod(0o640)
    apply_run(planned.workspace, planned.run.id)
    assert note.stat().st_mode & 0o777 == 0o640


def test_a_note_saved_just_now_is_waited_for(tmp_path, monkeypatch):
    """An edit never lands while the person types: a note saved within `quiet_seconds` waits."""
    planned = planned_vault(tmp_path)
    params = planned.workspace.params.model_copy(
        update={"integrate": planned.workspace.params.integrate.model_copy(update={"quiet_seconds": 1000})}
    )
    workspace = type(planned.workspace)(
        planned.workspace.vault, planned.workspace.state, planned.workspace.inbox, params
    )
    for file in workspace.vault.glob("*.md"):
        os.utime(file, (1, 1))
    (workspace.vault / "tyres.md").touch()
    waited: list[float] = []
    monkeypatch.setattr("infold.inbox.runs.time.sleep", waited.append)
    apply_run(workspace, planned.run.id)
    assert waited
    assert all(100 < seconds <= 1000 for seconds in waited)


def test_a_held_vault_is_named_with_its_holder(planned):
    """VaultBusy says which process holds the vault."""
    ready, done = threading.Event(), threading.Event()

    def hold():
        with vault_lock(planned.workspace):
            ready.set()
            done.wait(120)

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait(120)
    try:
        with pytest.raises(VaultBusy, match=f"pid {os.getpid()}"):
            apply_run(planned.workspace, planned.run.id, wait_seconds=0.1)
    finally:
        done.set()
        holder.join()


def test_the_holder_may_take_the_lock_again(planned):
    """A composition that holds the vault can apply within."""
    with vault_lock(planned.workspace):
        apply_run(planned.workspace, planned.run.id)
    assert planned.bytes() == planned.after


def test_ids_sort_by_time_and_runs_are_listed_newest_first(planned):
    """A later run has the greater id."""
    store = RunStore(planned.workspace.runs)
    time.sleep(0.001)
    second = save_planned(planned.workspace, planned.run.model_copy(update={"id": ""}), {})
    assert second.id > planned.run.id
    assert [run.id for run in store.list()] == [second.id, planned.run.id]
    assert store.latest() == second


@pytest.mark.parametrize("name", ["", "nope", "../../etc", "..", ".pending", "a/b"])
def test_an_unknown_run_is_refused_by_name(planned, name):
    """No id leads out of the folder of runs."""
    with pytest.raises(RunNotFound):
        RunStore(planned.workspace.runs).load(name)


def test_the_inbox_is_kept_as_it_was(planned):
    """Integrated text leaves the inbox and is kept in the run."""
    folder = RunStore(planned.workspace.runs).path(planned.run.id)
    assert (folder / "inbox.md").read_bytes() == planned.before["inbox.md"]


def test_a_damaged_content_is_said_not_written(planned):
    """A content whose bytes are not those of its hash never reaches a note."""
    folder = RunStore(planned.workspace.runs).path(planned.run.id) / "blobs"
    for blob in folder.iterdir():
        blob.write_bytes(b"x")
    with pytest.raises(RunStateWrong, match="damaged"):
        apply_run(planned.workspace, planned.run.id)
    assert planned.bytes() == planned.before

"""DESIGN, Writing into the vault: planned, shown, journaled, applied, taken back; every kind in one way."""

from __future__ import annotations

import itertools
import os
import stat
from dataclasses import replace

import pytest

from infold.durable.change import ChangeKind, ChangeStatus
from infold.durable.changes import Changes
from infold.durable.records import FileChange
from infold.errors import NoteChanged, PathRefused, RunNotFound, RunStateWrong, StateUnwritable
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.saving_editor import saving_at
from tests.fakes.stopping_disk import MOMENTS, Stopped, stopping_at

OLD, LINKS = b"# Old\n\ntext\n", b"# Links\n\nsee [[old]] there\n\nend\n"
NEW, LINKED = b"# Old\n\ntext\n", b"# Links\n\nsee [[sub/new]] there\n\nend\n"


def vault(folder):
    root = folder / "vault"
    root.mkdir(parents=True)
    (root / "old.md").write_bytes(OLD)
    (root / "links.md").write_bytes(LINKS)
    return Workspace(root, folder / "state", root / "inbox.md", Params())


@pytest.fixture
def workspace(tmp_path):
    return vault(tmp_path)


def files(workspace):
    root = workspace.vault
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def rename(workspace):
    return Changes(workspace).plan(
        ChangeKind.RENAME,
        [
            FileChange("sub/new.md", None, NEW, moved_from="old.md"),
            FileChange("links.md", LINKS, LINKED),
            FileChange("old.md", OLD, None, needs_all=True),
        ],
        "old.md is sub/new.md",
    )


BEFORE, AFTER = {"old.md": OLD, "links.md": LINKS}, {"sub/new.md": NEW, "links.md": LINKED}


def test_a_change_is_looked_at_before_and_made_as_it_was_shown(workspace):
    """The differences say what is made, changed and deleted; planning changes nothing."""
    plan = rename(workspace)
    diffs = plan.diffs()
    assert files(workspace) == BEFORE
    assert diffs["sub/new.md"].startswith("--- /dev/null\n+++ b/sub/new.md\n")
    assert "-see [[old]] there\n+see [[sub/new]] there\n" in diffs["links.md"]
    assert "+++ /dev/null" in diffs["old.md"]
    change = plan.apply()
    assert files(workspace) == AFTER
    assert (change.kind, change.status) == (ChangeKind.RENAME, ChangeStatus.APPLIED)
    assert [file.path for file in change.files] == ["sub/new.md", "links.md", "old.md"]
    assert Changes(workspace).diffs(change) == diffs


def test_a_rename_is_taken_back_with_its_links_and_folders(workspace):
    """Every byte is back, and the folder that was made for it is gone; only once."""
    change = rename(workspace).apply()
    undone = Changes(workspace).undo(change.id)
    assert not undone.conflicts
    assert files(workspace) == BEFORE
    assert not (workspace.vault / "sub").exists()
    assert undone.change.status is ChangeStatus.UNDONE
    with pytest.raises(RunStateWrong, match="already undone"):
        Changes(workspace).undo(change.id)


def test_what_was_written_into_a_renamed_note_goes_back_with_it(workspace):
    """The old name gets the note as it is now."""
    change = rename(workspace).apply()
    (workspace.vault / "sub/new.md").write_bytes(NEW + b"\nmore\n")
    assert not Changes(workspace).undo(change.id).conflicts
    assert files(workspace) == {**BEFORE, "old.md": OLD + b"\nmore\n"}


def test_undo_takes_back_what_still_stands_and_names_what_does_not(workspace):
    """A name that is taken again stays taken; the links, which can be, are taken back."""
    change = rename(workspace).apply()
    (workspace.vault / "old.md").write_bytes(b"another note\n")
    undone = Changes(workspace).undo(change.id)
    assert [conflict.path for conflict in undone.conflicts] == ["old.md"]
    assert undone.change.status is ChangeStatus.PARTLY_UNDONE
    assert files(workspace) == {"sub/new.md": NEW, "links.md": LINKS, "old.md": b"another note\n"}


def test_a_deleted_note_keeps_its_bytes_and_comes_back(workspace):
    """By undo to the byte, or by a restore under another name when its own is taken."""
    changes = Changes(workspace)
    gone = changes.plan(ChangeKind.DELETE, [FileChange("old.md", OLD, None)], "old.md was deleted").apply()
    assert files(workspace) == {"links.md": LINKS}
    (workspace.vault / "old.md").write_bytes(b"again\n")
    (conflict,) = changes.undo(gone.id).conflicts
    assert "again" in conflict.reason
    restored = changes.plan_restore(gone.id, "old.md", "old 2.md").apply()
    assert files(workspace) == {"links.md": LINKS, "old.md": b"again\n", "old 2.md": OLD}
    changes.undo(restored.id)
    assert "old 2.md" not in files(workspace)
    changes.plan_restore(gone.id, "old.md").apply()
    assert files(workspace)["old.md"] == OLD
    with pytest.raises(RunStateWrong):
        changes.plan_restore(gone.id, "links.md")


def test_a_deletion_is_taken_back(workspace):
    """As long as its name is free."""
    changes = Changes(workspace)
    gone = changes.plan(ChangeKind.DELETE, [FileChange("old.md", OLD, None)], "old.md was deleted").apply()
    assert not changes.undo(gone.id).conflicts
    assert files(workspace) == BEFORE


def test_a_made_note_that_was_written_into_stays(workspace):
    """What a person added is not taken away with it."""
    changes = Changes(workspace)
    made = changes.plan(ChangeKind.CREATE, [FileChange("a.md", None, b"a\n")], "a.md was made").apply()
    (workspace.vault / "a.md").write_bytes(b"a\nmine\n")
    (conflict,) = changes.undo(made.id).conflicts
    assert "changed since" in conflict.reason
    assert files(workspace)["a.md"] == b"a\nmine\n"


def test_a_note_that_is_not_as_planned_stops_the_whole_change(workspace):
    """It is named; nothing is written and nothing recorded."""
    plan = rename(workspace)
    (workspace.vault / "links.md").write_bytes(b"mine\n")
    with pytest.raises(NoteChanged) as changed:
        plan.apply()
    assert changed.value.paths == ("links.md",)
    assert files(workspace) == {"old.md": OLD, "links.md": b"mine\n"}
    assert Changes(workspace).newest_first() == []


@pytest.mark.parametrize("path", ["../out.md", "sub/../../out.md", ""])
def test_no_change_leads_out_of_the_vault(workspace, path):
    """Refused by name before anything is written."""
    with pytest.raises(PathRefused):
        Changes(workspace).plan(ChangeKind.CREATE, [FileChange(path, None, b"x")], "x").apply()


@pytest.mark.parametrize("moment", MOMENTS)
def test_stopped_at_any_effect_the_next_start_finishes(tmp_path, moment):
    """A rename is done wholly or not at all, and can be taken back; so is its undo, stopped anywhere."""
    counts: list[int] = []
    for act in (lambda place: rename(place).apply(), lambda place: Changes(place).undo("2")):
        for effect in itertools.count():
            place = vault(tmp_path / f"{len(counts)}-{effect}")
            if counts:
                rename(place).apply()
            start, end = (AFTER, BEFORE) if counts else (BEFORE, AFTER)
            try:
                with stopping_at(effect, moment):
                    act(place)
                break
            except Stopped:
                pass
            said = Changes(place).recover()
            assert files(place) in (start, end)
            assert not said or files(place) == end
            assert Changes(place).recover() == []
            if files(place) == AFTER:
                assert not Changes(place).undo("2").conflicts
            assert files(place) == BEFORE
            assert not (place.vault / "sub").exists()
        counts.append(effect)
    assert min(counts) > 10


@pytest.mark.parametrize("code", [5, 28])
def test_a_disk_that_refuses_leaves_all_or_nothing(tmp_path, code):
    """Whichever call of a rename fails (EIO, ENOSPC): after the next start it is done or never was; nothing is beside."""

    def refuse():
        raise OSError(code, os.strerror(code))

    refused = 0
    for call in itertools.count():
        place = vault(tmp_path / str(call))
        try:
            with saving_at(call, refuse) as counted:
                rename(place).apply()
        except StateUnwritable:
            refused += 1
        Changes(place).recover()
        assert files(place) in (BEFORE, AFTER)
        assert {path.name for path in place.vault.rglob("*")} <= {"old.md", "links.md", "sub", "new.md"}
        if counted[0] <= call:
            break
    assert refused > 20


def test_ids_and_beginnings_name_changes(workspace):
    """A unique beginning is enough; what is unknown or ambiguous is refused by name."""
    changes = Changes(workspace)
    first = changes.plan(ChangeKind.CREATE, [FileChange("a.md", None, b"a")], "a").apply()
    second = changes.plan(ChangeKind.WRITE, [FileChange("a.md", b"a", b"b")], "b").apply()
    assert changes.find(first.id[:-1]).id == first.id
    assert changes.find("w-last").id == second.id
    assert [change.id for change in changes.newest_first()] == [second.id, first.id]
    for name in ("nope", "../x"):
        with pytest.raises(RunNotFound):
            changes.find(name)


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
def test_what_is_kept_is_the_persons_alone_and_notes_keep_their_rights(workspace):
    """Kept bytes can be read by nobody else; a note that others may read still can be, a new one as the umask has it."""
    (workspace.vault / "old.md").chmod(0o640)
    rename(workspace).apply()
    kept = [path for path in workspace.state.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in kept} == {0}
    assert stat.S_IMODE(workspace.state.stat().st_mode) == 0o700
    assert stat.S_IMODE((workspace.vault / "sub/new.md").stat().st_mode) == 0o640
    made = Changes(workspace).plan(ChangeKind.CREATE, [FileChange("a.md", None, b"a")], "a").apply()
    assert made
    (workspace.vault / "b.md").touch()
    assert (workspace.vault / "a.md").stat().st_mode == (workspace.vault / "b.md").stat().st_mode


def test_two_vaults_do_not_share_their_changes(workspace, tmp_path):
    """Each state folder has its own."""
    rename(workspace).apply()
    assert Changes(replace(workspace, state=tmp_path / "other")).newest_first() == []

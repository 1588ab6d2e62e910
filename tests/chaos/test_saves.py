"""Attacked, 1: an editor saves at any moment of an apply, an undo, a write, a log or a rename, and nothing of it is lost.

A save is put before each system call; a tenth of them here, others each time, all of them by `make chaos`.
"""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import replace
from datetime import datetime

import pytest

from infold.durable.change import ChangeKind
from infold.durable.changes import Changes
from infold.durable.records import FileChange
from infold.errors import InfoldError, NoteChanged
from infold.inbox.runs import apply_run, recover, undo_run
from infold.notebook.daily import daily_log
from infold.notebook.pages import notebook_write
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.planned import planned_vault
from tests.fakes.saving_editor import SAVES, at_every_call

STEP = max(1, round(1 / float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))))
NOW = datetime(2026, 2, 24, 10, 0).astimezone()
MARK = "SAVED BY THE EDITOR"

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(3600)]
every_way = pytest.mark.parametrize("way", SAVES)


def texts(root):
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in root.rglob("*") if path.is_file()}


def vault(folder):
    root = folder / "vault"
    root.mkdir(parents=True)
    (root / "old.md").write_text("# Old\n\ntext\n")
    (root / "links.md").write_text("# Links\n\nsee [[old]] there\n\nend\n")
    (root / "daily").mkdir()
    (root / "daily/2026-02-24.md").write_text("# Log\n\n## 09:00 — before\n")
    return Workspace(root, folder / "state", root / "inbox.md", Params())


def rename(place):
    old, links = ((place.vault / name).read_bytes() for name in ("old.md", "links.md"))
    files = [
        FileChange("new.md", None, old, moved_from="old.md"),
        FileChange("links.md", links, links.replace(b"[[old]]", b"[[new]]")),
        FileChange("old.md", old, None, needs_all=True),
    ]
    return Changes(place).plan(ChangeKind.RENAME, files, "old.md is new.md").apply()


def saved(way, file):
    """Saves, where the file is there; whether it did."""
    if not file.exists():
        return False
    SAVES[way](file, f"{MARK}\n")
    return True


@every_way
@pytest.mark.parametrize("path", ["food/bread.md", "tyres.md", "inbox.md"])
@pytest.mark.parametrize("is_undo", [False, True])
def test_a_save_in_a_run(tmp_path, way, path, is_undo):
    """In a note or in the inbox: it stands; each paragraph of the run is in its note or in the inbox; nothing beside."""
    did: list[bool] = []

    def begin(call):
        planned = planned_vault(tmp_path / str(call))
        if is_undo:
            apply_run(planned.workspace, planned.run.id)
        return planned

    def act(planned):
        done = undo_run if is_undo else apply_run
        with contextlib.suppress(NoteChanged):
            done(planned.workspace, planned.run.id)

    for planned in at_every_call(begin, act, lambda p: did.append(saved(way, p.workspace.vault / path)), STEP):
        found = texts(planned.workspace.vault)
        assert MARK in found[path] or not did[-1]
        assert set(found) == set(planned.before)
        if way == "append":
            for paragraph in planned.run.paragraphs:
                assert paragraph.outcome == "duplicate" or any(
                    paragraph.text in text.replace("\r\n", "\n") for text in found.values()
                )


@every_way
@pytest.mark.parametrize(
    "path, act, said",
    [
        ("old.md", lambda place: notebook_write(place, "old", "WRITTEN"), "WRITTEN"),
        ("daily/2026-02-24.md", lambda place: daily_log(place, "LOGGED", NOW), "LOGGED"),
    ],
    ids=["write", "log"],
)
def test_a_save_in_a_write(tmp_path, way, path, act, said):
    """Both stand: what the editor saved and what was written, unless the editor saved an older page over that."""
    for place in at_every_call(
        lambda call: vault(tmp_path / str(call)), act, lambda place: saved(way, place.vault / path), STEP
    ):
        found = texts(place.vault)
        assert MARK in found[path]
        assert said in found[path] or way != "append"
        assert set(found) == {"old.md", "links.md", "daily/2026-02-24.md"}


@every_way
@pytest.mark.parametrize("path", ["old.md", "links.md", "new.md"])
@pytest.mark.parametrize("is_undo", [False, True])
def test_a_save_in_a_rename(tmp_path, way, path, is_undo):
    """It stands, in the note under either name and in the one whose link changes; the note is under one name or both."""
    did: list[bool] = []

    def begin(call):
        place = vault(tmp_path / str(call))
        if is_undo:
            rename(place)
        return place

    def act(place):
        with contextlib.suppress(NoteChanged):
            Changes(place).undo("2") if is_undo else rename(place)

    for place in at_every_call(begin, act, lambda place: did.append(saved(way, place.vault / path)), STEP):
        found = texts(place.vault)
        assert any(MARK in text for text in found.values()) or not did[-1]
        assert {"old.md", "new.md"} & set(found)
        assert set(found) <= {"old.md", "new.md", "links.md", "daily/2026-02-24.md"}


@every_way
def test_a_save_in_the_inbox_outside_the_vault(tmp_path, way):
    """The inbox may lie anywhere; the same holds there."""

    def begin(call):
        place = vault(tmp_path / str(call))
        outside = tmp_path / str(call) / "elsewhere.md"
        outside.write_text("One paragraph.\n")
        return replace(place, inbox=outside)

    def act(place):
        before = place.inbox.read_bytes()
        change = FileChange(str(place.inbox), before, before + b"\nADDED\n")
        with contextlib.suppress(NoteChanged):
            Changes(place).plan(ChangeKind.WRITE, [change], "the inbox got a paragraph").apply()

    for place in at_every_call(begin, act, lambda place: saved(way, place.inbox), STEP):
        assert MARK in place.inbox.read_text()
        assert "One paragraph." in place.inbox.read_text()
        assert sorted(path.name for path in place.inbox.parent.iterdir()) == ["elsewhere.md", "state", "vault"]


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("is_undo", [False, True])
def test_a_disk_that_refuses_in_a_run(tmp_path, code, is_undo):
    """Whichever call of an apply or an undo fails: a plain sentence with code 3; the next start finishes or rolls back."""

    def refuse(_planned):
        raise OSError(code, os.strerror(code))

    def begin(call):
        planned = planned_vault(tmp_path / str(call))
        if is_undo:
            apply_run(planned.workspace, planned.run.id)
        return planned

    told: list[int] = []

    def act(planned):
        try:
            (undo_run if is_undo else apply_run)(planned.workspace, planned.run.id)
        except InfoldError as error:
            told.append(error.exit_code)

    for planned in at_every_call(begin, act, refuse, STEP):
        recover(planned.workspace)
        assert planned.bytes() in (planned.before, planned.after)
    assert set(told) == {3}

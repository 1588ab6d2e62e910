"""Whether anything changed, as the kernel tells it: nothing is missed, and where it cannot be told nothing is claimed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from infold.search.follow import moments as following
from infold.search.follow.moments import Moments

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="events of Linux")


@pytest.fixture
def moments(tmp_path: Path):
    """Of a folder with a note, and of a file."""
    (tmp_path / "vault" / "deep").mkdir(parents=True)
    (tmp_path / "vault" / "deep" / "note.md").write_text("A note.\n")
    found = Moments(lambda: (tmp_path / "vault", tmp_path / "later"), [tmp_path / "file"])
    assert found.now() is not None
    yield found
    found.close()


def append(file: Path) -> None:
    with file.open("a") as note:
        note.write("More.\n")


CHANGES = {
    "written over": lambda at: (at / "vault/deep/note.md").write_text("Another.\n"),
    "appended to": lambda at: append(at / "vault/deep/note.md"),
    "another time": lambda at: os.utime(at / "vault/deep/note.md", (1, 1)),
    "new": lambda at: (at / "vault/new.md").write_text("New.\n"),
    "deleted": lambda at: (at / "vault/deep/note.md").unlink(),
    "renamed": lambda at: (at / "vault/deep/note.md").rename(at / "vault/other.md"),
    "moved in": lambda at: [(at / "out.md").write_text(""), (at / "out.md").rename(at / "vault/in.md")],
    "a folder renamed": lambda at: (at / "vault/deep").rename(at / "vault/far"),
    "put in its place": lambda at: [(at / "vault").rename(at / "old"), (at / "vault").mkdir()],
    "gone": lambda at: (at / "vault").rename(at / "old"),
    "a folder that was not there": lambda at: (at / "later").mkdir(),
    "the file": lambda at: (at / "file").write_text("x"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_each_change_makes_another_moment(moments: Moments, tmp_path: Path, change):
    """And what stays as it is does not."""
    before = moments.now()
    assert moments.now() == before
    change(tmp_path)
    assert moments.now() != before
    after = moments.now()
    assert moments.now() == after


def test_what_happens_in_a_new_folder_is_heard(moments: Moments, tmp_path: Path):
    """Also in one that was made and filled before anybody asked."""
    (tmp_path / "vault" / "a" / "b").mkdir(parents=True)
    before = moments.now()
    (tmp_path / "vault" / "a" / "b" / "c.md").write_text("New.\n")
    assert moments.now() != before


def test_what_lies_in_folders_with_a_dot_is_no_change(moments: Moments, tmp_path: Path):
    """An editor's own files say nothing about notes."""
    (tmp_path / "vault" / ".obsidian").mkdir()
    before = moments.now()
    (tmp_path / "vault" / ".obsidian" / "workspace.json").write_text("{}")
    assert moments.now() == before


def test_a_note_with_two_names_leaves_it_open(moments: Moments, tmp_path: Path):
    """It can be written through the other name, of which nothing is heard; from the start or from now on."""
    os.link(tmp_path / "vault" / "deep" / "note.md", tmp_path / "vault" / "twin.md")
    assert moments.now() is None
    other = Moments(lambda: (tmp_path / "vault",))
    assert other.now() is None
    other.close()


def test_more_events_than_the_kernel_holds_are_a_change(moments: Moments, tmp_path: Path):
    """Lost events are told as such."""
    before = moments.now()
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(most // 2 + 10):
        os.utime(tmp_path / "vault" / "deep" / "note.md", (number, number))
        os.utime(tmp_path / "vault" / "deep", (number, number))
    assert moments.now() != before
    (tmp_path / "vault" / "deep" / "note.md").write_text("After.\n")
    assert moments.now() is not None


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "9p"])
def test_nothing_is_claimed_of_what_others_can_write_to(tmp_path: Path, monkeypatch, kind: str):
    """A network drive, at the folder, above or below it."""
    for point in (tmp_path, tmp_path / "vault", tmp_path / "vault" / "below"):
        table = tmp_path / "mounts"
        table.write_text(f"1 0 0:1 / / rw - ext4 disk rw\n2 1 0:2 / {point} rw shared:1 - {kind} far rw\n")
        monkeypatch.setattr(following, "_MOUNTS", table)
        assert not following.is_of_this_machine(str(tmp_path / "vault"))
        assert following.is_of_this_machine("/usr")
    (tmp_path / "vault").mkdir()
    assert Moments(lambda: (tmp_path / "vault",)).now() is None

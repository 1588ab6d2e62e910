"""`notebook_write`: which file is written, what is refused, and how a write is taken back."""

from __future__ import annotations

import errno
import itertools
import multiprocessing
import os
import threading
import unicodedata
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from infold.cli.app import app
from infold.durable.changes import Changes
from infold.durable.files import Disk
from infold.errors import (
    EditRefused,
    NoteChanged,
    NoteUnreadable,
    PathRefused,
    RunStateWrong,
    StateUnwritable,
    UsageError,
    VaultFault,
)
from infold.notebook.pages import notebook_write
from infold.vault.scanning import scan
from tests.fakes.saving_editor import SAVES, at_every_call, saving_at


def test_a_new_page_makes_its_folders(workspace, text):
    """The page is what was given, with `.md` and one line end added, and no heading that nobody asked for."""
    done = notebook_write(workspace, "lists/new/shopping", "- Milk\n\n")
    assert done.path == "lists/new/shopping.md"
    assert text(done.path) == "- Milk\n"


def test_a_page_grows_by_default_and_shrinks_only_with_replace(workspace, put, text):
    """Append keeps all; a replacement that is smaller says from how many bytes to how many."""
    put("a.md", "# A\n\nlong text of some length\n")
    notebook_write(workspace, "a", "more")
    assert text("a.md") == "# A\n\nlong text of some length\n\nmore\n"
    done = notebook_write(workspace, "a.md", "short", replace=True)
    assert (done.bytes_before, done.bytes_after) == (36, 6)
    assert "36 → 6 bytes, less than before" in done.message


def test_what_is_there_already_is_not_written_again(workspace, put):
    """The same replacement twice leaves file, time and records alone."""
    file = put("a.md", "# A\nx\n")
    stamp = file.stat().st_mtime_ns
    assert notebook_write(workspace, "a", "x", section="A", replace=True).id == ""
    assert file.stat().st_mtime_ns == stamp
    assert Changes(workspace).newest_first() == []


@pytest.mark.parametrize(
    "page",
    ["../out", "a/../../out", "/etc/passwd", "a//b", "./../x", ".obsidian/app", "a/.hidden/x", ".x", "", " ", "~/x", "a/",
     "a\0b", "a\nb", "con", "lists/AUX.md", "a:b", 'a"b', "a|b", "a?b", "a*b", "a\\b", "a /b", "a./b", "x" * 250],
)  # fmt: skip
def test_a_path_that_must_not_be_is_refused_by_name(workspace, page):
    """Out of the vault, hidden, or not to be kept on every disk: refused, with nothing made."""
    with pytest.raises(PathRefused):
        notebook_write(workspace, page, "x")
    assert list(workspace.vault.iterdir()) == []


def test_symbolic_links_are_never_written_through(workspace, put, tmp_path):
    """Neither a file nor a folder on the way may be a link, wherever it leads."""
    (tmp_path / "outside").mkdir()
    (workspace.vault / "out").symlink_to(tmp_path / "outside")
    put("real.md", "x\n")
    (workspace.vault / "alias.md").symlink_to(workspace.vault / "real.md")
    for page in ("out/x", "alias"):
        with pytest.raises(PathRefused):
            notebook_write(workspace, page, "y")
    assert list((tmp_path / "outside").iterdir()) == []
    assert (workspace.vault / "real.md").read_text() == "x\n"


def test_another_case_or_unicode_form_means_the_note_that_exists(workspace, put, text):
    """No second file beside `Café.md`, whatever form the name comes in; nor beside its folder."""
    put(unicodedata.normalize("NFD", "Lists/Café.md"), "a\n")
    done = notebook_write(workspace, unicodedata.normalize("NFC", "lists/CAFÉ"), "b")
    assert text(done.path) == "a\n\nb\n"
    assert len(list(workspace.vault.rglob("*.md"))) == 1


def test_a_name_of_two_notes_is_refused(workspace, put):
    """Where names differ in case only, which is meant cannot be told unless it is written exactly."""
    put("Ab.md", "1\n")
    put("aB.md", "2\n")
    with pytest.raises(PathRefused, match=r"Ab\.md or aB\.md"):
        notebook_write(workspace, "ab", "x")
    assert notebook_write(workspace, "Ab", "x").path == "Ab.md"


def test_other_files_are_no_pages(workspace, put):
    """A picture of that name is not turned into a note; a `.markdown` note is one."""
    put("a.png", b"\x89PNG")
    put("b.markdown", "x\n")
    with pytest.raises(PathRefused, match="no note"):
        notebook_write(workspace, "a.png", "x")
    assert notebook_write(workspace, "b", "y").path == "b.markdown"


@pytest.mark.parametrize("data", [b"\xff\xfeA\0", b"caf\xe9\n", b"a\0b"])
def test_a_page_that_cannot_be_read_is_not_written(workspace, put, data):
    """What is no UTF-8 stays as it is."""
    file = put("a.md", data)
    with pytest.raises(NoteUnreadable):
        notebook_write(workspace, "a", "x")
    assert file.read_bytes() == data


def test_a_page_that_cloud_sync_has_not_brought_is_not_made_anew(workspace, put):
    """Its placeholder says that it exists elsewhere."""
    put("lists/.Shopping.md.icloud", b"")
    with pytest.raises(NoteUnreadable, match="placeholder"):
        notebook_write(workspace, "lists/Shopping", "x")


def test_a_page_never_grows_beyond_what_can_be_read(workspace, put):
    """A note over the limit would be skipped by everything else."""
    put("a.md", "x" * (4 * 1024 * 1024 - 2))
    with pytest.raises(NoteUnreadable, match="max_note_bytes"):
        notebook_write(workspace, "a", "yy")


def test_the_inbox_may_be_added_to_and_never_replaced(workspace, put, text):
    """What waits there is integrated by the main job."""
    put("inbox.md", "one\n")
    notebook_write(workspace, "inbox", "two")
    assert text("inbox.md") == "one\n\ntwo\n"
    with pytest.raises(EditRefused, match="inbox"):
        notebook_write(workspace, "inbox.md", "x", replace=True)


def test_a_write_is_taken_back_to_the_byte(workspace, put, text):
    """Replaced bytes come back; a page that was made goes, and its folder with it."""
    page = "\ufeff# A\r\n\r\n## B\r\nold"
    put("a.md", page)
    changes = Changes(workspace)
    done = notebook_write(workspace, "a", "new", section="B", replace=True)
    assert text("a.md") != page
    assert changes.undo(done.id).restored == ("a.md",)
    assert text("a.md") == page
    made = notebook_write(workspace, "new/deep/b", "x")
    assert changes.undo("w-last").change.status == "undone"
    assert [path.name for path in workspace.vault.iterdir()] == ["a.md"]
    with pytest.raises(RunStateWrong, match="already undone"):
        changes.undo(made.id)


def test_a_folder_that_others_use_stays(workspace, put):
    """Only what is empty goes with a page that is taken back."""
    done = notebook_write(workspace, "new/b", "x")
    put("new/mine.md", "mine")
    Changes(workspace).undo(done.id)
    assert [path.name for path in (workspace.vault / "new").iterdir()] == ["mine.md"]


def test_later_changes_survive_a_write_that_is_taken_back(workspace, put, text):
    """Elsewhere in the page they stay; in the same lines nothing is done, and it is said."""
    put("a.md", "# A\none\n\n## B\ntwo\n")
    changes = Changes(workspace)
    done = notebook_write(workspace, "a", "three", section="B", replace=True)
    put("a.md", text("a.md").replace("one", "ONE"))
    changes.undo(done.id)
    assert text("a.md") == "# A\nONE\n\n## B\ntwo\n"
    done = notebook_write(workspace, "a", "three", section="B", replace=True)
    put("a.md", text("a.md").replace("three", "3"))
    (conflict,) = changes.undo(done.id).conflicts
    assert "changed since" in conflict.reason
    assert "3" in text("a.md")


def test_old_writes_are_forgotten(workspace, monkeypatch):
    """The state folder does not grow for ever: the newest stay and can be taken back."""
    monkeypatch.setattr("infold.durable.changes.MOST_SMALL", 10)
    ids = [notebook_write(workspace, "a", f"line {n}").id for n in range(25)]
    kept = [change.id for change in reversed(Changes(workspace).newest_first())]
    assert len(kept) <= 11
    assert kept == ids[-len(kept) :]
    for name in reversed(kept[1:]):
        assert not Changes(workspace).undo(name).conflicts


@pytest.mark.parametrize("way", SAVES)
def test_a_page_that_is_saved_under_a_write_keeps_both(tmp_path, workspace, way):
    """An editor takes no lock: what it saves at any moment of an addition stays, and so does the addition."""
    for place in at_every_call(
        lambda n: vault_with(workspace, tmp_path / f"{way}{n}", "a.md", "one\n"),
        lambda place: notebook_write(place, "a", "two"),
        lambda place: SAVES[way](place.vault / "a.md", "SAVED\n"),
    ):
        stands = (place.vault / "a.md").read_text()
        assert "SAVED\n" in stands
        assert "one\n" in stands
        assert [path.name for path in place.vault.iterdir()] == ["a.md"]
        assert len(Changes(place).newest_first()) == 1
        assert "two\n" in stands or way == "replace"  # an editor that had read the page before saves over it


def test_a_page_that_is_saved_under_a_replacement_is_left_alone(workspace, put, text, monkeypatch):
    """Whoever replaces has not seen what was saved: it stays, and nothing is recorded."""
    put("a.md", "one\n")
    write = Disk.write

    def meanwhile(self, path, *given, **named):
        write(self, path, *given, **named)
        if path.parent == workspace.vault:
            put("a.md", "typed\n")

    monkeypatch.setattr(Disk, "write", meanwhile)
    with pytest.raises(NoteChanged):
        notebook_write(workspace, "a", "two", replace=True)
    assert text("a.md") == "typed\n"
    assert Changes(workspace).newest_first() == []
    assert [path.name for path in workspace.vault.iterdir()] == ["a.md"]


def test_what_a_killed_write_left_is_finished(workspace, put):
    """The next command finishes it, takes the temporary files away, and no scan ever lists one."""
    put("a.md", "one\n")

    def killed() -> None:
        Disk.exchange = lambda *_: os._exit(9)  # type: ignore[method-assign]
        notebook_write(workspace, "a", "two")

    process = multiprocessing.get_context("fork").Process(target=killed)
    process.start()
    process.join()
    assert process.exitcode == 9
    left = [path for path in workspace.vault.iterdir() if path.name.startswith(".infold-")]
    assert len(left) == 1
    assert [file.path for file in scan(workspace.vault, workspace.params.vault).files] == ["a.md"]
    (said,) = Changes(workspace).recover()
    assert "finished now" in said
    assert not left[0].exists()
    assert (workspace.vault / "a.md").read_text() == "one\n\ntwo\n"


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_a_disk_that_refuses_leaves_nothing_behind(tmp_path, workspace, code):
    """Whichever call fails: a plain sentence with code 3, the page as it was or wholly written, nothing beside it."""
    refused, told = 0, set()
    for call in itertools.count():
        place = vault_with(workspace, tmp_path / str(call), "a.md", "one\n")
        try:
            with saving_at(call, lambda: fail(code)) as counted:
                notebook_write(place, "new/b", "x")
        except StateUnwritable as error:
            refused += 1
            told.add(os.strerror(code) in str(error))
        Changes(place).recover()
        names = sorted(path.relative_to(place.vault).as_posix() for path in place.vault.rglob("*"))
        assert names in (["a.md"], ["a.md", "new", "new/b.md"])
        if counted[0] <= call:
            break
    assert refused > 10
    assert told == {True}


def fail(code):
    raise OSError(code, os.strerror(code))


def vault_with(workspace, folder, name, text):
    (folder / "vault").mkdir(parents=True)
    (folder / "vault" / name).write_text(text)
    return replace(workspace, vault=folder / "vault", state=folder / "state", inbox=folder / "vault" / "inbox.md")


def test_threads_that_write_one_page_lose_nothing(workspace, text):
    """Each line of each thread is there once."""

    def write(who: int) -> None:
        for n in range(5):
            notebook_write(workspace, "log", f"- {who} {n}")

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(text("log.md").split("\n")[:-1]) == sorted(f"- {who} {n}" for who in range(4) for n in range(5))


def test_a_file_keeps_its_permissions(workspace, put):
    """A note that only its owner may read stays so."""
    file = put("a.md", "x\n")
    file.chmod(0o600)
    notebook_write(workspace, "a", "y")
    assert file.stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_where_nothing_was_said(workspace):
    """Empty text makes no page."""
    with pytest.raises(UsageError):
        notebook_write(workspace, "a", " \n")
    assert list(workspace.vault.iterdir()) == []


def test_a_folder_of_that_name_is_no_page(workspace):
    """A folder called `a.md` is refused, not walked into."""
    (workspace.vault / "a.md").mkdir()
    with pytest.raises(VaultFault):
        notebook_write(workspace, "a", "x")


def test_a_daily_log_is_only_added_to(workspace, put, text):
    """Neither the page nor a section of it is replaced; the refusal says what to do instead."""
    put("daily/2026-02-24.md", "# Log\n\n## 10:00\nsaid\n")
    for section in (None, "10:00"):
        with pytest.raises(EditRefused, match="only ever added to") as refused:
            notebook_write(workspace, "daily/2026-02-24.md", "x", section, replace=True)
        assert "--replace" in refused.value.hint
    assert text("daily/2026-02-24.md") == "# Log\n\n## 10:00\nsaid\n"
    notebook_write(workspace, "daily/2026-02-24", "more")
    assert text("daily/2026-02-24.md").endswith("said\n\nmore\n")


def test_any_command_finishes_what_was_stopped(workspace, put):
    """Also one that only reads: no temporary file stays among the notes until somebody writes again."""
    put("a.md", "one\n")

    def killed() -> None:
        Disk.exchange = lambda *_: os._exit(9)  # type: ignore[method-assign]
        notebook_write(workspace, "a", "two")

    process = multiprocessing.get_context("fork").Process(target=killed)
    process.start()
    process.join()
    done = CliRunner().invoke(app, ["get", "a.md", "--vault", str(workspace.vault), "--state", str(workspace.state)])
    assert "two" in done.stdout
    assert "finished now" in done.stderr
    assert [path.name for path in workspace.vault.iterdir()] == ["a.md"]

"""`notebook_write`: which file is written, what is refused, and how a write is taken back."""

from __future__ import annotations

import multiprocessing
import os
import threading
import unicodedata

import pytest

from infold.durable.files import Disk
from infold.errors import EditRefused, NoteChanged, NoteUnreadable, PathRefused, RunNotFound, UsageError, VaultFault
from infold.notebook.kept_writes import KeptWrites, take_back
from infold.notebook.pages import notebook_write
from infold.notebook.writing import NoteWriter, note_writer
from infold.vault.files import scan


def test_a_new_page_makes_its_folders(workspace, text):
    """The page is what was given, with `.md` and one line end added, and no heading that nobody asked for."""
    done = notebook_write(workspace, "lists/new/shopping", "- Milk\n\n")
    assert done.path == "lists/new/shopping.md"
    assert text(done.path) == "- Milk\n"
    assert done.as_json()["success"] is True


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
    assert KeptWrites(workspace).ids() == []


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
    """Replaced bytes come back; a page that was made goes."""
    page = "\ufeff# A\r\n\r\n## B\r\nold"
    put("a.md", page)
    done = notebook_write(workspace, "a", "new", section="B", replace=True)
    assert text("a.md") != page
    assert take_back(workspace, done.id).bytes_after == len(page.encode())
    assert text("a.md") == page
    made = notebook_write(workspace, "b", "x")
    assert take_back(workspace, "w-last").is_removed
    assert not (workspace.vault / "b.md").exists()
    with pytest.raises(RunNotFound):
        take_back(workspace, made.id)


def test_later_changes_survive_a_write_that_is_taken_back(workspace, put, text):
    """Elsewhere in the page they stay; in the same lines nothing is done, and it is said."""
    put("a.md", "# A\none\n\n## B\ntwo\n")
    done = notebook_write(workspace, "a", "three", section="B", replace=True)
    put("a.md", text("a.md").replace("one", "ONE"))
    take_back(workspace, done.id)
    assert text("a.md") == "# A\nONE\n\n## B\ntwo\n"
    done = notebook_write(workspace, "a", "three", section="B", replace=True)
    put("a.md", text("a.md").replace("three", "3"))
    with pytest.raises(NoteChanged, match="changed since"):
        take_back(workspace, done.id)
    assert "3" in text("a.md")


def test_old_writes_are_forgotten(workspace, monkeypatch):
    """The state folder does not grow for ever: the newest stay and can be taken back."""
    monkeypatch.setattr("infold.notebook.kept_writes.MOST_KEPT", 10)
    ids = [notebook_write(workspace, "a", f"line {n}").id for n in range(25)]
    kept = KeptWrites(workspace).ids()
    assert len(kept) <= 11
    assert kept == ids[-len(kept) :]
    for name in reversed(kept[1:]):
        take_back(workspace, name)


def test_a_page_that_changes_under_a_write_is_left_alone(workspace, put, text, monkeypatch):
    """The editor of a person takes no lock: what it saved between reading and writing stays, and nothing is recorded."""
    put("a.md", "one\n")

    class Meanwhile(Disk):
        def write(self, path, data, like=None):
            super().write(path, data, like)
            if path.name.endswith(".tmp") and path.parent == workspace.vault:
                put("a.md", "typed\n")

    monkeypatch.setattr("infold.notebook.writing.Disk", Meanwhile)
    with pytest.raises(NoteChanged):
        notebook_write(workspace, "a", "two")
    assert text("a.md") == "typed\n"
    assert KeptWrites(workspace).ids() == []
    assert [path.name for path in workspace.vault.iterdir()] == ["a.md"]


def test_what_a_killed_write_left_is_swept_away(workspace, put):
    """The next write takes the temporary file away, and no scan ever lists it."""
    put("a.md", "one\n")
    left = workspace.vault / ".infold-0123456789abcdef.tmp"

    def killed() -> None:
        with note_writer(workspace) as writer:
            writer.disk.make_folder(workspace.notebook)
            disk = writer.disk
            disk.replace = lambda *_: os._exit(9)
            writer.write("a.md", b"one\n", b"two\n")

    process = multiprocessing.get_context("fork").Process(target=killed)
    process.start()
    process.join()
    assert process.exitcode == 9
    left = [path for path in workspace.vault.iterdir() if path.name.startswith(".infold-")]
    assert len(left) == 1
    assert [file.path for file in scan(workspace.vault, workspace.params.vault).files] == ["a.md"]
    notebook_write(workspace, "b", "x")
    assert not left[0].exists()
    assert (workspace.vault / "a.md").read_text() == "one\n"


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


def test_removing_minds_what_was_read(workspace, put):
    """A page that changed is not removed."""
    put("a.md", "new\n")
    with note_writer(workspace) as writer, pytest.raises(NoteChanged):
        writer.remove("a.md", b"old\n")
    assert isinstance(writer, NoteWriter)

"""Which changes of a vault matter, and when they have settled."""

from __future__ import annotations

import pytest

from infold.search.follow.debounce import EVERYTHING, MOST_PATHS, NOTHING, FileEvent, Settling, Touched, touched


def event(path: str, what: str = "modified", *, is_folder: bool = False) -> FileEvent:
    return FileEvent(path, is_gone=what == "deleted", is_new=what == "added", is_folder=is_folder)


def asked(*events: FileEvent, folders: tuple[str, ...] = ()) -> Touched:
    return touched(events, folders.__contains__)


@pytest.mark.parametrize("what", ["added", "modified", "deleted"])
def test_a_note_asks_for_itself(what: str):
    """Written, made or deleted, the note is looked at and nothing else."""
    assert asked(event("a/b.md", what), event("C.MARKDOWN", what)) == Touched(frozenset({"a/b.md", "C.MARKDOWN"}))


@pytest.mark.parametrize("save", [
    [("4913", "added"), ("4913", "deleted"), ("a.md~", "added"), ("a.md", "deleted"), ("a.md", "added"), ("a.md~", "deleted"), (".a.md.swp", "modified")],
    [(".a.md.tmp-4711", "added"), (".a.md.tmp-4711", "deleted"), ("a.md", "added")],
    [("a.md.tmp", "added"), ("a.md.tmp", "deleted"), ("a.md", "modified")],
])  # fmt: skip
def test_a_save_by_way_of_other_files(save: list[tuple[str, str]]):
    """Vim's backup and rename, VS Code's and others' temporary files: one note is looked at, not the whole vault."""
    assert asked(*(event(path, what) for path, what in save)) == Touched(frozenset({"a.md"}))


@pytest.mark.parametrize("path", [
    ".obsidian/workspace.json", ".git/index.md", "a/.trash/x.md", ".hidden.md", "image.png", "a/.obsidian/app.json", ".DS_Store",
])  # fmt: skip
def test_what_is_no_note_asks_for_nothing(path: str):
    """Dot folders, dot files and attachments, whatever happens to them."""
    for what in ("added", "modified", "deleted"):
        assert asked(event(path, what)) == NOTHING


@pytest.mark.parametrize("path", [".gitignore", "a/.infoldignore", ".obsidian/app.json"])
def test_rules_ask_for_everything(path: str):
    """Another rule about what is left out may take in or leave out any note."""
    assert asked(event(path)) == EVERYTHING


def test_folders_ask_for_everything():
    """A folder that came or went tells nothing of its notes; one that only changed has told of them already."""
    assert asked(event("new", "added", is_folder=True)) == EVERYTHING
    assert asked(event("notes.md", "added", is_folder=True)) == EVERYTHING
    assert asked(event("v1.2", "deleted"), folders=("v1.2",)) == EVERYTHING
    assert asked(event("v1.2", "deleted")) == NOTHING
    assert asked(event("old", "modified", is_folder=True)) == NOTHING
    assert asked(event(".git", "added", is_folder=True)) == NOTHING


def test_very_many_notes_are_everything():
    """A checkout of another branch is one look at everything, not thousands of small ones."""
    assert asked(*(event(f"{n}.md") for n in range(MOST_PATHS))).everything is False
    assert asked(*(event(f"{n}.md") for n in range(MOST_PATHS + 1))) == EVERYTHING


def test_changes_settle():
    """What was touched is due once it was quiet for long enough, all of it together, and only once."""
    settling = Settling(1.5)
    assert settling.due_in(0) is None
    settling.add(Touched(frozenset({"a.md"})), 10)
    settling.add(NOTHING, 11)
    settling.add(Touched(frozenset({"b.md"})), 11)
    assert settling.due_in(11) == 1.5
    assert settling.due_in(12.5) == 0
    assert settling.take() == Touched(frozenset({"a.md", "b.md"}))
    assert settling.due_in(12.5) is None


def test_what_never_rests_is_due_all_the_same():
    """A note that is written every second is looked at every fifteen."""
    settling = Settling(1.5)
    due = []
    for second in range(40):
        settling.add(Touched(frozenset({"log.md"})), second)
        if settling.due_in(second) == 0:
            due.append(second)
            settling.take()
    assert due == [15, 31]

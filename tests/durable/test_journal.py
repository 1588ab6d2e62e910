"""The journal: all changes happen, whenever the process stops."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.durable.journal import Journal
from infold.durable.records import FileChange
from infold.errors import NoteChanged, PathRefused
from infold.text import content_hash
from tests.fakes.stopping_disk import MOMENTS, Stopped, stopping_at


@pytest.fixture
def root(tmp_path):
    (tmp_path / "vault" / "sub").mkdir(parents=True)
    return tmp_path / "vault"


def journal(root) -> Journal:
    return Journal(root.parent / "run", root)


def files(root) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_all_changes_are_made_and_recorded(root):
    """Files get their bytes, new ones are made, nothing is left beside them."""
    (root / "a.md").write_bytes(b"one")
    entry = journal(root).apply([FileChange("a.md", b"one", b"two"), FileChange("new/b.md", None, b"b")], "apply")
    assert files(root) == {"a.md": b"two", "new/b.md": b"b"}
    assert entry.done is not None
    assert entry.done.written == ("a.md", "new/b.md")
    assert journal(root).transactions() == [entry]


def test_any_unexpected_file_stops_all_before_the_first_write(root):
    """NoteChanged names each; no file changes and no entry is begun."""
    (root / "a.md").write_bytes(b"one")
    changes = [FileChange("a.md", b"one", b"two"), FileChange("b.md", b"x", b"y"), FileChange("c.md", b"z", b"y")]
    with pytest.raises(NoteChanged) as caught:
        journal(root).apply(changes, "apply")
    assert caught.value.paths == ("b.md", "c.md")
    assert files(root) == {"a.md": b"one"}
    assert journal(root).transactions() == []


@pytest.mark.parametrize("path", ["../out.md", "sub/../../out.md", "", "a\0b.md"])
def test_paths_that_lead_out_are_refused(root, path):
    """Nothing outside the vault is written."""
    with pytest.raises(PathRefused):
        journal(root).apply([FileChange(path, None, b"x")], "apply")


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights there")
def test_symlinks_inside_are_written_through_and_those_outside_refused(root):
    """A link to a note stays a link and the note gets the text; a link out of the vault is not followed."""
    (root / "sub" / "real.md").write_bytes(b"one")
    (root / "link.md").symlink_to("sub/real.md")
    journal(root).apply([FileChange("link.md", b"one", b"two")], "apply")
    assert (root / "link.md").is_symlink()
    assert (root / "sub" / "real.md").read_bytes() == b"two"
    outside = root.parent / "outside.md"
    outside.write_bytes(b"one")
    (root / "out.md").symlink_to(outside)
    with pytest.raises(PathRefused, match="leads out"):
        journal(root).apply([FileChange("out.md", b"one", b"two")], "apply")
    assert outside.read_bytes() == b"one"


CONTENT = st.one_of(st.none(), st.binary(max_size=6))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a.md", "b.md", "sub/c.md", "new/d.md"]), st.tuples(CONTENT, st.binary(max_size=6)), min_size=1
    ),
    st.integers(0, 30),
    st.sampled_from(MOMENTS),
    st.integers(0, 12),
)
def test_stopped_anywhere_recovery_gives_all_or_nothing(tmp_path_factory, plan, effect, moment, second):
    """Stopped at any effect, recovery too: all files are as before or all as after, and nothing else is there."""
    root = tmp_path_factory.mktemp("journal") / "vault"
    root.mkdir()
    plan = {path: (before, after) for path, (before, after) in plan.items() if before != after}
    for path, (before, _) in plan.items():
        if before is not None:
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_bytes(before)
    start = files(root)
    end = {**start, **{path: after for path, (_, after) in plan.items()}}
    changes = [FileChange(path, before, after) for path, (before, after) in plan.items()]
    try:
        with stopping_at(effect, moment):
            journal(root).apply(changes, "apply")
    except Stopped:
        pass
    try:
        with stopping_at(second, moment):
            journal(root).recover()
    except Stopped:
        pass
    journal(root).recover()
    entries = journal(root).transactions()
    assert files(root) == (end if entries else start)
    assert all(entry.done and not entry.done.conflicts for entry in entries)
    assert journal(root).recover() == []


def test_what_a_person_changed_since_is_left_alone_and_named(root):
    """After a stop, a file that is neither as before nor as after stays as it is, and what needs it is withheld."""
    (root / "a.md").write_bytes(b"one")
    (root / "inbox.md").write_bytes(b"text")
    changes = [FileChange("a.md", b"one", b"two"), FileChange("inbox.md", b"text", b"", needs_all=True)]
    with pytest.raises(Stopped), stopping_at(6, "before"):
        journal(root).apply(changes, "apply")
    assert files(root)["a.md"] == b"one"
    (root / "a.md").write_bytes(b"mine")
    (entry,) = journal(root).recover()
    assert entry.done
    assert (entry.done.written, entry.done.conflicts, entry.done.withheld) == ((), ("a.md",), ("inbox.md",))
    assert files(root) == {"a.md": b"mine", "inbox.md": b"text"}


def test_a_change_between_the_check_and_the_rename_is_kept(root, monkeypatch):
    """What a person saves while the new bytes are being written is not overwritten."""
    from infold.durable.files import Disk

    (root / "a.md").write_bytes(b"one")
    write = Disk.write

    def slow(self, path, data, *others, **named):
        write(self, path, data, *others, **named)
        if path.parent == root:
            (root / "a.md").write_bytes(b"typed just now")

    monkeypatch.setattr(Disk, "write", slow)
    entry = journal(root).apply([FileChange("a.md", b"one", b"two")], "apply")
    assert entry.done is not None
    assert entry.done.conflicts == ("a.md",)
    assert files(root) == {"a.md": b"typed just now"}


def test_a_journal_of_an_earlier_version_is_read_and_finished(root):
    """Its intents have no version, no folders, and nothing moved."""
    (root / "a.md").write_bytes(b"one")
    folder = root.parent / "run"
    for data in (b"one", b"two"):
        (folder / "blobs").mkdir(parents=True, exist_ok=True)
        (folder / "blobs" / content_hash(data)).write_bytes(data)
    file = {"path": "a.md", "before": content_hash(b"one"), "after": content_hash(b"two"), "needs_all": False}
    (folder / "journal").mkdir()
    (folder / "journal/0001.intent.json").write_text(json.dumps({"label": "apply", "files": [file], "data": {}}))
    (entry,) = journal(root).recover()
    assert files(root) == {"a.md": b"two"}
    assert (entry.intent.format, entry.done and entry.done.written) == (1, ("a.md",))
    done = {"written": ["a.md"], "conflicts": [], "withheld": []}
    (folder / "journal/0001.done.json").write_text(json.dumps(done))
    assert journal(root).transactions()[0].done


@pytest.mark.parametrize("moment", MOMENTS)
def test_many_files_stopped_at_any_effect_are_finished(tmp_path, monkeypatch, moment):
    """Files whose bytes are laid ready side by side, round by round, change all or not, wherever the process stops.

    Nothing of it is left beside them.
    """
    monkeypatch.setattr("infold.durable.files.FEW", 2)
    monkeypatch.setattr("infold.durable.steps.ROUND", 3)
    names = [f"{number}.md" for number in range(5)]
    changes = [FileChange(name, b"old", b"new") for name in names]
    changes += [FileChange("made/f.md", None, b"f"), FileChange("gone.md", b"old", None, needs_all=True)]
    start = {**dict.fromkeys([*names, "gone.md"], b"old")}
    end = {**dict.fromkeys(names, b"new"), "made/f.md": b"f"}
    for effect in range(200):
        place = tmp_path / f"{effect}" / "vault"
        place.mkdir(parents=True)
        for name, data in start.items():
            (place / name).write_bytes(data)
        try:
            with stopping_at(effect, moment):
                journal(place).apply(changes, "apply")
            break
        except Stopped:
            pass
        begun = journal(place).recover() or journal(place).transactions()
        assert files(place) == (end if begun else start)
        assert journal(place).recover() == []
    assert effect > 20


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights there")
def test_two_names_of_one_file_are_two_changes(root):
    """The second is made on what the first left, so that it conflicts and the first stands."""
    (root / "real.md").write_bytes(b"one")
    (root / "link.md").symlink_to("real.md")
    changes = [FileChange("real.md", b"one", b"two"), FileChange("link.md", b"one", b"three")]
    done = journal(root).apply(changes, "apply").done
    assert done is not None
    assert (done.written, done.conflicts) == (("real.md",), ("link.md",))
    assert (root / "real.md").read_bytes() == b"two"

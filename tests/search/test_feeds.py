"""What the vault gives the index: which notes, which points, and what is passed over by name."""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from infold.notebook.sessions import SessionsFeed
from infold.search.index.contract import Filter, IndexPoint
from infold.search.index.feeds import Item, Listing, ReadRequest, ReadResult, read_items
from infold.search.index.point_ids import point_id
from infold.search.index.points import NotePoints, note_points
from infold.search.terms import document_words
from infold.settings import Params
from infold.text import content_hash
from infold.vault.note import parse


def points_of(path: str, text: str, kind: str = "standard") -> list[IndexPoint]:
    """The points of a note of this text."""
    return note_points(parse(path, text), kind, Params().search).points


@pytest.mark.parametrize(
    "text, day",
    [
        ("---\ndate: 2025-03-04\n---\nText.\n", "2025-03-04"),
        ("---\ndate: 2025-03-04T10:11:12Z\n---\nText.\n", "2025-03-04"),
        ("---\ndate: '2025-03-04 10:11'\n---\nText.\n", "2025-03-04"),
        ("---\ncreated: 2025-03-04\n---\nText.\n", "2025-03-04"),
        ("---\ndate: soon\ncreated: 2025-03-04\n---\nText.\n", "2025-03-04"),
        ("---\ndate: 2025-02-30\n---\nText.\n", None),
        ("---\ndate: [2025-03-04]\n---\nText.\n", None),
        ("Text of 2025-03-04.\n", None),
    ],
)
def test_a_note_is_of_the_day_its_front_matter_says(text: str, day: str | None):
    """The front matter's date, else when it was created, else no day; a day that does not exist is none."""
    assert [point.date for point in points_of("a.md", text)] == [day]


def test_a_daily_note_is_of_the_day_in_its_name():
    """Whatever its front matter says; and it is of a source of its own."""
    (point,) = points_of("daily/2026-02-24.md", "---\ndate: 2020-01-01\n---\nText.\n", "daily")
    assert (point.date, point.group, point.kind) == ("2026-02-24", "daily", "daily")
    (point,) = points_of("a.md", "Text.")
    assert (point.group, point.level, point.trust) == ("notebook", "passage", "vault")


def test_every_passage_has_the_tags_of_its_note():
    """Tags of front matter and text, on each passage."""
    found = points_of("a.md", "---\ntags: [oven]\n---\n# One\n\nText #work/kitchen here.\n\n# Two\n\nMore.\n")
    assert [point.tags for point in found] == [("oven", "work/kitchen")] * 2


def test_what_is_no_note_is_named_and_not_read(place, tmp_path: Path):
    """Hidden folders, symbolic links and what is too big stay out; all but the hidden are named."""
    place.params = Params.model_validate({"vault": {"max_note_bytes": 2000}})
    outside = tmp_path / "outside.md"
    outside.write_text("Secret kohlrabi.\n")
    place.write(".obsidian/hidden.md", "Hidden kohlrabi.\n")
    place.write("big.md", "kohlrabi " * 1000)
    place.write("latin.md", "x")
    (place.vault / "latin.md").write_bytes(b"kohlrabi \xe9\n")
    (place.vault / "link.md").symlink_to(outside)
    (place.vault / "folder").symlink_to(tmp_path, target_is_directory=True)
    result = place.sync()
    assert place.found("kohlrabi") == []
    reasons = dict(result.skipped)
    assert set(reasons) == {"big.md", "latin.md", "link.md", "folder"}
    assert "out of the vault" in reasons["link.md"]
    assert "UTF-8" in reasons["latin.md"]
    assert place.found("levain") == ["bread.md"]


def test_a_note_that_becomes_unreadable_leaves_the_index(place):
    """Its old text is not what it says now, so it is not found any more; it is named."""
    place.sync()
    (place.vault / "bread.md").write_bytes(b"levain \xff\n")
    result = place.sync()
    assert ([path for path, _ in result.skipped], result.files_removed) == (["bread.md"], 1)
    assert place.found("levain") == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_folder_out_of_reach_is_kept(place):
    """What cannot be looked at is not gone."""
    place.sync()
    folder = place.vault / "garden"
    folder.chmod(0)
    try:
        result = place.sync()
    finally:
        folder.chmod(0o755)
    assert (result.files_removed, [path for path, _ in result.skipped]) == (0, ["garden/"])
    assert place.found("stake") == ["garden/tomatoes.md"]


def test_a_placeholder_of_cloud_sync_is_kept(place):
    """A note whose contents are with the cloud provider stays as it was last read."""
    place.sync()
    (place.vault / "bread.md").rename(place.vault / ".bread.md.icloud")
    result = place.sync()
    assert result.files_removed == 0
    assert "cloud" in dict(result.skipped)["bread.md"]
    assert place.found("levain") == ["bread.md"]


def test_ignored_notes_leave_the_index(place):
    """A rule that comes later takes away what it leaves out."""
    place.sync()
    place.write(".infoldignore", "garden/\n")
    assert place.sync().files_removed == 2
    assert place.found("stake") == []


@dataclass(frozen=True)
class Letters:
    """A feed of letters that lie beside the vault, one passage each."""

    folder: Path

    name = "letters"
    is_guarded = False

    def items(self, paths=None) -> Listing:
        files = sorted(self.folder.glob("*.txt"))
        return Listing([Item(f"letters/{file.name}", file.stat().st_mtime_ns, file.stat().st_size) for file in files])

    def read(self, item: Item, known_sha256: str) -> ReadResult:
        data = (self.folder / Path(item.path).name).read_bytes()
        if content_hash(data) == known_sha256:
            return ReadResult(item, known_sha256)
        text = data.decode()
        point = IndexPoint(
            id=point_id(item.path, 0, content_hash(text)),
            path=item.path,
            start_line=1,
            end_line=1,
            title="Letter",
            trail=(),
            kind="letter",
            group="sessions",
            words=document_words(text)[0],
            level="turns",
        )
        return ReadResult(
            item,
            content_hash(data),
            NotePoints(item.path, "Letter", "english", [point], [content_hash(text)], [text]),
        )


def test_another_feed_lives_beside_the_notes(place):
    """Each feed brings and takes its own; an unguarded one may become empty."""
    folder = place.root / "letters"
    folder.mkdir()
    (folder / "one.txt").write_text("Dear Sarah, the levain is yours.\n")
    notes, letters = place.notes_feed(), Letters(folder)
    place.sync(feeds=[notes, letters])
    assert sorted(place.found("levain")) == ["bread.md", "letters/one.txt"]
    assert place.sync().files_removed == 0
    with place.searcher() as searcher:
        found = searcher.keyword("levain", 5, Filter(groups=("sessions",)))
    assert [hit.path for hit in found] == ["letters/one.txt"]
    (folder / "one.txt").unlink()
    result = place.sync(feeds=[letters])
    assert (result.files_removed, result.emptied) == (1, False)
    assert place.found("levain") == ["bread.md"]


@pytest.mark.parametrize("rebuild", [False, True])
@pytest.mark.parametrize("damage", [b"garbage" * 1_000, b""])
def test_a_damaged_manifest_is_made_anew_beside_a_feed_that_has_nothing(place, damage, rebuild):
    """What a broken index held of sessions cannot be told, and keeps no note from being indexed."""
    place.sync()
    (place.generation / "manifest.sqlite").write_bytes(damage)
    sessions = SessionsFeed(place.root / "sessions", place.params.search)
    done = place.sync(feeds=[place.notes_feed(), sessions], rebuild=rebuild)
    assert (done.files_changed, done.rebuilt, done.emptied) == (4, True, False)
    assert place.found("levain") == ["bread.md"]


def test_an_index_made_anew_for_another_feed_has_the_notes_too(place):
    """Whatever feed meets a change of settings: the index that comes of it is never without the notes."""
    folder = place.root / "letters"
    folder.mkdir()
    (folder / "one.txt").write_text("Dear Sarah, the levain is yours.\n")
    place.sync()
    place.params = Params.model_validate({"search": {"passage_tokens": 64}})
    assert place.sync(feeds=[Letters(folder)]).rebuilt
    assert sorted(place.found("levain")) == ["bread.md", "letters/one.txt"]


def test_workers_read_as_this_process_does(place):
    """A feed survives the way to a worker; texts stay behind where nobody embeds them."""
    feed = place.notes_feed()
    wanted = [ReadRequest(item, "") for item in feed.items().items]
    there = pickle.loads(pickle.dumps(feed))
    assert there.items().items == feed.items().items
    for one in wanted:
        assert read_items([one], there, True) == [feed.read(one.item, "")]
        bare = read_items([one], there, False)[0].points
        assert bare is not None
        assert set(bare.texts) == {""}


def test_notes_are_found_by_their_source(place):
    """Daily notes are told from the notebook, as results are grouped."""
    place.write("2026-02-24.md", "## 09:15\n\nA levain was fed.\n")
    place.sync()
    with place.searcher() as searcher:
        assert [hit.path for hit in searcher.keyword("levain", 5, Filter(groups=("daily",)))] == ["2026-02-24.md"]
        assert [hit.path for hit in searcher.keyword("levain", 5, Filter(groups=("notebook",)))] == ["bread.md"]

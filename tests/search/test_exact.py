"""Phrases in quotes in long notes: found wherever they stand, with work that grows as the notes do."""

from __future__ import annotations

import pytest

from infold.catalogue import passages
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.query import excerpts, note_text
from infold.search.query.excerpts import NoteTexts
from infold.search.query.fresh_search import LiveSearch
from infold.settings import Params
from infold.workspace import Workspace


class Work:
    """What a search does with files: how many it reads, how many characters it cuts and takes the hash of."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads = self.cuts = self.hashed = 0
        read, cut, digest = excerpts.read_with_status, passages.cuts, note_text.content_hash  # type: ignore[attr-defined]

        def counting_read(*given):
            self.reads += 1
            return read(*given)

        def counting_cut(*given):
            self.cuts += 1
            return cut(*given)

        def counting_hash(data):
            self.hashed += len(data)
            return digest(data)

        monkeypatch.setattr(excerpts, "read_with_status", counting_read)
        monkeypatch.setattr(passages, "cuts", counting_cut)
        monkeypatch.setattr(note_text, "content_hash", counting_hash)


@pytest.fixture
def searched(place, monkeypatch):
    """Searches a vault with these notes besides, and says what was found and what work it was."""

    def search(notes: dict[str, str], query: str):
        for path, text in notes.items():
            place.write(path, text)
        with LiveSearch(
            Workspace(place.vault, place.root, place.vault / "inbox.md", place.params), NO_EMBEDDER
        ) as live:
            live.search("brings the index up to date")
            with monkeypatch.context() as patch:
                work = Work(patch)
                return live.search(query, sync=False), work

    return search


def one_line(words: int) -> str:
    """A note of a single line, in which every passage holds the same words, and one the phrase."""
    half = " ".join(f"kiwi{n} gamma tractor kiwi" for n in range(words))
    return f"{half} gamma kiwi tractor {half}"


@pytest.mark.parametrize("words", [1500, 3000])
def test_a_note_of_one_line_is_read_once_and_not_cut_again(searched, words):
    """However long it is: its passages are as the catalogue has them, nor is the hash of it taken for each."""
    text = one_line(words)
    found, work = searched({"long.md": text}, '"gamma kiwi tractor"')
    assert [result.path for result in found.results] == ["long.md"]
    assert (work.reads, work.cuts) == (1, 0)
    assert work.hashed <= 1.5 * len(text)  # each passage once, a fifth of which is the end of the one before


def test_many_notes_are_read_once_for_each_look(searched, monkeypatch):
    """Also more than are held at once, however their passages take turns in the ranking."""
    monkeypatch.setattr(excerpts, "_MOST_READ", 2)
    paragraph = "\n\n".join(f"gamma tractor number {n} " + "kiwi filler " * 70 for n in range(8))
    notes = {f"n{n}.md": f"# Note {n}\n\n{paragraph}\n" for n in range(30)}
    found, work = searched({**notes, "it.md": "gamma kiwi tractor"}, '"gamma kiwi tractor"')
    assert [result.path for result in found.results] == ["it.md"]
    assert work.reads <= 3 * (len(notes) + 1)


def test_the_heading_above_is_found_without_reading_up_to_it(tmp_path, monkeypatch):
    """A long section with one heading: its lines are looked through once, not again for every passage."""
    from infold.search.index.contract import Hit
    from infold.search.index.points import note_points
    from infold.vault.note import parse

    looked = 0
    heading_text = note_text.heading_text

    def counting(line):
        nonlocal looked
        looked += 1
        return heading_text(line)

    text = "# Top\n\n" + "\n\n".join(f"line {n} " + "word " * 150 for n in range(200))
    (tmp_path / "n.md").write_text(text)
    points = note_points(parse("n.md", text), "standard", Params().search).points
    texts = NoteTexts(tmp_path, Params())
    monkeypatch.setattr(note_text, "heading_text", counting)
    for point in points:
        hit = Hit(point.path, point.start_line, point.end_line, point.trail, 1.0, id=point.id)
        assert texts.stretch(hit).heading == "# Top"
    assert len(points) > 50
    assert looked <= 2 * len(points)  # that of the passage, and the nearest above


@pytest.mark.parametrize("sentences", [20, 60, 300])
def test_passages_that_share_a_line_are_found_as_they_were_cut(tmp_path, sentences):
    """Where a passage begins or ends within a line, whether two share it or many: its very text, on its lines."""
    from infold.search.index.contract import Hit
    from infold.search.index.point_ids import passage_ids
    from infold.vault.note import parse

    lines = "\n".join(" ".join(f"Kiwi {n} of {row} is ripe." for n in range(sentences)) for row in range(6))
    (tmp_path / "n.md").write_text(lines)
    cut = passages.cut(parse("n.md", lines))
    assert len(cut) > 1
    texts = NoteTexts(tmp_path, Params())
    for one, passage in zip(passage_ids("n.md", [each.text_hash for each in cut]), cut, strict=True):
        stretch = texts.stretch(Hit("n.md", passage.start_line, passage.end_line, (), 1.0, id=one))
        assert (stretch.text, stretch.start_line, stretch.end_line) == (
            passage.text,
            passage.start_line,
            passage.end_line,
        )

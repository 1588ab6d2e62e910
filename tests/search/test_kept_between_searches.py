"""What a process that stays open keeps from one search for the next: never what has changed, never without bound."""

from __future__ import annotations

import os
import sys
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.follow.moments import Moments
from infold.search.index import note_vectors
from infold.search.index.contract import Hit, best_first
from infold.search.index.note_vectors import NoteVectors
from infold.search.query import excerpts, sought_words
from infold.search.query.excerpts import KeptNotes, NoteTexts
from infold.search.query.fresh_search import LiveSearch
from infold.search.query.snippets import cut_snippet
from infold.search.query.sought_words import SoughtWords
from infold.settings import Params
from infold.workspace import Workspace


@pytest.mark.parametrize("sync", [True, False])
def test_a_note_is_shown_as_it_is_now(place, sync):
    """Of another text of the same length and time, and without a sync too, nothing of the former text is shown."""
    space = Workspace(place.vault, place.root / "state", place.vault / "inbox.md", Params())
    file = place.vault / "rye.md"
    file.write_text("# Rye\n\nA levain of rye, once.\n\nMore of the levain.\n")
    os.utime(file, ns=(10**18, 10**18))
    moments = Moments(lambda: [place.vault])
    with LiveSearch(space, NO_EMBEDDER, moments=moments) as live:
        for _ in range(2):
            assert "A levain of rye, once." in live.search("levain rye").results[0].snippet
        file.write_text("# Rye\n\nA levain of oat, once.\n\nMore of the levain.\n")
        os.utime(file, ns=(10**18, 10**18))
        said = [place_.snippet for place_ in live.search("levain rye", sync=sync).places]
        assert not any("levain of rye" in each for each in said)


def test_notes_are_kept_up_to_a_bound(tmp_path, monkeypatch):
    """The ones asked for last, by number and by length."""
    monkeypatch.setattr(excerpts, "_MOST_KEPT_CHARACTERS", 100)
    notes = KeptNotes()
    for number in range(10):
        (tmp_path / f"{number}.md").write_text("kiwi " * 8)
        NoteTexts(tmp_path, Params(), notes=notes, moment=1).stretch(Hit(f"{number}.md", 1, 1, (), 0.0, id="none"))
    kept = [number for number in range(10) if notes.get(f"{number}.md", 1, lambda: None) is not None]
    assert kept == [8, 9]


@given(st.lists(st.text(alphabet="abé ", max_size=30), max_size=8), st.integers(0, 6))
def test_words_that_were_forgotten_are_met_again(texts, most):
    """However few words are kept, every one that is sought is marked, as if nothing had been met before."""
    sought_words._met_in.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sought_words, "_MOST_WORDS", most)
        wanted = SoughtWords({"a": 1.0, "be": 0.5}, ("english",))
        for text in texts:
            snippet = cut_snippet(text, wanted)
            marks = {snippet.text[start:end] for start, end in snippet.marks}
            assert marks == {"a", "be", "bé"} & set(text.split())


SCORES = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5]), st.sampled_from("abc"), st.integers(1, 3)), max_size=20)


@given(SCORES)
def test_those_that_score_alike_stand_by_path_and_line(scored):
    """One order, whatever order they were found in."""
    hits = [Hit(path, line, line, (), 0.0, id=str(number)) for number, (_, path, line) in enumerate(scored)]
    scores = [score for score, _, _ in scored]
    order = best_first(hits, scores)
    rows = sorted(zip(scores, hits, strict=True), key=lambda row: (-row[0], row[1].path, row[1].start_line, row[1].id))
    assert [(scores[at], hits[at].id) for at in order] == [(score, hit.id) for score, hit in rows]


def test_means_are_compared_alike_one_by_one_and_at_once(tmp_path, monkeypatch):
    """A process that asks often has numpy do it: the same cosines, and the same for notes with the same mean."""
    random = np.random.default_rng(0)
    vectors = [row / np.linalg.norm(row) for row in random.normal(size=(9, 32)).astype(np.float32)]
    vectors.append(vectors[0])
    paths = [*(f"{n}.md" for n in range(10)), "none.md"]
    with closing(NoteVectors(tmp_path / "notes.sqlite")) as notes:
        notes.replace([], [(f"{n}.md", row) for n, row in enumerate(vectors)])
        at_once = notes.cosines(vectors[1], paths)
        monkeypatch.delitem(sys.modules, "numpy")
        one_by_one = notes.cosines(vectors[1], paths)
        assert "numpy" not in sys.modules
        monkeypatch.setattr(note_vectors, "_MANY", 0)
    assert one_by_one == pytest.approx(at_once, abs=1e-12)
    assert at_once["0.md"] == at_once["9.md"]
    assert "none.md" not in at_once

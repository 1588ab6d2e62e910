"""Results are notes: the best place of each, more places under it, ten notes where there are ten."""

from __future__ import annotations

import pytest

from infold.operations.memory import search_answer
from infold.search.query.fresh_search import LiveSearch
from infold.settings import Params
from infold.workspace import Workspace

LONG = "\n\n".join(
    f"## Part {n}\n\nThe heron stood in the reeds, heron number {n}, a heron still. {'Water. ' * 60}"
    for n in range(130)
)


@pytest.fixture(scope="module")
def live(tmp_path_factory, static_embedder):
    """Two notes with very many places, and twelve with one."""
    root = tmp_path_factory.mktemp("found")
    (root / "vault").mkdir()
    (root / "vault" / "long.md").write_text(f"# Herons\n\n{LONG}\n")
    (root / "vault" / "other.md").write_text(f"# Birds of the lake\n\n{LONG.replace('reeds', 'shallows')}\n")
    for n in range(12):
        (root / "vault" / f"n{n}.md").write_text(
            f"# Note {n}\n\nOn day {n} a heron came by and left. Nothing else was seen.\n"
        )
    space = Workspace(root / "vault", root / "state", root / "vault" / "inbox.md", Params())
    with LiveSearch(space, static_embedder) as opened:
        opened.search("heron")
        yield opened


@pytest.mark.parametrize("limit", [1, 3, 10, 15, 40])
def test_ten_notes_where_there_are_ten(live, limit: int):
    """However many places two long notes have; places count to the limit, and fill it."""
    answer = live.search("heron", limit=limit, min_score=0.0, sync=False)
    paths = [result.path for result in answer.results]
    assert len(paths) == len(set(paths))
    assert len(paths) >= min(limit, 10)
    assert len(answer.places) == limit


def test_more_places_are_of_the_same_note_and_no_better(live):
    """Each place once; scores fall from note to note, and within a note."""
    answer = live.search("heron", limit=30, min_score=0.0, sync=False)
    assert any(result.more for result in answer.results)
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    for result in answer.results:
        assert all(place.path == result.path for place in result.more)
        own = [result.score, *(place.score for place in result.more)]
        assert own == sorted(own, reverse=True)
    spans = [(place.path, place.start_line, place.end_line) for place in answer.places]
    assert len(spans) == len(set(spans))


def test_no_place_is_below_the_least_score(live):
    """Neither a note nor a place under one."""
    assert all(place.score >= 0.9 for place in live.search("heron", min_score=0.9, sync=False).places)


def test_the_json_has_the_places_of_a_note(live):
    """Under `more`, in the form of the results."""
    found = live.search("heron", limit=30, min_score=0.0, sync=False)
    first, shown = next(
        (each, shown)
        for each, shown in zip(
            found.groups["notebook"], search_answer(found, explain=False).results["notebook"], strict=True
        )
        if each.more
    )
    assert shown.file_path
    assert shown.more[0].as_json()["lines"] == {"start": first.more[0].start_line, "end": first.more[0].end_line}

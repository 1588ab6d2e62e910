"""Searching an index: what is found, how notes are scored, and that queries of any length stay quick."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

from infold.errors import IndexFault
from infold.search.query.searcher import NoteScore


@pytest.fixture
def searcher(place):
    """A search over the small vault, with notes in more scripts."""
    place.write("日本語.md", "このノートは全文検索について書いたものです。\n")
    place.write("code.md", "Call `getUserName()` when the server answers 404, since v3.14.\n")
    place.write("empty.md", "")
    place.sync()
    with place.searcher() as opened:
        yield opened


@pytest.mark.parametrize(
    "query, path",
    [
        ("検索", "日本語.md"),
        ("notícia", "garden/Notícias.md"),
        ("noticias", "garden/Notícias.md"),
        ("abobora", "garden/Notícias.md"),
        ("404", "code.md"),
        ("3.14", "code.md"),
        ("user name", "code.md"),
        ("getusername", "code.md"),
        ("tomato", "garden/tomatoes.md"),
        ("baking", "bread.md"),
    ],
)
def test_words_are_found_in_every_script(searcher, query: str, path: str):
    """CJK, Portuguese with and without its accents, digits, identifiers, inflections."""
    assert searcher.keyword(query, 3)[0].path == path
    assert path in searcher.candidates(query, 3)
    assert path in [hit.path for hit in searcher.hybrid(query, 3)]


@pytest.mark.parametrize("query", ["", "   ", "…", "\x00", "((("])
def test_an_empty_query_finds_nothing_by_keyword(searcher, query: str):
    """Nothing to look for is no error."""
    assert searcher.keyword(query, 5) == []
    searcher.dense(query, 5)
    searcher.hybrid(query, 5)
    searcher.candidates(query, 5)


def test_no_more_than_asked_for(searcher):
    """Limits hold, zero and less included; a note is a candidate once."""
    assert searcher.keyword("tomatoes", 0) == []
    assert searcher.candidates("tomatoes bread oven", 0) == []
    candidates = searcher.candidates("tomatoes bread oven levain", 50)
    assert len(candidates) == len(set(candidates))
    assert len(searcher.candidates("tomatoes bread oven levain", 2)) == 2


def test_hits_say_where(searcher):
    """A hit names lines and headings of the note as it stands."""
    hit = searcher.keyword("cast iron", 1)[0]
    assert (hit.path, hit.start_line, hit.end_line, hit.trail, hit.title) == (
        "bread.md",
        5,
        7,
        ("Bread", "Oven"),
        "Bread",
    )


def test_some_notes_are_scored_among_themselves(searcher):
    """Each note asked for has a score, by keyword and by meaning; unknown ones have none to show."""
    scores = searcher.score("tomatoes in the sun", ["garden/tomatoes.md", "bread.md", "nowhere.md"])
    assert scores["garden/tomatoes.md"].keyword > scores["bread.md"].keyword
    assert scores["garden/tomatoes.md"].dense > scores["bread.md"].dense
    assert scores["nowhere.md"] == NoteScore(0.0, 0.0)
    assert searcher.score("tomatoes", []) == {}
    best = searcher.keyword("tomatoes in the sun", 1)[0]
    assert scores["garden/tomatoes.md"].keyword == pytest.approx(best.score)


def test_a_long_text_is_a_query_too(searcher):
    """Six hundred words are answered at once: a tenth of a second on a machine that is thrice as slow."""
    text = " ".join(f"tomatoes want sun and word{n} too" for n in range(100))
    searcher.candidates(text, 8)
    took = []
    for _ in range(5):
        started = time.process_time()
        assert searcher.candidates(text, 8)[0] == "garden/tomatoes.md"
        took.append(time.process_time() - started)
    assert min(took) < 0.3


def test_an_open_search_follows_the_vault_and_a_rebuild(place):
    """What a sync changes is seen at once by a search that is open already, a rebuilt index too."""
    place.sync()
    with place.searcher() as searcher:
        assert searcher.keyword("levain", 3)[0].path == "bread.md"
        place.write("rye.md", "A levain of rye.\n")
        place.sync()
        assert {hit.path for hit in searcher.keyword("levain", 3)} == {"bread.md", "rye.md"}
        (place.vault / "bread.md").unlink()
        place.sync(rebuild=True)
        assert [hit.path for hit in searcher.keyword("levain", 3)] == ["rye.md"]
        assert [hit.path for hit in searcher.dense("a levain of rye", 1)] == ["rye.md"]


def test_a_generation_dropped_in_the_middle_of_a_call_is_no_fault(place):
    """A call that meets an index which was just replaced is answered from the new one."""
    place.sync()
    with place.searcher() as searcher:
        followed = searcher._index
        stale = followed._opened
        place.write("rye.md", "A levain of rye.\n")
        place.sync(rebuild=True)
        stale.close()
        current = followed.current
        answers = iter([stale])
        followed.current = lambda: next(answers, None) or current()
        assert "rye.md" in [hit.path for hit in searcher.keyword("levain rye", 3)]


def test_a_closed_search_says_so(place):
    """After the end there is nothing to ask."""
    place.sync()
    searcher = place.searcher()
    searcher.close()
    with pytest.raises(IndexFault, match="closed"):
        searcher.keyword("levain", 3)


def test_closing_twice_is_no_fault(place):
    """A search that ended twice is still only ended, and leaves the index to the next."""
    place.sync()
    searcher = place.searcher()
    searcher.close()
    searcher.close()
    assert place.found("levain") == ["bread.md"]


def test_no_network_is_touched(place, monkeypatch):
    """Static embeddings and the embedded index need none, from first sync to last search."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    place.sync()
    with place.searcher() as searcher:
        assert searcher.candidates("levain", 3)


def test_searching_loads_no_heavy_library():
    """A search from the command line loads neither parquet, nor a client of any service, nor the sync."""
    heavy = [
        "polars",
        "pyarrow",
        "openai",
        "wordllama",
        "qdrant_client",
        "infold.search.index.sync",
        "infold.catalogue",
    ]
    code = f"import sys, infold.search.query.searcher; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

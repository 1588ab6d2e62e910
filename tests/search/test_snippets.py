"""Snippets: around the match, whole words, nothing added; headings as written; questions taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search.index.contract import Hit
from infold.search.query.build_results import wanted_of
from infold.search.query.excerpts import NoteTexts
from infold.search.query.note_text import NoteText
from infold.search.query.query_parser import read_question
from infold.search.query.snippets import SNIPPET_CHARACTERS, _best_window, cut_snippet
from infold.search.query.sought_words import SoughtWords
from infold.settings import Params


def wanted(query: str) -> SoughtWords:
    return wanted_of(read_question(query), ("english",))


def marked(text: str, query: str) -> list[str]:
    snippet = cut_snippet(text, wanted(query))
    return [snippet.text[start:end] for start, end in snippet.marks]


FILLER = "nothing of note happens in this long sentence about the weather of other years. " * 20


def test_the_match_is_in_the_snippet():
    """However far down, with words before and after it."""
    text = FILLER + "Here the zebra drinks. " + FILLER
    snippet = cut_snippet(text, wanted("zebra"))
    assert "zebra" in snippet.text
    assert snippet.text in text
    assert not snippet.text.startswith("zebra")
    assert SNIPPET_CHARACTERS - 60 <= len(snippet.text) <= SNIPPET_CHARACTERS + 60


def test_the_window_with_most_of_the_words_wins():
    """Two of the words together beat one of them alone, though that stands first."""
    text = f"A zebra. {FILLER} A zebra and a lion. {FILLER}"
    assert "lion" in cut_snippet(text, wanted("zebra lion")).text


@pytest.mark.parametrize(
    "text, query, marks",
    [
        ("Bake the loaves", "baking loaf", ["Bake"]),
        ("As notícias da horta", "noticias", ["notícias"]),
        ("全文検索について", "検索", ["検索"]),
        ("全文検索について", "文検索", ["文検索"]),
        ("calls getUserName() twice", "user name", ["getUserName"]),
        ("written in C++ and C", "C++", ["C++"]),
        ("the end of THE line", '"the line"', ["THE line"]),
        ("nothing here", "zebra", []),
    ],
)
def test_matches_are_marked_in_every_form(text, query, marks):
    """Stems, diacritics, other scripts, identifiers, phrases."""
    assert marked(text, query) == marks


@given(st.text(max_size=600), st.text(max_size=40))
def test_a_snippet_is_always_a_part_of_the_text(text, query):
    """Any text, any question: a slice of the text, within bounds, its marks within it and apart."""
    snippet = cut_snippet(text, wanted(query))
    assert text[snippet.start : snippet.start + len(snippet.text)] == snippet.text
    assert len(snippet.text) <= max(SNIPPET_CHARACTERS + 80, len(query) + 80)
    at = 0
    for start, end in snippet.marks:
        assert at <= start < end <= len(snippet.text)
        at = end


@pytest.mark.parametrize(
    "asked, text, keywords, phrases",
    [
        ("where is the zebra", "where is the zebra", "zebra", ()),
        ("to be or not to be", "to be or not to be", "to be or not to be", ()),
        ("IT budget of the US", "IT budget of the US", "IT budget US", ()),
        ('the "zebra  crossing" here', "the zebra crossing here", "the zebra crossing here", ("zebra crossing",)),
        ("„Guten Tag“ «bonjour»", "Guten Tag bonjour", "Guten Tag bonjour", ("Guten Tag", "bonjour")),
        ('say "unclosed', "say unclosed", "say unclosed", ()),
        ('"…"', "…", "…", ()),
    ],
)
def test_questions_are_taken_apart(asked, text, keywords, phrases):
    """Phrases by their quotes; words that only ask are not looked for where others are left."""
    question = read_question(asked)
    assert (question.text, question.keywords, question.phrases) == (text, keywords, phrases)


@pytest.mark.parametrize(
    "text, trail, lines, heading",
    [
        ("# A\n\n## B ##\ntext\n", ("A", "B"), (3, 4), "## B ##"),
        ("Title\n=====\n\ntext\n", ("Title",), (1, 4), "Title"),
        ("# A\n\n```\n# B\n```\n", ("A",), (1, 5), "# A"),
        ("text\n", (), (1, 1), None),
        ("\ufeff# A\r\ntext\r\n", ("A",), (1, 2), "# A"),
        ("# *A* [[b|B]]\ntext\n", ("A B",), (1, 2), "# A B"),
    ],
)
def test_the_nearest_heading_as_written(tmp_path, text, trail, lines, heading):
    """The line itself; where it cannot be told among the lines, its title with a mark."""
    from infold.search.index.points import note_points
    from infold.vault.note import parse

    (tmp_path / "n.md").write_bytes(text.encode())
    point = note_points(parse("n.md", text), "standard", Params().search).points[0]
    assert point.trail == trail
    hit = Hit(point.path, point.start_line, point.end_line, point.trail, 1.0, id=point.id)
    stretch = NoteTexts(tmp_path, Params()).stretch(hit)
    assert (stretch.start_line, stretch.end_line) == lines
    assert stretch.heading == heading


@given(st.text(alphabet="ab#=- \t\n\r\ufeff", max_size=60))
def test_the_headings_of_a_note_are_the_lines_that_look_like_one(text):
    """Found in one pass over the text, as they are by a look at each line."""
    note = NoteText("n.md", text, Params().search, None)
    each = [number for number in range(1, len(note._lines) + 1) if note._is_heading(number)]
    assert sorted(set(note._heading_numbers())) == each


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.sampled_from("abc")), max_size=12), st.integers(1, 20)
)
def test_the_window_is_the_one_that_counts_most(placed, size):
    """Of all that begin with a match: by the weights of different terms, then by how many matches; the first of those."""
    weights = {"a": 1.0, "b": 0.5, "c": 0.25}
    matches = [(at, at + 1, term) for at, _, term in sorted(placed)]

    def value(first):
        inside = [match for match in matches[first:] if match[1] <= matches[first][0] + size]
        return sum(weights[term] for term in {term for _, _, term in inside}) + 0.01 * len(inside), first + len(inside)

    first, last = _best_window(matches, weights, size)
    if matches:
        best = max(value(each)[0] for each in range(len(matches)))
        assert value(first) == (pytest.approx(best), last)
        assert all(value(each)[0] < best - 1e-10 for each in range(first))


@pytest.mark.parametrize("far", [1, 40])
def test_a_heading_is_found_however_many_stand_between(tmp_path, far):
    """The last one above that looks like the passage's own, near or far; with a line end of another system too."""
    for end in ("\n", "\r\n"):
        between = "".join(f"## Other {number}{end}{end}" for number in range(far))
        text = f"# The  *top*{end}{end}{between}Text.{end}"
        note = NoteText("n.md", text, Params().search, None)
        line = 3 + 2 * far
        assert note.from_heading("Text.", line, line, ("The top",)) == ("Text.", line, line, "# The  *top*")
        for number in range(far):
            inner = note.last_heading(2, 4 + 2 * number)
            assert inner is not None
            assert (inner.line, inner.trail) == (3 + 2 * number, ("The  *top*", f"Other {number}"))
        assert note.last_heading(2, 2) is None
        assert note.last_heading(line, line) is None

"""What speaks for a passage beside its rank: titles, headings, how much of a question it covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search.index.contract import Hit
from infold.search.query.fusion import KEYWORD, MATCH, Ranking, by_strength
from infold.search.query.term_match import COVERAGE_SHARE, HEADING_SHARE, TITLE_SHARE, asked_terms, term_match

WORDS = st.sampled_from(["vault", "note", "store", "link", "kettle"])
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)


def hit(path: str, title: str = "", trail: tuple[str, ...] = (), score: float = 1.0) -> Hit:
    """A hit whose id is its path."""
    return Hit(path, 1, 2, trail, score, title=title, id=path)


def matched(question: str, hits: list[Hit], held: dict[str, set[str]]) -> dict[str, float]:
    """The scores by path; `held` says which terms each passage has."""

    def frequencies(terms):
        return dict.fromkeys(terms, 3)

    asked = asked_terms(question, ("english",), 100, frequencies)
    weights = [sum(weight for term, weight in asked.weights.items() if term in held[each.path]) for each in hits]
    found = term_match(asked, hits, weights, 100, frequencies)
    return {each.path: score for each, score in zip(found.hits, found.scored, strict=True)}


def test_a_title_that_is_the_question_counts_whole():
    """Word for word, in any form of the words, it has 1; a longer or a shorter one less; another nothing."""
    hits = [
        hit("a", "Storing vaults"),
        hit("b", "Vaults"),
        hit("c", "Storing vaults in far places"),
        hit("d", "Kettles"),
    ]
    found = matched("store vault", hits, {path: set() for path in "abcd"})
    assert found["a"] == pytest.approx(TITLE_SHARE)
    assert 0 < found["b"] < TITLE_SHARE
    assert 0 < found["c"] < TITLE_SHARE
    assert "d" not in found


def test_coverage_is_the_share_of_the_question():
    """Half of the words, equally rare, are half of it, however often they stand there."""
    found = matched("vault kettle", [hit("a"), hit("b")], {"a": {"vault"}, "b": {"vault", "kettl"}})
    assert found == {"b": pytest.approx(COVERAGE_SHARE), "a": pytest.approx(COVERAGE_SHARE / 2)}


@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
def test_scores_stay_within_bounds(question: str, names: list[tuple[str, str]]):
    """Whatever is asked and whatever notes are called, each score is above 0 and within what there is to get, best first."""
    hits = [hit(f"n{n}", title, (heading,)) for n, (title, heading) in enumerate(names)]
    scores = matched(question, hits, {each.path: {"vault"} for each in hits})
    most = TITLE_SHARE + HEADING_SHARE + COVERAGE_SHARE
    assert all(0 < score <= most + 1e-9 for score in scores.values())
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


def test_of_two_alike_by_words_the_one_that_is_named_so_comes_first():
    """A title decides between passages that rank alike."""
    words = Ranking(KEYWORD, [hit("a"), hit("b"), hit("c")], 1.0)
    assert next(by_strength([words, Ranking(MATCH, [hit("c", score=0.3)], 1.0)])).hit.path == "c"


def test_a_question_finds_the_note_about_it(place):
    """What holds all of a question once comes before a place that repeats one word of it."""
    place.write("settings.md", "# Settings\n\n" + "Vault switcher, vault icon, vault colour, vault order. " * 6)
    place.write("files.md", "# How data is kept\n\nNotes are stored in a folder of your computer, the vault.\n")
    place.write("vault.md", "# Vault\n\nA folder of notes is called so. It may lie anywhere.\n")
    for n in range(8):
        place.write(f"other{n}.md", f"# Other {n}\n\nKettles and gardens, note number {n}.\n")
    place.sync()
    with place.searcher() as searcher:
        assert searcher.hybrid("what is a vault", 5)[0].path == "vault.md"
        assert searcher.hybrid("where in the vault are my notes stored", 5)[0].path == "files.md"

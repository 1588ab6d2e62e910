"""Operators of a question: what every result has and has not, and that no text is a fault."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.search.index.contract import tags_above
from infold.search.query.fresh_search import LiveSearch
from infold.search.query.query_parser import as_text, phrase_pattern, read_question
from infold.search.terms import folded, main_terms, tokens
from infold.settings import Params
from infold.workspace import Workspace

NOTES = {
    "garden/hose.md": "---\ntags: [plan]\n---\n# Hose\n\nThe green hose leaks at the north wall. Store it dry.\n",
    "garden/wall.md": "# North wall\n\nFigs love it. The wall faces north, east of the shed. #plan/later\n",
    "garden.md": "# Garden\n\nA garden is a kept piece of land. Plans and hoses are apart.\n",
    "house/storage.md": "# Storage\n\nStored under the stairs: the storm lamp, the store-room keys. #House\n",
    "house/lamp.md": "# Lamp\n\nThe storm lamp burns paraffin. Größe: klein. 猫はここにいる。\n",
    "a folder/cats.md": "# Cats\n\nA cat is a small animal. The cats sleep in the house, 3.14 of them.\n",
}
WORDS = ["hose", "store", "stor", "north", "wall", "lamp", "cat", "garden", "storm lamp", "猫", "größe", "zzz", "3.14"]
PARTS = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS).map('"{}"'.format),
    st.sampled_from(WORDS).map("-{}".format),
    st.sampled_from(WORDS).map('-"{}"'.format),
    st.sampled_from(["hos", "stor", "no", "l", "gr", "ca"]).map("{}*".format),
    st.sampled_from(["plan", "plan/later", "#house", "none"]).map("tag:{}".format),
    st.sampled_from(["plan", "House"]).map("-tag:{}".format),
    st.sampled_from(["garden", "house/", "./house/lamp.md", '"a folder"', "nowhere"]).map("path:{}".format),
    st.sampled_from(["garden", "house/lamp"]).map("-path:{}".format),
    st.sampled_from(
        ['"', "-", "*", "tag:", "path:", "--force", "-n", "“", "«x", "-*", 'tag:"', "\x00", "(", "[a", "\\"]
    ),
)
QUIET = settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def live(tmp_path_factory, static_embedder):
    """A search over some notes with tags, folders and three scripts."""
    root = tmp_path_factory.mktemp("operators")
    for path, text in NOTES.items():
        file = root / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    space = Workspace(root / "vault", root / "state", root / "vault" / "inbox.md", Params())
    with LiveSearch(space, static_embedder) as opened:
        opened.search("garden")
        opened.fill(10)
        yield opened


def found(live, asked: str) -> set[str]:
    return {result.path for result in live.search(asked, min_score=0.0, sync=False).results}


@QUIET
@given(st.lists(PARTS, max_size=5).map(" ".join))
def test_what_is_demanded_holds_for_every_place(live, asked: str):
    """Phrases, beginnings, exclusions, tags and folders, in any mixture, valid or not."""
    question = read_question(asked)
    for place in live.search(asked, min_score=0.0, sync=False).places:
        text = NOTES[place.path]
        shown = "\n".join((place.title, *place.trail, text))
        assert all(phrase_pattern(phrase).search(shown) for phrase in question.phrases)
        assert not any(phrase_pattern(phrase).search(shown) for phrase in question.absent)
        words = [folded(token) for token in tokens(shown)]
        assert all(any(word.startswith(folded(start)) for word in words) for start in question.beginnings)
        assert set(tags_above(place.tags)).issuperset(question.tags)
        assert set(tags_above(place.tags)).isdisjoint(question.absent_tags)
        ways = (place.path, place.path.removesuffix(".md"))
        if question.folders:
            assert any(way == folder or way.startswith(f"{folder}/") for folder in question.folders for way in ways)
        assert not any(
            way == folder or way.startswith(f"{folder}/") for folder in question.absent_folders for way in ways
        )


@QUIET
@given(st.text(max_size=60))
def test_any_text_is_a_question(live, asked: str):
    """No string is a fault, for the parser, for a search, and for the hint where nothing is found."""
    question = read_question(asked)
    assert all(tokens(phrase) for phrase in (*question.phrases, *question.absent))
    live.search(asked, sync=False)


@given(st.lists(PARTS, max_size=6).map(" ".join) | st.text(max_size=80))
def test_text_that_nobody_asked_has_no_operators(text: str):
    """`as_text` keeps the words and takes the meaning from every sign."""
    question = read_question(as_text(text))
    assert question.is_plain


@given(
    st.lists(st.sampled_from(["bread", "rises", "--force", "-n", "-5", "a-b", "x:y", "http://a.b/tag:c"])).map(" ".join)
)
def test_what_is_no_operator_is_text(text: str):
    """Flags, numbers, hyphens inside words and addresses are looked for as they are."""
    question = read_question(text)
    assert question.is_plain
    assert question.text == text


@pytest.mark.parametrize(
    "asked, paths",
    [
        ("wall -figs", {"garden/hose.md"}),
        ("lamp -storing", {"house/lamp.md"}),  # in any form of the word: stored, store
        ('lamp -"storm lamp"', set()),
        ("pla*", {"garden.md", "garden/wall.md"}),
        ("tag:plan", {"garden/hose.md", "garden/wall.md"}),
        ("tag:plan -tag:plan/later", {"garden/hose.md"}),
        ("path:garden", {"garden/hose.md", "garden/wall.md", "garden.md"}),
        ("path:garden -path:garden/wall", {"garden/hose.md", "garden.md"}),
        ('path:"a folder"', {"a folder/cats.md"}),
        ("grö*", {"house/lamp.md"}),
        ("gro*", {"house/lamp.md"}),
        ("-猫 storm", {"house/storage.md"}),
        ("-garden", set()),
    ],
)
def test_operators(live, asked: str, paths: set[str]):
    """Each does what the help says."""
    assert found(live, asked) == paths


def test_a_word_that_is_still_being_typed_finds_what_begins_so(live):
    """The last word, where it stands nowhere by itself; nothing need be said of it."""
    answer = live.search("storm paraf", sync=False)
    assert answer.results[0].path == "house/lamp.md"
    assert not any("stands nowhere" in notice for notice in answer.notices)


@pytest.mark.parametrize("typed, meant", [("parrafin", "paraffin"), ("leasks", "leaks"), ("hsoe", "hose")])
def test_a_slip_of_the_keys_is_told_and_mended(live, typed: str, meant: str):
    """From all words of the notes, whatever their titles; a person is told what was looked for."""
    answer = live.search(f"{typed} dry", sync=False)
    assert answer.results
    assert any(f"“{typed}”" in notice and f"“{meant}”" in notice for notice in answer.notices)


def test_a_phrase_is_never_mended(live):
    """Quotes mean what they say."""
    assert not live.search('"parrafin"', sync=False).results


@pytest.mark.parametrize(
    "asked, hint",
    [
        ("lamp tag:none", "Nothing is tagged #none."),
        ("lamp path:cellar", "There is no note in cellar, nor one of that path."),
        ("-lamp", "Say what to look for too, beside what must not be there."),
        ("xqzt tag:plan", "Without the filters more is searched."),
    ],
)
def test_a_filter_that_nothing_meets_says_so(live, asked: str, hint: str):
    """Which one it is, rather than that nothing was found."""
    answer = live.search(asked, sync=False)
    assert not answer.results
    assert answer.hint == hint


def test_main_terms_are_the_stems():
    """What titles are compared by: the stem of each word, with repeats."""
    assert main_terms("Stored stores", "english") == ["store", "store"]

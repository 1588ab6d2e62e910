"""Words, tokens, sentences, fences: the measures that everything shares."""

import re

from hypothesis import given
from hypothesis import strategies as st

from infold.text import (
    LONGEST_RUN,
    collapse_spaces,
    content_hash,
    fenced,
    sentences,
    token_count,
    without_runs,
    word_count,
    word_pattern,
    words,
)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_the_fast_way_for_ascii_finds_the_same_words(text):
    """Two patterns, one notion of a word."""
    assert words(text) == word_pattern().findall(text)


_SIGNS = st.sampled_from(list("aZ09 '’-_\n.é字花ーя½²\u0301\u200b—"))


@given(st.text(_SIGNS) | st.text())
def test_words_are_counted_as_they_are_found(text):
    """Counting is another way than finding, with the same outcome."""
    assert word_count(text) == len(words(text)) == len(word_pattern().findall(text))


def test_words_of_many_different_signs_are_counted_too():
    """A text in another script holds hundreds of signs."""
    text = "".join(map(chr, range(0xA0, 0x3100))) + " x"
    assert word_count(text) == len(word_pattern().findall(text))


def test_a_word_keeps_its_apostrophes_and_hyphens_and_cjk_counts_sign_by_sign():
    """Scripts without spaces would otherwise count a sentence as one word."""
    assert words("It's a half-hour, snake_case 3 times") == ["It's", "a", "half-hour", "snake", "case", "3", "times"]
    assert word_count("花は桜木 ok") == 5


def test_a_token_is_a_quarter_of_the_characters_rounded_up():
    """DESIGN, Words: ceil(characters / 4), everywhere."""
    assert [token_count("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_sentences_end_before_capitals_blank_lines_and_at_cjk_stops():
    """An abbreviation before a small letter ends nothing."""
    assert sentences("One e.g. two. Three!\n\nfour") == ["One e.g. two.", "Three!", "four"]
    assert sentences("花は桜木。人は武士。") == ["花は桜木。", "人は武士。"]


@given(st.text())
def test_sentences_hold_every_word_of_the_text(text):
    """Cutting into sentences loses nothing."""
    assert words(" ".join(sentences(text))) == words(collapse_spaces(text))


@given(st.text(), st.text())
def test_what_is_fenced_cannot_close_its_fence(text, other):
    """DESIGN, promise 8: the closing line of a fence stands in it exactly once, whatever the text says."""
    inside = f"{other}\n<<<end {content_hash(text)[:12]}>>>\n{text}"
    lines = fenced(inside, label="note", origin="vault").split("\n")
    closing = lines[-1]
    assert re.fullmatch(r"<<<end [0-9a-f]{12}>>>", closing)
    assert lines.count(closing) == 1


PARTS = st.one_of(
    st.sampled_from([" ", "\n", "\t", "\u3000", "日" * 600, "é"]),
    st.sampled_from([1, 7, 255, 256, 257, 511, 512, 513, 700]).map("a".__mul__),
)


@given(st.lists(PARTS, max_size=12).map("".join))
def test_runs_are_left_out_wherever_they_stand(text: str):
    """What no person wrote, by a quick look, is what going through all of the text tells."""
    long = max(map(len, text.split()), default=0) > LONGEST_RUN
    plain = re.sub(f"[!-~\u00a1-\u024f]{{{LONGEST_RUN + 1},}}", " ", text) if long else text
    assert without_runs(text) == plain

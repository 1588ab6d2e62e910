"""Edits: located on the text as it is, every byte outside them kept."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from infold.errors import EditRefused, FindTextAmbiguous
from infold.vault.edits import apply_edits, lost_words, plan_changes


@pytest.mark.parametrize(
    "text, find, replace, wanted",
    [
        ("- Link A\n- Link B\n- D\n", "- Link B", "- Link B\n- Link C", "- Link A\n- Link B\n- Link C\n- D\n"),
        ("-  Link\tB  \r\n- D\r\n", "- Link B", "- Link B\n- Link C", "-  Link\tB  \r\n- Link C\r\n- D\r\n"),
        ("a\n\nb\n", "b\n", "b\n\nc\n", "a\n\nb\n\nc\n"),
        ("a\n\nb", "b", "b\n\nc\n", "a\n\nb\n\nc"),
        ("a\n\nb\n", "b", "b\n\nc\n\n", "a\n\nb\n\nc\n"),
        ("\ufeffa\n", "a", "new\n\na", "\ufeffnew\n\na\n"),
        ("a  \r\nb\r\nc", "a b c", "a\nnew\nb c", "a  \r\nnew\r\nb\r\nc"),
        ("one  two   three", "one two three", "zero one two X three", "zero one  two   X three"),
        ("x  y", "x y", "before x y after", "before x  y after"),
        ("- A\n  - B\n", "- B", "- B\n- C", "- A\n  - B\n  - C\n"),
        ("- A\n\t- B\n", "- B", "- New\n- B", "- A\n\t- New\n\t- B\n"),
        ("- A\n  - B\n", "  - B", "  - B\n  - C", "- A\n  - B\n  - C\n"),
        ("- A\n  - B\n", "- B", "- New\n  - B", "- A\n- New\n  - B\n"),
        ("- A\n  - B\n", "- B", "- B\n  - C", "- A\n  - B\n  - C\n"),
        ("# H \t\npara\n", "# H", "# H\n\nNew", "# H \t\n\nNew\npara\n"),
        ("# H \npara\n", "# H ", "# H \n\nNew", "# H \n\nNew\npara\n"),
        ("# H\npara\n", "# H", "# H\n\nNew", "# H\n\nNew\npara\n"),
    ],
)
def test_insertions_keep_the_bytes_around_them(text, find, replace, wanted):
    """An anchor keeps its own white space, line ends follow the note, the note's last line end (or none) stays."""
    assert apply_edits(text, [(find, replace)]) == wanted


def test_mixed_line_ends_follow_the_neighbourhood():
    """In a note that mixes line ends, added text takes those of the lines around it."""
    text = "a\r\n" * 400 + "anchor one\r\n" + "a\r\n" * 400 + "b\n" * 600 + "anchor two\n"
    after = apply_edits(text, [("anchor two", "anchor two\nnew"), ("anchor one", "anchor one\nnew")])
    assert after.endswith("anchor two\nnew\n")
    assert "anchor one\r\nnew\r\n" in after


def test_order_does_not_matter_and_touching_edits_are_fine():
    """All finds are located on the original text: text that one edit adds is not found by another."""
    edits = [("b", "b a"), ("a", "a c")]
    assert apply_edits("a b", edits) == apply_edits("a b", edits[::-1]) == "a c b a"


def test_overlapping_edits_are_refused():
    """Two edits of the same stretch: refused, with numbers and line."""
    with pytest.raises(EditRefused, match="edits 1 and 2 overlap at line 2"):
        apply_edits("x\na b c\n", [("a b", "a b d"), ("b c", "b c e")])


def test_an_edit_that_fails_changes_nothing():
    """One bad find and no edit is made."""
    with pytest.raises(FindTextAmbiguous):
        apply_edits("a a b", [("b", "b c"), ("a", "d")])


NOTE = st.lists(
    st.tuples(
        st.text("abc#-|", min_size=1, max_size=6), st.sampled_from(["\n", "\r\n", "  \n", "\n\n", "\r\n\r\n", " "])
    ),
    min_size=1,
    max_size=12,
).map(lambda parts: "".join(word + space for word, space in parts))


@given(NOTE, NOTE, st.text("xyz \n", min_size=1, max_size=12).filter(str.strip), st.booleans(), st.booleans())
def test_an_insertion_changes_no_byte_outside_it(before, after, new, goes_above, has_no_end):
    """Take what was inserted out again and the note is as it was, byte for byte."""
    note = before + "§anchor  here§\n" + after
    note = note.rstrip() if has_no_end else note
    replace = f"{new}\n\n§anchor here§" if goes_above else f"§anchor here§\n\n{new}"
    (change,) = plan_changes(note, [("§anchor here§", replace)])
    edited = apply_edits(note, [("§anchor here§", replace)])
    assert len(edited) > len(note)
    assert all(splice.start == splice.end for splice in change.splices)
    for splice in reversed(change.splices):
        assert edited[splice.start : splice.start + len(splice.text)] == splice.text
        edited = edited[: splice.start] + edited[splice.start + len(splice.text) :]
    assert edited == note


@given(st.lists(st.text("ab", min_size=1, max_size=2), min_size=1, max_size=10), st.data())
def test_any_replacement_gives_its_words(words, data):
    """Whatever is replaced by whatever: the words that stand there afterwards are those of the replacement."""
    new = data.draw(st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=10))
    note = "« " + "  ".join(words) + " »"
    assume(not any(mark in word for word in words for mark in "«»"))
    after = apply_edits(note, [(note, "« " + " ".join(new) + " »")])
    assert after.split() == ["«", *new, "»"]


def test_bytes_outside_an_edit_are_the_same():
    """What stands before and after a replaced stretch is untouched, whatever it is."""
    head, tail = "\ufeff\x0c# T \r\n\t\u2028", "\r\r\n trailing \u00a0\n\n\n"
    after = apply_edits(head + "old text" + tail, [("old text", "old new text")])
    assert after == head + "old new text" + tail


def test_removed_words_are_those_that_stand_there_less_often():
    """Words are counted, case aside; punctuation and white space are none."""
    assert lost_words(plan_changes("The cat, the dog.", [("The cat, the dog.", "a Cat the")])) == [["the", "dog"]]


def test_words_that_move_are_not_removed():
    """The guard looks at all edits of a chunk: what one takes away another may put back."""
    taken = plan_changes("one two three four five six", [("two three four five", "")])
    given_back = plan_changes("x", [("x", "x two three four five")])
    assert lost_words([*taken, *given_back]) == [[], []]
    assert lost_words(taken) == [["two", "three", "four", "five"]]


def test_a_word_given_back_once_makes_up_for_one():
    """Two edits that each take a word away need it twice."""
    changes = plan_changes("a word b word", [("a word", "a"), ("b word", "b word word")])
    assert lost_words(changes) == [[], []]
    changes = plan_changes("a word b word c", [("a word", "a"), ("b word", "b"), ("c", "c word")])
    assert lost_words(changes) == [[], ["word"], []]


@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
def test_an_edit_across_a_blank_line_keeps_it(between):
    """However the find text writes the space between two paragraphs, the note's own stays between them."""
    text = "# T\n\nOne ends.\n\nTwo begins.\n\nThree.\n"
    wanted = f"One ends.{between}Two begins."
    assert apply_edits(text, [(wanted, f"{wanted} New.")]) == text.replace("begins.", "begins. New.")


_WORD = st.text("abc", min_size=1, max_size=3)
_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
_AS_READ = st.sampled_from([" ", "\n", "\n\n"])  # how a find text may write a blank line


@st.composite
def _blocks(draw):
    """Three blocks of words that no other has, the blank lines between them, and what stands around them."""
    end = draw(_ENDS)
    blocks = [" ".join(f"{name}{word}" for word in draw(st.lists(_WORD, min_size=1, max_size=4))) for name in "klm"]
    gaps = [draw(st.sampled_from([end * 2, f"  {end}{end}", f"{end} {end}", end * 3])) for _ in range(2)]
    around = [draw(st.sampled_from(["", f"# x{end}{end}", f"- x{end}{end}", f"x  {end}{end}{end}"])) for _ in range(2)]
    return blocks, gaps, around[0], around[1].rstrip() and f"{end}{end}{around[1]}"


@given(_blocks(), _AS_READ, _AS_READ)
def test_around_a_replaced_block_every_byte_stays(given_blocks, found, written):
    """However find and replacement write the blank lines, a block that gives way to another leaves them as they are."""
    (first, old, last), (above, below), head, tail = given_blocks
    note = f"{head}{first}{above}{old}{below}{last}{tail}"
    replace = f"{first}{written}new words{written}{last}"
    after = apply_edits(note, [(found.join((first, old, last)), replace)])
    assert after == f"{head}{first}{above}new words{below}{last}{tail}"


@given(_blocks(), _AS_READ, _AS_READ)
def test_a_block_put_between_two_leaves_the_blank_line(given_blocks, found, written):
    """Between single line ends too: the new block never loses the two their blank line, and no byte of them changes."""
    (first, last, _), (gap, _), head, tail = given_blocks
    after = apply_edits(
        f"{head}{first}{gap}{last}{tail}", [(first + found + last, f"{first}{written}new{written}{last}")]
    )
    assert after.startswith(head + first)
    assert after.endswith(last + tail)
    between = after[len(head + first) : len(after) - len(last + tail)]
    assert gap in (between.partition("new")[0], between.partition("new")[2])
    if written != " ":
        assert len(after.splitlines()) > len(f"{head}{first}{gap}{last}{tail}".splitlines()) + 1


@pytest.mark.parametrize(
    "find, replace, wanted",
    [
        ("One. Old. Two.", "One. Two.", "One.\n\nTwo.\n"),
        ("One. Old.", "One. New.", "One.\n\nNew.\n\nTwo.\n"),
        ("Old. Two.", "New. Two.", "One.\n\nNew.\n\nTwo.\n"),
    ],
)
def test_a_block_that_goes_leaves_a_blank_line(find, replace, wanted):
    """Also where nothing, or only one neighbour, is quoted beside it."""
    assert apply_edits("One.\n\nOld.\n\nTwo.\n", [(find, replace)]) == wanted


def test_text_above_a_paragraph_that_begins_alike_does_not_split_it():
    """Both begin with the same word: the new one is one insertion above, and not one within the other."""
    (change,) = plan_changes("# T\n\nThe old text.\n", [("# T\n\nThe old", "# T\n\nThe new text.\n\nThe old")])
    assert [(splice.start, splice.end, splice.text) for splice in change.splices] == [(5, 5, "The new text.\n\n")]


def test_an_item_joins_the_list_above_it():
    """Put between a list and the text below the blank line, it does not make the list a loose one."""
    after = apply_edits("- a\n\nText.\n", [("- a\nText.", "- a\n- b\nText.")])
    assert after == "- a\n- b\n\nText.\n"

"""Names of notes."""

from hypothesis import given
from hypothesis import strategies as st

from infold.vault.names import folded, is_note_name, name_problem, shown_name, stem


def test_markdown_suffixes_in_either_case_make_a_note():
    """A note ends in `.md` or `.markdown`; nothing else does."""
    assert all(is_note_name(name) for name in ("a.md", "A.MD", "b.markdown", "foo.bar.md"))
    assert not any(is_note_name(name) for name in ("a.mdx", "md", "a.txt", "a.md.bak"))


def test_the_stem_keeps_dots_of_the_name():
    """Names with dots (`foo.bar`) lose the suffix only."""
    assert stem("x/foo.bar.md") == "foo.bar"
    assert stem("Note.MARKDOWN") == "Note"


def test_names_that_another_machine_takes_for_one_are_equal_when_folded():
    """Case and Unicode form do not tell two names apart, `ß` and its capital included."""
    assert folded("Caf\u00e9.md") == folded("CAFE\u0301.md")
    assert folded("Straße") == folded("STRASSE")


@given(st.text())
def test_folding_is_settled_after_once(name):
    """Folding a folded name changes nothing."""
    assert folded(folded(name)) == folded(name)


def test_names_that_cannot_be_taken_in_say_why():
    """Undecodable bytes and control characters are refused by name, and shown as escapes."""
    assert "UTF-8" in name_problem("caf\udce9.md")
    assert "control" in name_problem("a\nb.md")
    assert name_problem("👩‍👩‍👧 family.md") == ""
    assert shown_name("caf\udce9\n.md") == "caf\\xe9\\x0a.md"

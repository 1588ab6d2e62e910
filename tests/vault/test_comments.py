"""`%% comments %%`."""

from hypothesis import given
from hypothesis import strategies as st

from infold.vault.comments import comment_spans, mask
from infold.vault.note import parse
from infold.vault.outline import CharacterOffsets, outline


def hidden(text: str) -> list[str]:
    return [text[start:end] for start, end in comment_spans(text, [])]


def test_a_comment_within_a_line_ends_in_its_paragraph():
    """Inline comments stay within their block; a stray `%%` hides nothing."""
    assert hidden("a %%b%% c %%d\ne%% f") == ["%%b%%", "%%d\ne%%"]
    assert hidden("50 %% of all\n\nand 20 %% more") == []
    assert hidden("open %% for ever") == []
    assert hidden("a %%b\r\nc%% d\r\n\r\ne %%f\r\n\r\ng%%") == ["%%b\r\nc%%"]


def test_a_comment_that_opens_a_line_may_span_blocks():
    """A block comment runs over blank lines, headings and lists to its end."""
    assert hidden("x\n\n%%\n# a\n\n- b\n%%\n\ny") == ["%%\n# a\n\n- b\n%%"]
    assert hidden("> %% a\n>\n> b %% c") == ["%% a\n>\n> b %%"]


def test_in_code_the_marks_mean_nothing():
    """`%%` in a fence or in inline code opens no comment, and code in a comment does not end it."""
    found = parse("n.md", "```matlab\n%% cell\nx\n```\n\n`%% [[no]]` and [[yes]] %%\n\n")
    assert [link.target for link in found.links] == ["yes"]
    assert found.comments == ()


def test_a_comment_hides_links_tags_and_headings_but_keeps_its_place():
    """Nothing in a comment counts; everything after it is found where it stands, letters of any width included."""
    text = "# T\n\n%%\nünï 中 [[a]] #b\n\n# c\n%%\n\ntext %%é [[d]]%% [[e]] #f ^g\n"
    found = parse("n.md", text)
    assert [link.raw for link in found.links] == ["[[e]]"]
    assert [text[link.start : link.end] for link in found.links] == ["[[e]]"]
    assert (found.tags, [heading.title for heading in found.headings], found.block_ids) == (("f",), ["T"], ("g",))
    assert [block.kind.value for block in found.blocks] == ["heading", "comment", "paragraph"]
    assert [text[start:end][:3] for start, end in found.comments] == ["%%\n", "%%é"]


def test_a_heading_is_titled_without_its_comment():
    """A comment in a heading is no part of the title."""
    assert parse("n.md", "# Plan %%draft%% B\n").title == "Plan B"


@given(st.text(alphabet="%a\n é>中"))
def test_masking_keeps_every_byte_offset(text):
    """The masked text is as long in bytes, and differs within comments only."""
    spans = comment_spans(text, [])
    masked = mask(text, spans)
    assert len(masked.encode()) == len(text.encode())
    assert spans == sorted(spans)
    assert all(text[start : start + 2] == text[end - 2 : end] == "%%" and end - start >= 4 for start, end in spans)


PARTS = ["%%", "`", "```\n", "a", "\n", "\n\n", "<b>", "<!--", "-->", "$", "    x", "# h", "[[l]]", "é"]


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_reading_once_finds_what_reading_twice_finds(text):
    """Comments are those whose marks stand in no code of the note as written, however many readings that takes."""
    offsets = CharacterOffsets(text)
    code = [(offsets(start), offsets(end)) for start, end in outline(text).code]
    assert list(parse("n.md", text).comments) == comment_spans(text, code)

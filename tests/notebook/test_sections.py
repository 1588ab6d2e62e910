"""Appending to and replacing sections: the text that comes out, and every byte that must not change."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.errors import EditRefused, InfoldError, UsageError
from infold.notebook.sections import appended, appended_to_section, new_page, replaced, replaced_section
from infold.vault.note import parse

SHOPPING = """# Shopping List

## Groceries
- Milk (oat)
- Eggs (dozen)

## Hardware Store
- Light bulbs (LED, warm white)
- WD-40
"""


def test_a_section_gets_a_line_where_its_list_ends():
    """The specification's example: an item joins the list of its section, and the next section stays where it was."""
    new = appended_to_section(SHOPPING, "## Groceries", "- Asparagus").text
    assert new == SHOPPING.replace("- Eggs (dozen)\n", "- Eggs (dozen)\n- Asparagus\n")


def test_a_section_is_named_with_or_without_its_marks():
    """`Groceries`, `## Groceries` and `groceries` are the same section."""
    wanted = appended_to_section(SHOPPING, "## Groceries", "- Tea").text
    assert appended_to_section(SHOPPING, "Groceries", "- Tea").text == wanted
    assert appended_to_section(SHOPPING, " groceries ", "- Tea").text == wanted


def test_a_replaced_section_leaves_the_next_alone():
    """Only the body between the two headings goes."""
    new = replaced_section(SHOPPING, "Groceries", "- Tea").text
    assert new == SHOPPING.replace("- Milk (oat)\n- Eggs (dozen)\n", "- Tea\n")


def test_a_missing_section_is_made_at_the_end():
    """As a second level heading, or at the level that was written."""
    assert appended_to_section(SHOPPING, "Books", "- Emma").text == f"{SHOPPING}\n## Books\n- Emma\n"
    assert replaced_section(SHOPPING, "### Books", "- Emma").text == f"{SHOPPING}\n### Books\n- Emma\n"


def test_a_replaced_section_goes_with_its_subsections_and_says_so():
    """Sub-sections belong to a section; a section of the same level does not."""
    text = "## A\none\n\n### A1\ntwo\n\n#### A1a\nthree\n\n## B\nfour\n"
    done = replaced_section(text, "A", "new")
    assert done.text == "## A\nnew\n\n## B\nfour\n"
    assert "'A1', 'A1a'" in done.what


def test_an_appended_text_goes_before_the_subsections():
    """It belongs to the section itself, not to whatever part comes last."""
    text = "## A\none\n\n### A1\ntwo\n"
    assert appended_to_section(text, "A", "more").text == "## A\none\n\nmore\n\n### A1\ntwo\n"


def test_a_heading_in_code_or_a_comment_is_no_section():
    """`## ` inside a fence neither is a section nor ends one."""
    text = "## A\n```md\n## B\n```\n%%\n## B\n%%\n\n## C\n"
    assert appended_to_section(text, "B", "x").text == f"{text}\n## B\nx\n"
    assert replaced_section(text, "A", "x").text == "## A\nx\n\n## C\n"


def test_the_title_over_sections_is_not_replaced_as_a_section():
    """That would be the whole page by another name."""
    with pytest.raises(EditRefused, match="2 sections"):
        replaced_section(SHOPPING, "# Shopping List", "x")
    assert replaced_section("# Only\nold\n", "Only", "new").text == "# Only\nnew\n"


def test_one_name_for_two_sections_is_refused_until_told_apart():
    """The lines are named; the heading above tells which is meant, and so does the level."""
    text = "# Food\n## Fruit\n- fig\n# Trees\n## Fruit\n- pear\n### Notes\n"
    with pytest.raises(EditRefused, match="lines 2, 5"):
        appended_to_section(text, "Fruit", "- x")
    assert appended_to_section(text, "Trees > Fruit", "- x").text == text.replace("- pear\n", "- pear\n- x\n")
    assert "### Notes\n- x" in appended_to_section(text, "Notes", "- x").text


def test_the_heading_may_be_repeated_in_the_text():
    """Text that begins with its section's heading does not double it."""
    new = replaced_section(SHOPPING, "Groceries", "## Groceries\n\n- Tea\n").text
    assert new.count("## Groceries") == 1
    assert "## Groceries\n- Tea\n\n## Hardware" in new


@pytest.mark.parametrize("content", ["## Other\nx", "text\n\n# Title", "Title\n=====\n", "a\n\nSecond\n---\n"])
def test_text_that_would_end_the_section_is_refused(content):
    """A heading of the section's level or above, underlined ones too, is another section."""
    with pytest.raises(EditRefused, match="would end the section"):
        replaced_section(SHOPPING, "Groceries", content)


@pytest.mark.parametrize("content", ["```\ncode", "~~~~\n~~~", "<!-- hidden", "- a\n\n<pre>\nx"])
def test_text_that_leaves_something_open_is_refused(content):
    """An open fence or comment would swallow what follows."""
    with pytest.raises(EditRefused, match="never closes"):
        appended_to_section(SHOPPING, "Groceries", content)


def test_a_page_whose_code_never_closes_is_not_appended_to():
    """The text would stand in the code block, where nobody reads it."""
    with pytest.raises(EditRefused, match="line 3 of the page"):
        appended("# A\n\n```\ncode\n", "more")


def test_front_matter_is_never_doubled():
    """Text with front matter of its own is refused, in a section too; a page gets it only when it is made."""
    front = "---\ntags: [a]\n---\n"
    page = f"{front}# A\n"
    for call in (
        lambda: appended(page, f"{front}x"),
        lambda: appended_to_section(page, "B", f"{front}x"),
        lambda: replaced(page, "---\ntags: [b]\n---\nx"),
    ):
        with pytest.raises(EditRefused, match="front matter"):
            call()
    assert new_page(f"{front}x", None).text == f"{front}x\n"


def test_a_page_that_is_written_back_whole_keeps_its_front_matter():
    """What was read with its front matter may be written with it: the same is not another."""
    page = "---\r\ntags: [a]\r\n---\r\n\r\n# A\r\nold\r\n"
    assert replaced(page, "---\ntags: [a]\n---\n\n# A\nnew\n").text == page.replace("old", "new")
    assert replaced(page, "# A\nnew").text == page.replace("old", "new")
    assert replaced("---\na: 1\n---\n", "x").text == "---\na: 1\n---\n\nx\n"


@pytest.mark.parametrize("content", ["", "  \n\t\n", "\ufeff"])
def test_nothing_is_not_written(content):
    """Empty text is refused kindly, wherever it should go."""
    for call in (lambda: appended("x", content), lambda: replaced_section(SHOPPING, "Groceries", content)):
        with pytest.raises(UsageError, match="no text"):
            call()


def test_line_ends_bom_and_a_missing_last_line_end_stay():
    """What is added has the page's line ends; a page without a last line end stays without."""
    page = "\ufeff# A\r\n\r\n## B\r\n- one"
    assert appended_to_section(page, "B", "- two\n- three").text == f"{page}\r\n- two\r\n- three"
    assert appended(page, "end").text == f"{page}\r\n\r\nend"


def test_a_table_gets_a_row_and_a_paragraph_a_paragraph():
    """Rows join the table; text after text is a paragraph of its own."""
    table = "## T\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert appended_to_section(table, "T", "| 3 | 4 |").text == f"{table}| 3 | 4 |\n"
    assert appended("one\n", "two").text == "one\n\ntwo\n"


def test_an_empty_page_and_an_empty_section_take_text():
    """With one line end below a heading, or as the page's other sections have it."""
    assert appended("", "x").text == "x\n"
    assert appended("\n\n", "x").text == "x\n\n"
    assert appended_to_section("## A\n\n## B\ny\n", "A", "x").text == "## A\nx\n\n## B\ny\n"
    assert appended_to_section("## A\n\none\n\n## B\n", "B", "x").text == "## A\n\none\n\n## B\n\nx\n"


def test_a_heading_right_below_the_body_stays_a_heading():
    """An underlined heading without a blank line above it is not swallowed by the text before it."""
    text = "## A\n```\nx\n```\nNext\n----\ny\n"
    new = appended_to_section(text, "A", "paragraph").text
    assert new == "## A\n```\nx\n```\n\nparagraph\n\nNext\n----\ny\n"


LINES = st.sampled_from([
    "# Title", "## A", "## B", "### Sub", "text", "- item", "  - nested", "```", "~~~", "%%", "| a | b |", "|---|---|",
    "<!-- c", "-->", "---", "===", "", "   ", "> quote", "<div>", "1. one", "    code", "[^1]: note", "$$", "Ünï — 漢字",
])  # fmt: skip
PAGES = st.builds(
    lambda front, lines, end, last: (front + "".join(f"{line}{end}" for line in lines)).removesuffix(
        "" if last else end
    ),
    st.sampled_from(["", "\ufeff", "---\na: 1\n---\n"]),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
CONTENTS = st.lists(LINES, min_size=1, max_size=5).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(PAGES, CONTENTS, st.sampled_from(["A", "B", "### Sub", "New"]))
def test_appending_only_adds(page, content, section):
    """Whatever the page: all of its bytes are there still, in order, and each of its headings is one still."""
    for write in (lambda: appended(page, content), lambda: appended_to_section(page, section, content)):
        try:
            new = write().text
        except InfoldError:
            continue
        start = next((n for n, (a, b) in enumerate(zip(page, new, strict=False)) if a != b), min(len(page), len(new)))
        assert new.endswith(page[start:])
        assert len(new) > len(page)
        old, now = ([heading.raw for heading in parse("", text).headings] for text in (page, new))
        for heading in now:
            if old and heading == old[0]:
                old.pop(0)
        assert not old


@settings(max_examples=300, deadline=None)
@given(PAGES, CONTENTS, st.sampled_from(["A", "B", "### Sub"]))
def test_replacing_a_section_changes_nothing_outside_it(page, content, section):
    """All before the section's body and all from the next heading of its level on are the same bytes."""
    note = parse("", page)
    found = [h for h in note.headings if h.title == section.lstrip("# ")]
    try:
        new = replaced_section(page, section, content).text
    except InfoldError:
        return
    if len(found) != 1:
        return
    heading = found[0]
    end = next((h.start for h in note.headings if h.start > heading.start and h.level <= heading.level), len(page))
    assert new.startswith(page[: heading.end])
    assert new.endswith(page[end:])
    assert len(parse("", new).headings) >= len([h for h in note.headings if not heading.start < h.start < end])

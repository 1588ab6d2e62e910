"""Numbering the inbox."""

from hypothesis import given
from hypothesis import strategies as st

from infold.inbox.paragraphs import number_paragraphs


def texts(inbox: str) -> list[str]:
    return [p.paragraph.text for p in number_paragraphs(inbox)]


def test_blank_lines_set_paragraphs_apart_and_numbers_count_from_one():
    """Spec 1, Phase 1: number each paragraph in the inbox."""
    found = number_paragraphs("First thought,\nover two lines.\n\nSecond.\n")
    assert [(p.paragraph.n, p.paragraph.text) for p in found] == [
        (1, "First thought,\nover two lines."),
        (2, "Second."),
    ]


def test_the_frame_of_the_inbox_is_no_paragraph():
    """Front matter, headings, rules and comments carry no paragraph and stay where they are."""
    inbox = "---\ntags: [in]\n---\n# Inbox\n\n%% fold me %%\n\nOne.\n\n---\n\n## Later\n\nTwo.\n"
    assert texts(inbox) == ["One.", "Two."]


def test_a_paragraph_knows_the_headings_above_it_but_not_the_title():
    """The inbox's own headings are context for a paragraph; the title says nothing about it."""
    found = number_paragraphs("# Inbox\n\nOne.\n\n## Garden\n\nTwo.\n")
    assert [p.paragraph.trail for p in found] == [(), ("Garden",)]


def test_a_list_of_sentences_counts_item_by_item():
    """Bullets that are whole thoughts may belong to different notes."""
    inbox = (
        "- The rear tyre was soft again on Friday morning, so more sealant.\n"
        "- Rye wants a core of ninety-eight degrees before it leaves the oven.\n"
    )
    assert len(texts(inbox)) == 2


def test_a_list_of_words_is_one_paragraph_and_stays_with_its_announcement():
    """A shopping list is one thing, and so is the line that announces it."""
    inbox = "For the weekend:\n\n- salmon\n- asparagus\n- wine\n\nNext thing.\n"
    assert texts(inbox) == ["For the weekend:\n\n- salmon\n- asparagus\n- wine", "Next thing."]


def test_a_numbered_list_is_a_sequence():
    """Steps are never torn apart."""
    inbox = (
        "1. Take the wheel off and let all of the air out of it.\n"
        "2. Push both beads into the well and lever one of them over.\n"
    )
    assert len(texts(inbox)) == 1


def test_code_with_blank_lines_is_one_paragraph():
    """A blank line inside a fence sets nothing apart."""
    assert texts("```\na\n\nb\n```\n") == ["```\na\n\nb\n```"]


def test_nothing_is_no_paragraph():
    """An empty inbox has no paragraph."""
    assert texts("") == texts("\n\n  \n") == texts("# Inbox\n") == []


def test_crlf_and_bom_do_not_matter():
    """Line ends and a BOM are no part of where a paragraph ends."""
    assert texts("\ufeffOne.\r\n\r\nTwo.\r\n") == ["One.", "Two."]


@given(st.text(alphabet=st.sampled_from(list("ab.-#>`|1 \t\n\r:*[]%é漢")), max_size=120))
def test_paragraphs_are_disjoint_in_order_and_inside_the_text(inbox):
    """Each paragraph is a slice of the inbox; none overlaps another; numbers follow their order."""
    found = number_paragraphs(inbox)
    assert [p.paragraph.n for p in found] == list(range(1, len(found) + 1))
    position = 0
    for p in found:
        assert position <= p.start < p.end <= len(inbox)
        assert inbox[p.start : p.end] == p.paragraph.text
        position = p.end

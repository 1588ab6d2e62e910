"""Numbering the inbox."""

from hypothesis import given
from hypothesis import strategies as st

from infold.inbox.inbox_text import remove_paragraphs
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


def test_each_item_of_a_list_is_a_paragraph_of_its_own():
    """Bullets are thoughts that may belong to different notes; a task stays a task, and nesting stays."""
    inbox = "- salmon\n- [ ] ask the dentist\n  - by phone\n\n    with a number\n- [x] wine\n\n* tyres\n"
    assert texts(inbox) == [
        "- salmon",
        "- [ ] ask the dentist\n  - by phone\n\n    with a number",
        "- [x] wine",
        "* tyres",
    ]


def test_a_lead_in_is_one_with_its_list_or_its_code():
    """A line that announces, or that runs into a list, stays with what it leads to."""
    assert texts("For the weekend:\n\n- salmon\n- wine\n\nNext thing.\n") == [
        "For the weekend:\n\n- salmon\n- wine",
        "Next thing.",
    ]
    assert texts("Moved to a new machine\n- hotkeys gone\n- themes kept\n") == [
        "Moved to a new machine\n- hotkeys gone\n- themes kept"
    ]
    assert texts("So it is called:\n\n```\na\n\nb\n```\n\nDone.\n") == [
        "So it is called:\n\n```\na\n\nb\n```",
        "Done.",
    ]
    assert texts("A thought.\n\n- another\n- a third\n") == ["A thought.", "- another", "- a third"]


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


JOTTED = st.sampled_from(
    [
        "- a\n- b\n- c",
        "- a\n\n- b\n  - nested\n\n  still b",
        "Lead:\n- x\n- y",
        "1. one\n2. two",
        "* [ ] task",
        "```\ncode\n\n- no item\n```",
        "Prose over\ntwo lines.",
        "## Heading",
        "---",
        "- lazy\nline",
        "| a |\n|---|\n| b |",
    ]
)


@given(st.lists(JOTTED, max_size=6), st.sampled_from(["\n\n", "\r\n\r\n"]), st.data())
def test_taking_paragraphs_out_keeps_the_others_byte_for_byte(jotted, between, data):
    """Whatever is integrated, what stays has the same text in the same order, and every piece of it byte for byte.

    What stood apart only by what was taken out may be numbered as one from then on: a list after another's lead-in.
    """
    inbox = between.join(block.replace("\n", between[: len(between) // 2]) for block in jotted) + between
    found = number_paragraphs(inbox)
    taken = data.draw(st.sets(st.sampled_from(range(len(found))))) if found else set()
    rest = remove_paragraphs(inbox, [(p.start, p.end) for n, p in enumerate(found) if n in taken])
    kept = [p.paragraph.text for n, p in enumerate(found) if n not in taken]
    assert [word for text in texts(rest) for word in text.split()] == [word for text in kept for word in text.split()]
    at = 0
    for text in kept:
        at = rest.index(text, at) + len(text)

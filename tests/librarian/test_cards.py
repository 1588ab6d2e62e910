"""Spec 1's File Annotation Format, to the letter."""

from __future__ import annotations

from infold.librarian.answers import NoteCard
from infold.librarian.cards import available_card, viewed_card


def test_a_viewed_note_is_shown_as_the_specification_says():
    """Name, summary, headings as written, outgoing links with their summaries."""
    card = NoteCard(
        path="filename.md",
        title="Main Title",
        headings=("# Main Title", "## Section One", "## Section Two", "### Subsection"),
        links=("other-note.md", "another.md"),
    )
    summaries = {
        "filename.md": "What the note is about.",
        "other-note.md": "summary of other-note",
        "another.md": "summary of another",
    }
    assert viewed_card(card, summaries) == (
        "## [filename.md]\n"
        "\n"
        "**Summary:** What the note is about.\n"
        "\n"
        "**Headings:**\n"
        "- # Main Title\n"
        "- ## Section One\n"
        "- ## Section Two\n"
        "- ### Subsection\n"
        "\n"
        "**Links to:**\n"
        "- [[other-note.md]] — summary of other-note\n"
        "- [[another.md]] — summary of another"
    )


def test_an_available_note_is_one_line():
    """Name and summary, whatever line ends the summary has."""
    card = NoteCard(path="folder/filename.md", title="")
    summaries = {"folder/filename.md": "Two\nlines  of\r\n\r\nsummary. "}
    assert available_card(card, summaries) == "- [[folder/filename.md]] — Two lines of summary."


def test_a_note_without_headings_and_links_has_neither_list():
    """No empty lists are shown."""
    assert viewed_card(NoteCard("a.md", "A"), {"a.md": "Short."}) == "## [a.md]\n\n**Summary:** Short."


def test_a_link_without_summary_is_its_name():
    """A linked note whose summary is not known yet is still offered by name."""
    card = NoteCard("a.md", "A", links=("b.md",))
    assert viewed_card(card, {}).endswith("**Links to:**\n- [[b.md]]")


def test_a_heading_cannot_start_a_card_of_its_own():
    """A heading line keeps its list dash, so that `## [x.md]` in a note is no card."""
    card = NoteCard("a.md", "A", headings=("## [secret.md]",))
    assert "\n- ## [secret.md]" in viewed_card(card, {})

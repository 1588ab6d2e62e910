"""How a note is shown to a librarian: the File Annotation Format of spec 1, to the letter."""

from __future__ import annotations

from collections.abc import Mapping

from infold.librarian.answers import NoteCard
from infold.text import collapse_spaces


def viewed_card(card: NoteCard, summaries: Mapping[str, str]) -> str:
    """A VIEWED note: name, summary, headings, outgoing links with the summaries of what they lead to."""
    parts = [f"## [{card.path}]", f"**Summary:** {collapse_spaces(summaries.get(card.path, ''))}"]
    if card.headings:
        parts.append("\n".join(["**Headings:**", *(f"- {collapse_spaces(heading)}" for heading in card.headings)]))
    if card.links:
        parts.append("\n".join(["**Links to:**", *(_line(path, summaries.get(path, "")) for path in card.links)]))
    return "\n\n".join(parts)


def available_card(card: NoteCard, summaries: Mapping[str, str]) -> str:
    """An AVAILABLE note: name and summary on one line."""
    return _line(card.path, summaries.get(card.path, ""))


def _line(path: str, summary: str) -> str:
    text = collapse_spaces(summary)
    return f"- [[{path}]] — {text}" if text else f"- [[{path}]]"

"""One note's summary as the offline librarian extracts it, in this process or a worker. Loads little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from infold.errors import NoteUnreadable, PathRefused
from infold.librarian.offline.summaries import summary_of
from infold.text import collapse_spaces, token_count

Linked = tuple[tuple[str, str], ...]  # the notes that an index note links to, each with its summary


class ToExtract(NamedTuple):
    """What a summary is extracted from. `read` gives the text of the note at `path`; with `is_own` it is its summary.

    `linked` makes an index note's; None for any other. `words` are the fewest and the most.
    """

    path: str
    read: Callable[[], str]
    is_own: bool
    linked: Linked | None
    words: tuple[int, int]


class Extracted(NamedTuple):
    """A summary, and the tokens read and written."""

    summary: str
    tokens_in: int
    tokens_out: int


def extracted(wanted: Sequence[ToExtract]) -> list[Extracted | None]:
    """The summaries of notes; None of one that cannot be read."""
    return [_extracted(each) for each in wanted]


def _extracted(wanted: ToExtract) -> Extracted | None:
    try:
        text = wanted.read()
    except (NoteUnreadable, PathRefused):
        return None
    if wanted.is_own:
        return Extracted(collapse_spaces(text), 0, 0)
    summary = summary_of((text, wanted.linked, *wanted.words))
    return Extracted(summary, tokens_shown(text, wanted.linked), token_count(summary))


def tokens_shown(text: str, linked: Linked | None) -> int:
    """The tokens of what is shown: a note's text, or for an index note the summaries of its linked notes."""
    if linked is None:
        return token_count(text)
    return sum(token_count(name) + token_count(summary) for name, summary in linked)

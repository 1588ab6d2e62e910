"""What the inbox says that a note says otherwise: told in the run, so that nothing is filed beside its opposite unseen.

The notes that a chunk's librarian looked at are compared with its paragraphs, sentence by sentence, by the same check
that `infold lint` makes of the whole vault. It only tells; where the text goes is the librarian's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final

from infold.errors import NoteUnreadable, PathRefused
from infold.inbox.planning import PlannedOutcome
from infold.librarian.answers import Chunk
from infold.librarian.offline.contradictions import Claim, claimed, contradictions, statements
from infold.vault.note import parse
from infold.vault.records import Note

_MOST_NOTES: Final = 20  # of a chunk
_LONGEST: Final = 20_000  # characters of a paragraph; what is longer is a page, or data
_NEWEST: Final = "9999-12-31"  # what arrives now is newer than anything that stands somewhere


def differences(
    note: Callable[[str], Note], chunks: Iterable[Chunk], outcomes: Mapping[int, PlannedOutcome]
) -> tuple[str, ...]:
    """A sentence for each statement of the inbox that a note says otherwise: both quotes, and where the note stands.

    `note` gives the note at a path.
    """

    @cache
    def said_in(path: str) -> list[Claim]:
        try:
            return claimed(statements(note(path)))
        except (NoteUnreadable, PathRefused):
            return []

    found: dict[str, None] = {}
    for chunk in chunks:
        exploration = outcomes[chunk.id].exploration
        paths = dict.fromkeys((*exploration.checked_out, *exploration.viewed))
        known = [claim for path in list(paths)[:_MOST_NOTES] for claim in said_in(path)]
        for paragraph in (one for one in chunk.paragraphs if len(one.text) <= _LONGEST):
            for pair in contradictions(statements(parse("", paragraph.text), _NEWEST), known):
                where = f"{pair.older.path}:{pair.older.line}"
                told = f'Paragraph {paragraph.n} differs from {where}: "{pair.newer.text}" there: "{pair.older.text}"'
                found[told] = None
    return tuple(found)

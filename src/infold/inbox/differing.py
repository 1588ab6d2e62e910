"""What the inbox says that a note says otherwise: told in the run, so that nothing is filed beside its opposite unseen.

The notes that a chunk's librarian looked at are compared with its paragraphs, sentence by sentence, by the same check
that `infold lint` makes of the whole vault. It only tells; where the text goes is the librarian's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from infold.errors import NoteUnreadable, PathRefused
from infold.inbox.planning import Outcome
from infold.librarian.answers import Chunk
from infold.librarian.offline.contradictions import Statement, contradictions, statements
from infold.vault.files import decode, read_bytes
from infold.vault.note import parse
from infold.workspace import Workspace

_MOST_NOTES: Final = 20  # of a chunk
_NEWEST: Final = "9999-12-31"  # what arrives now is newer than anything that stands somewhere


def differences(workspace: Workspace, chunks: Iterable[Chunk], outcomes: Mapping[int, Outcome]) -> tuple[str, ...]:
    """A sentence for each statement of the inbox that a note says otherwise: both quotes, and where the note stands."""

    @cache
    def said_in(path: str) -> tuple[Statement, ...]:
        try:
            text = decode(read_bytes(workspace.vault, path, workspace.params.vault.max_note_bytes), path)
        except (NoteUnreadable, PathRefused):
            return ()
        return tuple(statements(parse(path, text)))

    found: dict[str, None] = {}
    for chunk in chunks:
        exploration = outcomes[chunk.id].exploration
        paths = dict.fromkeys((*exploration.checked_out, *exploration.viewed))
        known = [said for path in list(paths)[:_MOST_NOTES] for said in said_in(path)]
        for paragraph in chunk.paragraphs:
            for pair in contradictions(statements(parse("", paragraph.text), _NEWEST), known):
                where = f"{pair.older.path}:{pair.older.line}"
                told = f'Paragraph {paragraph.n} differs from {where}: "{pair.newer.text}" there: "{pair.older.text}"'
                found[told] = None
    return tuple(found)

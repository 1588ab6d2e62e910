"""Phase 4: the edits of one chunk, asked for and put into a draft of the vault (spec 1).

A `WorkingCopy` is the vault as it will be: notes as they are on disk, with the edits of earlier chunks in them. Nothing
here writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from infold.errors import NoteUnreadable, PathRefused
from infold.inbox.exploration import Exploration
from infold.inbox.run import EditRecord, RunPart
from infold.librarian.answers import Chunk, EditRequest, OpenNote
from infold.librarian.base import Librarian
from infold.librarian.spend import Usage
from infold.settings import EditingParams
from infold.vault.edits import apply_edits
from infold.vault.files import decode
from infold.vault.match import find_once
from infold.vault.splices import white_space_at_ends


class ChunkEdits(RunPart):
    """The librarian's answer for one chunk: edits, and paragraphs left out with their reasons."""

    edits: tuple[EditRecord, ...] = ()
    left: dict[int, str] = Field(default_factory=dict)
    transcript: tuple[dict[str, Any], ...] = ()
    usage: Usage = Usage()


async def ask_for_edits(
    chunk: Chunk,
    exploration: Exploration,
    notes: tuple[OpenNote, ...],
    librarian: Librarian,
    params: EditingParams,
    refused: str = "",
) -> ChunkEdits:
    """Takes the chunk's conversation up where exploration left it and asks for edits of the checked-out notes."""
    conversation = librarian.conversation(chunk, exploration.transcript)
    request = EditRequest(chunk, notes, params, refused)
    answer = await conversation.edit(request)  # which keeps every rule: who answers has it checked, and nobody again
    texts = {note.path: note.text for note in notes}
    return ChunkEdits(
        edits=tuple(
            EditRecord(
                file=edit.file,
                kind="duplicate" if edit.is_duplicate else "edit",
                find=_as_it_stands(edit.find, texts[edit.file]),
                replace=None if edit.is_duplicate else edit.replace,
                paragraphs=tuple(answer.paragraphs_of(edit, chunk)),
                reason=edit.reason,
            )
            for edit in answer.edits
        ),
        left={entry.paragraph: entry.reason for entry in answer.left},
        transcript=conversation.transcript,
        usage=conversation.usage,
    )


def _as_it_stands(find: str, text: str) -> str:
    """The find text with the note's own white space between its words."""
    lead, core, tail = white_space_at_ends(find)
    place = find_once(text, core)
    return lead + text[place.start : place.end] + tail


@dataclass
class WorkingCopy:
    """Notes with the edits so far. `read` gives a note's bytes as they are on disk."""

    read: Callable[[str], bytes]
    before: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def open(self, paths: Iterable[str]) -> tuple[OpenNote, ...]:
        """The checked-out notes as they are now; one that cannot be read any more is left out."""
        notes = []
        for path in paths:
            if path not in self.texts:
                try:
                    data = self.read(path)
                    text = decode(data, path)
                except (NoteUnreadable, PathRefused):
                    continue
                self.before[path], self.texts[path] = data, text
            notes.append(OpenNote(path, self.texts[path]))
        return tuple(notes)

    def apply(self, edits: Iterable[EditRecord]) -> None:
        """Puts one chunk's edits into the draft. All of them or none: an EditRefused leaves the draft as it was."""
        by_file: dict[str, list[tuple[str, str]]] = {}
        for edit in edits:
            if edit.kind == "edit":
                by_file.setdefault(edit.file, []).append((edit.find, edit.replace or ""))
        changed = {path: apply_edits(self.texts[path], pairs) for path, pairs in by_file.items()}
        self.texts.update(changed)

    def changes(self) -> dict[str, tuple[bytes, bytes]]:
        """Path to (before, after) of every note that differs from the disk, in path order."""
        pairs = {path: (self.before[path], text.encode()) for path, text in sorted(self.texts.items())}
        return {path: (before, after) for path, (before, after) in pairs.items() if before != after}

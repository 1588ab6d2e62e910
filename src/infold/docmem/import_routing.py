"""An incoming document or thread, from a file or from text at hand, and its way to where it was proposed to go.

Files are imported as `importing` does it. A thread, which is a transcript in JSON lines, goes below a tree as a
`chat_session` of its own; where none fits, it is imported as the notebook's session.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infold.docmem.chats import import_transcript
from infold.docmem.importing import form_of, import_file, import_text
from infold.docmem.place import child_of
from infold.errors import ImportRefused, NoteUnreadable
from infold.notebook.transcripts import SUFFIX, read_transcript

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Document:
    """What came in: from `file`, or text without one. `text` is what it says, of a thread who said it too."""

    name: str
    text: str
    file: Path | None = None


def read_document(file: Path) -> Document:
    """A document or a thread, by its name. Raises ImportRefused where it cannot be read or says nothing."""
    try:
        if file.suffix.casefold() == SUFFIX:
            turns = read_transcript(file).turns
            said = "\n\n".join(f"{turn.role}: {turn.text}" for turn in turns)
            document = Document(file.name, said, file)
        else:
            document = Document(file.name, file.read_bytes().decode(), file)
    except (NoteUnreadable, OSError, UnicodeDecodeError) as error:
        raise ImportRefused(f"{file} cannot be read: {error}", hint="Name a text in UTF-8.") from error
    if not document.text.strip():
        raise ImportRefused(f"{file.name} holds no text.", hint="Name a file that does.")
    return document


def import_document(memory: Docmem, workspace: Workspace, document: Document, target: Node | None) -> Node:
    """Imports a document below `target`, or as a tree of its own; gives the upmost node of it.

    Raises what `importing` and `chats` raise, and NodeNotFound where the target is gone.
    """
    place = child_of(target.id) if target is not None else None
    if document.file is None:
        return import_text(memory, document.text, document.name, "markdown", place).node
    if place is None and form_of(document.file.name) == "transcript":
        return import_transcript(memory, workspace, document.file).root
    return import_file(memory, document.file, place=place).node

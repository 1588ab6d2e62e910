"""An incoming document or thread, from a file or from text at hand, and its way to where it was proposed to go.

Files are imported as `importing` does it. A thread, which is a transcript in JSON lines, goes below a tree as a
`chat_session` of its own; where none fits, it is imported as the notebook's session.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infold.docmem.chats import import_transcript
from infold.docmem.documents import markdown_draft
from infold.docmem.drafts import Draft, plant, shortened
from infold.docmem.importing import import_file
from infold.docmem.node import Context
from infold.docmem.place import child_of
from infold.errors import ImportRefused, NoteUnreadable
from infold.notebook.transcripts import SUFFIX, Turn, read_transcript

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Document:
    """What came in: from `file`, or text without one. `turns` are those of a thread."""

    name: str
    text: str
    file: Path | None = None
    turns: tuple[Turn, ...] = ()


def read_document(file: Path) -> Document:
    """A document or a thread, by its name. Raises ImportRefused where it cannot be read or says nothing."""
    try:
        if file.suffix.casefold() == SUFFIX:
            turns = read_transcript(file).turns
            said = "\n\n".join(f"{turn.role}: {turn.text}" for turn in turns)
            document = Document(file.name, said, file, tuple(turns))
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
    if document.turns and document.file is not None and place is None:
        return import_transcript(memory, workspace, document.file).root
    if document.file is not None and not document.turns:
        return import_file(memory, document.file, place=place).node
    draft = _thread(document) if document.turns else _text(document, is_part=place is not None)
    with memory.store.writing() as rows:
        return plant(rows, draft, place)


def _text(document: Document, *, is_part: bool) -> Draft:
    draft = markdown_draft(document.text, document.name, "document" if is_part else "root")
    if not draft.children:
        raise ImportRefused(f"{document.name} holds no text.", hint="Give a text that does.")
    return draft


def _thread(document: Document) -> Draft:
    draft = Draft(Context("chat_session", "thread", shortened(document.name.removesuffix(SUFFIX))), is_readonly=True)
    for turn in document.turns:
        draft.add(Context("message", "role", shortened(turn.role)), turn.text)
    return draft

"""Files and notes of the vault as trees: read whole, checked, then planted in one transaction (spec 2, Import).

What a document becomes belongs to `documents`, `toml_trees` and `chats`; one that changed to `refreshing`.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from infold.docmem import marks
from infold.docmem.chats import VIEW_MARKS, thread_draft
from infold.docmem.documents import markdown_draft, text_draft
from infold.docmem.memory import Docmem
from infold.docmem.node import Node
from infold.docmem.place import Place, parent_and_order
from infold.docmem.refreshing import refresh
from infold.docmem.rows import Rows
from infold.docmem.toml_trees import toml_draft
from infold.docmem.tree_builder import TreeDraft, plant
from infold.errors import ImportRefused, NoteUnreadable, PathRefused
from infold.notebook.transcripts import SUFFIX
from infold.text import content_hash
from infold.vault.files import decode, read_bytes, safe_path
from infold.vault.names import is_note_name
from infold.workspace import Workspace

ImportForm = Literal["markdown", "text", "toml", "transcript"]
FORMS: Final[tuple[ImportForm, ...]] = get_args(ImportForm)
MAX_BYTES: Final = 32 * 1024 * 1024
SOURCE: Final = "source"  # the mark that says where the upmost node of an import is from, in full
SHA256: Final = "sha256"  # the mark that says which content that was
_FORM_OF_SUFFIX: Final[dict[str, ImportForm]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".toml": "toml",
    SUFFIX: "transcript",
}


@dataclass(frozen=True, slots=True)
class ImportedTree:
    """What an import did: `nodes` were made. Not new: the document was there, and followed where it had changed."""

    node: Node  # the upmost
    nodes: int
    is_new: bool = True
    removed: int = 0
    kept: int = 0


def form_of(name: str) -> ImportForm:
    """What a file of that name is read as: Markdown, TOML, else plain text."""
    return _FORM_OF_SUFFIX.get(Path(name).suffix.casefold(), "text")


def note_named(workspace: Workspace, name: str) -> str | None:
    """The note that `name` means: a file of the vault by any path to it, or a vault-relative path, `.md` or without."""
    vault, file = workspace.vault.resolve(), Path(name)
    if file.is_file():
        inside = file.parent.resolve() / file.name
        is_note = is_note_name(file.name) and inside.is_relative_to(vault)
        return inside.relative_to(vault).as_posix() if is_note else None
    for path in (name, f"{name}.md"):
        with suppress(PathRefused):
            if is_note_name(path.rpartition("/")[2]) and safe_path(workspace.vault, path).is_file():
                return path
    return None


def import_file(
    memory: Docmem,
    file: Path,
    form: ImportForm | None = None,
    place: Place | None = None,
    *,
    root_id: str | None = None,
    again: bool = False,
) -> ImportedTree:
    """A file as a tree, or as a part of one at `place`; where `form` is not given, its name says what it is.

    Nodes of a TOML file are readonly where it says so, those of any other all are. A document that was imported from
    there before is brought up to date, by `refreshing`; `again` makes a second tree of it. A transcript becomes a
    thread by itself; `chats` makes it a session of the notebook. Raises ImportRefused, NodeExists, NodeIdInvalid,
    NodeNotFound, NoParent.
    """
    with _refused():
        data = _file_bytes(file)
    return _import(memory, data, f"file:{file.absolute()}", form or form_of(file.name), place, root_id, again=again)


def import_note(
    memory: Docmem,
    workspace: Workspace,
    path: str,
    place: Place | None = None,
    *,
    root_id: str | None = None,
    again: bool = False,
) -> ImportedTree:
    """A note of the vault by its path there. Raises as `import_file` does, and PathRefused."""
    with _refused():
        data = read_bytes(workspace.vault, path, workspace.params.vault.max_note_bytes)
    return _import(memory, data, f"vault:{path}", "markdown", place, root_id, again=again)


def import_text(
    memory: Docmem,
    text: str,
    name: str,
    form: ImportForm | None = None,
    place: Place | None = None,
    *,
    root_id: str | None = None,
) -> ImportedTree:
    """A text at hand under a name, as a file of that name would be; each time anew. Raises as `import_file` does."""
    draft = _draft(text, name, form or form_of(name), is_part=place is not None)
    with memory.store.writing() as rows:
        node = plant(rows, draft, place, root_id=root_id)
        return ImportedTree(node, rows.size(node.id))


def _import(
    memory: Docmem, data: bytes, source: str, form: ImportForm, place: Place | None, root_id: str | None, *, again: bool
) -> ImportedTree:
    name = source.partition(":")[2].rpartition("/")[2]
    with _refused():
        text = decode(data, name)
    draft = _draft(text, name, form, is_part=place is not None)
    if form != "toml":
        draft.marks = {SOURCE: source, SHA256: content_hash(data)}
    with memory.store.writing() as rows:
        known = None if again or form == "toml" else _known(rows, source, place)
        if known is None:
            node = plant(rows, draft, place, root_id=root_id)
            return ImportedTree(node, rows.size(node.id))
        if root_id not in (None, known.id):
            raise ImportRefused(
                f"{name} is the tree {known.id!r} already.",
                hint="Import it without a name to bring that up to date, or once more (--again) for a second tree.",
            )
        if marks.marks_of(rows, known.id)[SHA256] == draft.marks[SHA256]:
            return ImportedTree(known, 0, is_new=False, kept=rows.size(known.id) - 1)
        done = refresh(rows, known, draft)
        marks.mark(rows, known.id, SHA256, draft.marks[SHA256])
        return ImportedTree(rows.get(known.id), done.added, is_new=False, removed=done.removed, kept=done.kept)


def _draft(text: str, name: str, form: ImportForm, *, is_part: bool) -> TreeDraft:
    if form == "toml":
        draft = toml_draft(text, name)
        for part in draft.walk():  # a file is no view of a session, whatever it says
            part.marks = {mark: value for mark, value in part.marks.items() if mark not in VIEW_MARKS}
        return draft
    top = "document" if is_part else "root"
    if form == "transcript":
        draft = thread_draft(text, name)
    else:
        draft = markdown_draft(text, name, top) if form == "markdown" else text_draft(text, name, top)
    if not draft.children:
        what = "turn of a conversation" if form == "transcript" else "text"
        raise ImportRefused(f"{name} holds no {what}.", hint="Name a file that does.")
    return draft


def _known(rows: Rows, source: str, place: Place | None) -> Node | None:
    """The node of an earlier import of the same document, below the same parent; the oldest of several."""
    parent = None if place is None else parent_and_order(rows, place)[0]
    found = [rows.get(node_id) for node_id in marks.marked_with(rows, SOURCE, source)]
    return min((node for node in found if node.parent_id == parent), key=lambda node: node.created_at, default=None)


def _file_bytes(file: Path) -> bytes:
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):  # before it is opened: a pipe would wait for its other end
            raise NoteUnreadable(f"{file} is not a regular file.")
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise NoteUnreadable(f"{file} cannot be read: {error.strerror or error}.") from error
    if len(data) > MAX_BYTES:
        size = max(status.st_size, len(data))
        raise NoteUnreadable(
            f"{file} has {size:,} bytes; at most {MAX_BYTES:,} are read at once.",
            hint="Divide it, and import the parts into one tree.",
        )
    return data


@contextmanager
def _refused() -> Iterator[None]:
    """What cannot be read as what cannot be imported."""
    try:
        yield
    except NoteUnreadable as error:
        raise ImportRefused(str(error), hint=error.hint) from error

"""Files and notes of the vault as trees: read whole, checked, then planted in one transaction (spec 2, Import).

What a document becomes belongs to `documents` and `toml_trees`; conversations to `chats`.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from infold.docmem import marks
from infold.docmem.chats import VIEW_MARKS
from infold.docmem.documents import markdown_draft, text_draft
from infold.docmem.drafts import Draft, plant
from infold.docmem.memory import Docmem
from infold.docmem.node import Node
from infold.docmem.place import Place, parent_and_order
from infold.docmem.rows import Rows
from infold.docmem.toml_trees import toml_draft
from infold.errors import ImportRefused, NoteUnreadable, PathRefused
from infold.text import content_hash
from infold.vault.files import decode, read_bytes, safe_path
from infold.vault.names import is_note_name
from infold.workspace import Workspace

Form = Literal["markdown", "text", "toml"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)
MAX_BYTES: Final = 32 * 1024 * 1024
SOURCE: Final = "source"  # the mark that says where the upmost node of an import is from, in full
SHA256: Final = "sha256"  # the mark that says which content that was
_FORM_OF_SUFFIX: Final[dict[str, Form]] = {".md": "markdown", ".markdown": "markdown", ".toml": "toml"}


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made. Not new: the same content was imported from there before, and nothing was done."""

    node: Node  # the upmost
    nodes: int  # how many were made
    is_new: bool = True


def form_of(name: str) -> Form:
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
    form: Form | None = None,
    place: Place | None = None,
    *,
    root_id: str | None = None,
    again: bool = False,
) -> Imported:
    """A file as a tree, or as a part of one at `place`; where `form` is not given, its name says what it is.

    Nodes of a TOML file are readonly where it says so, those of any other all are. The same content of the same
    document is imported once, unless `again`. Raises ImportRefused, NodeExists, NodeIdInvalid, NodeNotFound, NoParent.
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
) -> Imported:
    """A note of the vault by its path there. Raises as `import_file` does, and PathRefused."""
    with _refused():
        data = read_bytes(workspace.vault, path, workspace.params.vault.max_note_bytes)
    return _import(memory, data, f"vault:{path}", "markdown", place, root_id, again=again)


def _import(
    memory: Docmem, data: bytes, source: str, form: Form, place: Place | None, root_id: str | None, *, again: bool
) -> Imported:
    path = source.partition(":")[2]
    name = path.rpartition("/")[2]
    with _refused():
        text = decode(data, name)
    if form == "toml":
        draft = toml_draft(text, name)
        for part in draft.walk():  # a file is no view of a session, whatever it says
            part.marks = {mark: value for mark, value in part.marks.items() if mark not in VIEW_MARKS}
    else:
        make: Callable[[str, str, str], Draft] = markdown_draft if form == "markdown" else text_draft
        draft = make(text, name, "root" if place is None else "document")
        if not draft.children:
            raise ImportRefused(f"{name} holds no text.", hint="Name a file that does.")
        draft.marks = {SOURCE: source, SHA256: content_hash(data)}
    with memory.store.writing() as rows:
        known = None if again or form == "toml" else _known(rows, draft, place)
        if known is not None:
            return Imported(known, 0, is_new=False)
        node = plant(rows, draft, place, root_id=root_id)
        return Imported(node, rows.size(node.id))


def _known(rows: Rows, draft: Draft, place: Place | None) -> Node | None:
    """The node of an earlier import of the same, below the same parent."""
    parent = None if place is None else parent_and_order(rows, place)[0]
    same = marks.marked_with(rows, SHA256, draft.marks[SHA256])
    found = (rows.get(node_id) for node_id in same if marks.marks_of(rows, node_id).get(SOURCE) == draft.marks[SOURCE])
    return next((node for node in found if node.parent_id == parent), None)


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

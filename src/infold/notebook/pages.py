"""`notebook_write`: text to any page of the notebook (spec 3, section 6).

Which note a name means belongs to `notebook.names`, what its text becomes to `notebook.sections`, and how it gets to
the disk to `vault.writing`.
"""

from __future__ import annotations

from dataclasses import dataclass

from infold.durable.change import ChangeKind
from infold.errors import EditRefused, NoteChanged
from infold.notebook.names import page_path
from infold.notebook.sections import Revised, appended, appended_to_section, new_page, replaced, replaced_section
from infold.text import content_hash
from infold.vault.daily_notes import daily_notes
from infold.vault.files import decode
from infold.vault.writing import NoteWriter, note_writer, on_what_stands
from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Written:
    """A write that was done. `id` takes it back (`infold undo`); it is '' where the page was like that already."""

    path: str
    message: str
    bytes_before: int  # 0 for a new page
    bytes_after: int
    id: str = ""
    hash: str = ""  # of the text now, where the caller will ask for it


def notebook_write(
    workspace: Workspace, page: str, content: str, section: str | None = None, *, replace: bool = False
) -> Written:
    """Appends `content` to a page or to one of its sections; with `replace` it takes the place of what is there.

    Page and section are made where they are missing. A replaced section goes with its sub-sections, a replaced page
    keeps its front matter; bytes elsewhere do not change. What a write does is kept and can be taken back. An addition
    is made to what stands, also where somebody saves the page at the same moment; a replacement is refused then. The
    inbox and the daily logs are only ever added to.

    Raises PathRefused, NoteUnreadable, EditRefused or UsageError, with the reason, and then nothing is written;
    VaultBusy and StateUnwritable.
    """
    with note_writer(workspace) as writer:
        path = page_path(workspace.vault, page)

        def attempt() -> Written:
            return _write(workspace, writer, path, content, section, replace=replace)

        return attempt() if replace else on_what_stands(attempt)


def _write(
    workspace: Workspace, writer: NoteWriter, path: str, content: str, section: str | None, *, replace: bool
) -> Written:
    before = writer.read(path)
    if replace and before is not None:
        _check_replaceable(workspace, path)
    text = None if before is None else decode(before, path)
    revised = _revised(text, content, section, replace=replace)
    after = revised.text.encode()
    size = len(before or b"")
    if after == before:
        return Written(path, f"{path} says that already; nothing was written.", size, size)
    message = _message(path, revised, size, len(after))
    change = writer.write(path, before, after, ChangeKind.WRITE, message)
    return Written(path, message, size, len(after), change.id)


def notebook_edit(workspace: Workspace, path: str, content: str, known_hash: str | None) -> Written:
    """Gives the note at `path` this text, if it still has the one with the hash known (None: if there is none).

    Raises NoteChanged where it has not, and as `notebook_write` does.
    """
    with note_writer(workspace) as writer:
        before = writer.read(path)
        current = None if before is None else content_hash(before)
        if current != known_hash:
            raise NoteChanged(
                f"{path} is not what was read: somebody has changed it since.",
                hint="Read it again, and make the edit in what it says now.",
                paths=(path,),
            )
        if before is not None:
            _check_replaceable(workspace, path)
        after = content.encode()
        if after == before:
            size = len(after)
            return Written(path, f"{path} says that already; nothing was written.", size, size, hash=known_hash or "")
        what = f"{path} edited ({len(before or b''):,} → {len(after):,} bytes)."
        change = writer.write(path, before, after, ChangeKind.WRITE, what)
        return Written(path, what, len(before or b""), len(after), change.id, content_hash(after))


def add_to_inbox(workspace: Workspace, text: str) -> Written:
    """Text below what the inbox holds, as paragraphs of their own. The inbox is made where it is missing.

    Raises PathRefused where it lies outside the vault, and as `notebook_write` does.
    """
    return notebook_write(workspace, workspace.inbox_path, f"\n{text.strip()}\n")


def _check_replaceable(workspace: Workspace, path: str) -> None:
    if path == workspace.inbox_path:
        raise EditRefused(
            f"{path} is the inbox: its text is integrated, never replaced.", hint="Append to it, or edit it by hand."
        )
    if daily_notes(workspace.vault, workspace.params.notebook).day(path) is not None:
        raise EditRefused(
            f"{path} is a daily log: it is only ever added to.",
            hint="Write without --replace to append, or edit it by hand.",
        )


def _revised(text: str | None, content: str, section: str | None, *, replace: bool) -> Revised:
    if text is None:
        return new_page(content, section)
    if section is None:
        return replaced(text, content) if replace else appended(text, content)
    return replaced_section(text, section, content) if replace else appended_to_section(text, section, content)


def _message(path: str, revised: Revised, before: int, after: int) -> str:
    shrinks = ", less than before" if after < before else ""
    sizes = f"{before:,} → {after:,} bytes{shrinks}" if before else f"{after:,} bytes"
    return f"{path} {revised.what} ({sizes})."

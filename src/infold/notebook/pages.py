"""`notebook_write`: text to any page of the notebook (spec 3, section 6).

Which note a name means belongs to `notebook.names`, what its text becomes to `notebook.sections`, and how it gets to
the disk to `notebook.writing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from infold.errors import EditRefused
from infold.notebook.kept_writes import KeptWrites
from infold.notebook.names import page_path
from infold.notebook.sections import Revised, appended, appended_to_section, new_page, replaced, replaced_section
from infold.notebook.writing import note_writer
from infold.vault.files import decode
from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Written:
    """A write that was done. `id` takes it back (`infold undo`); it is '' where the page was like that already."""

    path: str
    message: str
    bytes_before: int  # 0 for a new page
    bytes_after: int
    id: str = ""

    def as_json(self) -> dict[str, Any]:
        """The answer of spec 3, with what was done."""
        return {
            "success": True,
            "message": self.message,
            "path": self.path,
            "bytesBefore": self.bytes_before,
            "bytesAfter": self.bytes_after,
            "write": self.id or None,
        }


def notebook_write(
    workspace: Workspace, page: str, content: str, section: str | None = None, *, replace: bool = False
) -> Written:
    """Appends `content` to a page or to one of its sections; with `replace` it takes the place of what is there.

    Page and section are made where they are missing. A replaced section goes with its sub-sections, a replaced page
    keeps its front matter; bytes elsewhere do not change. What a write does is kept and can be taken back.

    Raises PathRefused, NoteUnreadable, EditRefused or UsageError, with the reason, and then nothing is written;
    VaultBusy and StateUnwritable.
    """
    with note_writer(workspace) as writer:
        path = page_path(workspace.vault, page)
        before = writer.read(path)
        if replace and before is not None and path == workspace.inbox_path:
            raise EditRefused(
                f"{path} is the inbox: its text is integrated, never replaced.",
                hint="Append to it, or edit it by hand.",
            )
        text = None if before is None else decode(before, path)
        revised = _revised(text, content, section, replace=replace)
        after = revised.text.encode()
        size = len(before or b"")
        if after == before:
            return Written(path, f"{path} says that already; nothing was written.", size, size)
        store = KeptWrites(workspace, writer.disk)
        kept = store.keep(path, before, after)
        try:
            writer.write(path, before, after)
        except BaseException:
            store.drop(kept)
            raise
    return Written(path, _message(path, revised, size, len(after)), size, len(after), kept.id)


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

"""Writing: `notebook_write`, `daily_log`, and the context that an agent always has (spec 3, section 6)."""

from __future__ import annotations

from infold.app import OpenVault
from infold.errors import EditRefused, NoteUnreadable, PathRefused, StateUnwritable, UsageError, VaultBusy
from infold.operations.contract import Effect, Group, Message, Nothing
from infold.operations.table import operation

_WRITE_ERRORS = (PathRefused, NoteUnreadable, EditRefused, UsageError, VaultBusy, StateUnwritable)


class NotebookWriteRequest(Message):
    """What to write, and where."""

    page: str
    """A note, such as lists/shopping; it is made where it is missing."""
    content: str
    """The text, Markdown."""
    section: str | None = None
    """Write into the section under this heading, such as Groceries; it is made where it is missing."""
    replace: bool = False
    """Put the text in the place of the section, or of the whole note but for its front matter; else append it."""


class NotebookWriteAnswer(Message):
    """What was done."""

    success: bool = True
    message: str
    path: str
    bytes_before: int
    """0 for a new page."""
    bytes_after: int
    write: str | None
    """What takes it back; null where the page said that already."""


@operation(Group.MEMORY, Effect.WRITES, is_idempotent=False, errors=_WRITE_ERRORS)
def notebook_write(vault: OpenVault, request: NotebookWriteRequest) -> NotebookWriteAnswer:
    """Add text to a note of the notebook, or to one of its sections.

    Note and section are made where they are missing. Every byte elsewhere stays, and a write can be taken back.
    """
    done = vault.write(request.page, request.content, request.section, replace=request.replace)
    return NotebookWriteAnswer.of(done, write=done.id or None)


class DailyLogRequest(Message):
    """What to log."""

    entry: str
    """The entry; its first line becomes its heading, after the time."""


class DailyLogAnswer(Message):
    """Where the entry is."""

    success: bool = True
    path: str
    message: str
    repeat: bool
    """The entry was there already, from moments ago, and was not written again."""


@operation(Group.MEMORY, Effect.WRITES, errors=_WRITE_ERRORS)
def daily_log(vault: OpenVault, request: DailyLogRequest) -> DailyLogAnswer:
    """Add an entry to today's log, under the time and its first line. The log only grows.

    The same entry again within a minute is one.
    """
    done = vault.log(request.entry)
    return DailyLogAnswer.of(done, repeat=done.is_repeat)


class ContextFile(Message):
    """A file of the context."""

    path: str
    label: str
    text: str
    """What is shown of it, from `firstLine`."""
    first_line: int
    left_out: int
    """Characters that are not shown."""
    rest: str | None
    """The command that prints what is left out."""


class ContextAnswer(Message):
    """What an agent should always have before it."""

    text: str
    """All of it, ready for a prompt; empty where there is nothing."""
    files: tuple[ContextFile, ...]
    notices: tuple[str, ...]


@operation(Group.MEMORY, Effect.READS)
def memory_context(vault: OpenVault, request: Nothing) -> ContextAnswer:  # noqa: ARG001 - the signature of operations
    """Get what an agent should always have before it: reference notes, and the logs of today and yesterday.

    Each file is fenced and labelled; what is cut is said.
    """
    found = vault.context()
    files = (ContextFile.of(file, rest=file.rest or None) for file in found.files)
    return ContextAnswer(text=found.text, files=tuple(files), notices=found.notices)

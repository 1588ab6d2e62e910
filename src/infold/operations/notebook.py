"""Writing: `notebook_write`, `daily_log`, and the context that an agent always has (spec 3, section 6)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from pydantic import Field

from infold import lazy
from infold.app import OpenVault
from infold.errors import EditRefused, NoteChanged, NoteUnreadable, PathRefused, StateUnwritable, UsageError, VaultBusy
from infold.operations.contract import Effect, Face, Group, Message, Nothing
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


class NotebookEditRequest(Message):
    """What a note is to say from now on."""

    path: str
    """The note, by its path from the top of the vault."""
    content: str
    """All of its text, front matter included."""
    hash: str | None = None
    """The hash of the text you read (`memory_get` gives it): with another now it is refused. Null: a new note."""


class NotebookEditAnswer(Message):
    """What was done."""

    path: str
    message: str
    hash: str
    """That of the text now."""
    write: str | None
    """What takes it back; null where the note said that already."""


@operation(
    Group.MEMORY,
    Effect.WRITES,
    errors=(*_WRITE_ERRORS, NoteChanged),
    not_in={Face.CLI: "at a prompt, an editor of one's own does it"},
)
def notebook_edit(vault: OpenVault, request: NotebookEditRequest) -> NotebookEditAnswer:
    """Replace the whole text of a note that you have read, as an editor does.

    Refused where somebody has changed it since, and for daily logs and the inbox, which are only added to. It can be
    taken back. To add text, use `notebook_write`.
    """
    done = lazy.notebook.pages.notebook_edit(vault.workspace, request.path, request.content, request.hash)
    return NotebookEditAnswer(path=done.path, message=done.message, hash=done.hash, write=done.id or None)


class NotebookPagesRequest(Message):
    """Which folder."""

    folder: str = ""
    """A folder of the vault; nothing is its top."""


class NotebookFolder(Message):
    """A folder, with all that is below it counted."""

    path: str
    notes: int


class NotebookPage(Message):
    """A note."""

    path: str
    bytes: int
    modified_at: str
    """ISO 8601, UTC."""


class NotebookPagesAnswer(Message):
    """What lies right below a folder, by name."""

    folder: str
    folders: tuple[NotebookFolder, ...]
    pages: tuple[NotebookPage, ...]


@operation(
    Group.MEMORY,
    Effect.READS,
    errors=(UsageError,),
    not_in={Face.CLI: "at a prompt, the shell lists files"},
)
def notebook_pages(vault: OpenVault, request: NotebookPagesRequest) -> NotebookPagesAnswer:
    """List the folders and notes right below a folder of the vault, with sizes and times."""
    folder = request.folder.strip().removeprefix("./").strip("/")
    folders: Counter[str] = Counter()
    pages: list[NotebookPage] = []
    for file in vault.scanned().files:
        if folder and not file.path.startswith(f"{folder}/"):
            continue
        rest = file.path[len(folder) + 1 :] if folder else file.path
        name, slash, _ = rest.partition("/")
        if slash:
            folders[f"{folder}/{name}".lstrip("/")] += 1
        else:
            moment = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC).isoformat(timespec="seconds")
            pages.append(NotebookPage(path=file.path, bytes=file.size, modified_at=moment))
    if folder and not (folders or pages):
        raise UsageError(
            f"There is no folder {folder!r} with notes.", hint="notebook_pages without a folder lists all."
        )
    return NotebookPagesAnswer(
        folder=folder,
        folders=tuple(NotebookFolder(path=path, notes=notes) for path, notes in sorted(folders.items())),
        pages=tuple(pages),
    )


class InboxAddRequest(Message):
    """What to drop into the inbox."""

    text: str = Field(min_length=1)
    """Markdown; paragraphs are set apart by blank lines."""


class InboxAddAnswer(Message):
    """Where it is."""

    path: str
    message: str
    write: str | None
    """What takes it back."""


@operation(
    Group.INBOX,
    Effect.WRITES,
    is_idempotent=False,
    errors=_WRITE_ERRORS,
    not_in={Face.CLI: "at a prompt, `infold write` with the inbox as the page does it"},
)
def inbox_add(vault: OpenVault, request: InboxAddRequest) -> InboxAddAnswer:
    """Drop text into the inbox, below what is there. `inbox_integrate` folds it into notes."""
    done = lazy.notebook.pages.add_to_inbox(vault.workspace, request.text)
    return InboxAddAnswer(path=done.path, message=done.message, write=done.id or None)

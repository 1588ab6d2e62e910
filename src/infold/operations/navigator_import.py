"""Imports into the navigator: what there is to choose from, and what importing it takes (spec 5, Import interface)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infold.app import OpenVault
from infold.errors import LibrarianFault
from infold.librarian.estimate import Estimate
from infold.librarian.spend import Usage
from infold.operations.contract import Effect, Group, Message
from infold.operations.navigator import NAVIGATOR_ERRORS
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation


class BrowseVaultRequest(Message):
    """Where to look."""

    path: str = ""
    """A folder of the vault; nothing is its top."""


class VaultFolder(Message):
    """A folder, with all that is below it counted."""

    path: str
    notes: int
    tokens: int
    """By the size of the files."""
    imported: int
    dirty: int


class VaultNote(Message):
    """A note, and its state in the navigator."""

    path: str
    tokens: int
    """By the size of the file."""
    state: Literal["not imported", "fresh", "dirty"]
    title: str
    day: str | None
    """By its name or its front matter, else when its file was changed."""
    tags: tuple[str, ...]


class BrowseVaultAnswer(Message):
    """What lies right below a folder."""

    folders: tuple[VaultFolder, ...]
    notes: tuple[VaultNote, ...]


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS)
def browse_vault(vault: OpenVault, request: BrowseVaultRequest) -> BrowseVaultAnswer:
    """List the folders and notes of the vault to choose by: tokens, title, day, tags, and whether they are imported."""
    folders, notes = vault.browse(request.path)
    return BrowseVaultAnswer(
        folders=tuple(VaultFolder.of(folder) for folder in folders), notes=tuple(VaultNote.of(note) for note in notes)
    )


class ImportRequest(Spending):
    """What to import."""

    paths: tuple[str, ...] = Field(min_length=1)
    """Notes and folders; "." is the whole vault."""


class NoteTokens(Message):
    """What one note will take, from low to high."""

    path: str
    tokens: tuple[int, int]


class ImportAnswer(Message):
    """What was imported. With a `quote` nothing was yet."""

    notes: int
    nodes: int
    summaries: int
    """How many were made now; kept ones cost nothing."""
    usage: Usage
    estimated_tokens: int
    warnings: tuple[str, ...]
    quote: Quote | None = None
    by_note: tuple[NoteTokens, ...] = ()
    """With a quote: what each note will take."""
    billed_share: float | None = None
    """With a quote: what all earlier imports took, as a share of their estimates; null where none was paid for."""


@operation(Group.NAVIGATOR, Effect.SPENDS, name="import", takes_long=True, errors=(*NAVIGATOR_ERRORS, LibrarianFault))
def import_(vault: OpenVault, request: ImportRequest) -> ImportAnswer:
    """Import notes or folders into the navigator, or bring what changed up to date.

    Each note becomes an article with sections and paragraphs, and a summary each. Where a model would be paid, the
    first answer is an estimate by note with a token. Stopped, it goes on where it was.
    """
    by_note: dict[str, tuple[int, int]] = {}

    def estimate() -> Estimate | None:
        whole, each = vault.estimate_import(request.paths)
        by_note.update(each)
        return whole

    quote = quote_first(vault, "import", request, estimate)
    if quote is not None:
        listed = tuple(NoteTokens(path=path, tokens=tokens) for path, tokens in by_note.items())
        return ImportAnswer(
            notes=0,
            nodes=0,
            summaries=0,
            usage=Usage(),
            estimated_tokens=sum(quote.tokens) // 2,
            warnings=(),
            quote=quote,
            by_note=listed,
            billed_share=vault.navigator_store.choices.billed_share(),
        )
    space = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    return ImportAnswer.of(vault.import_notes(request.paths, space))

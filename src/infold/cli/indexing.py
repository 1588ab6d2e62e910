"""What `infold index` says once it is done, or was stopped. For the command, and for the short way to it.

Fast to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

from infold import lazy
from infold.text import counted

if TYPE_CHECKING:
    from infold.app import OpenVault, Synced
    from infold.cli.terminal import Terminal
    from infold.operations.vault import IndexSyncAnswer

INTERRUPTED: Final = 130


class IndexReport(NamedTuple):
    """What is told of a sync: notes by what happened to them, passages, vectors; `skipped` are paths and reasons.

    `duration_ms` is of all of it: catalogue, index and summaries.
    """

    notes: int
    added: int
    changed: int
    removed: int
    unchanged: int
    chunks_created: int
    embeddings_computed: int
    embeddings_cached: int
    embeddings_dropped: int
    duration_ms: int
    emptied: bool
    skipped: tuple[tuple[str, str], ...]

    @classmethod
    def of_sync(cls, done: Synced) -> Self:
        """What was brought up to date."""
        found, index = done.catalogue, done.index
        return cls(
            notes=found.scanned,
            added=found.added,
            changed=found.changed,
            removed=found.removed,
            unchanged=found.unchanged,
            chunks_created=index.chunks_created,
            embeddings_computed=index.embeddings_computed,
            embeddings_cached=index.embeddings_cached,
            embeddings_dropped=index.embeddings_dropped,
            duration_ms=done.duration_ms,
            emptied=index.emptied,
            skipped=done.skipped,
        )

    @classmethod
    def of_answer(cls, done: IndexSyncAnswer) -> Self:
        """The same, as the operation answers it."""
        values = {name: getattr(done, name) for name in cls._fields}
        return cls(**values | {"skipped": tuple((note.path, note.reason) for note in done.skipped)})


def tell_skipped(terminal: Terminal, done: IndexReport) -> None:
    """What was passed over, on stderr."""
    for path, reason in done.skipped:
        terminal.notice(f"! skipped {path}: {reason}", style="yellow")
    if done.emptied:
        terminal.notice(
            "! No notes, or no sessions, where there were some: none were taken from the index.", style="yellow"
        )


def page(done: IndexReport) -> list[str]:
    """The lines of the answer."""
    notes = (
        f"{counted(done.notes, 'note')}: {done.added:,} added, {done.changed:,} changed, {done.removed:,} removed, "
        f"{done.unchanged:,} as {'it was' if done.unchanged == 1 else 'they were'}."
    )
    passages = (
        f"{counted(done.chunks_created, 'passage')} indexed; {done.embeddings_computed:,} embeddings computed, "
        f"{done.embeddings_cached:,} reused; {done.duration_ms / 1000:.1f} s."
    )
    kept = counted(done.embeddings_dropped, "kept embedding")
    dropped = f"{kept} taken away: to compute them again costs nothing."
    return [notes, passages, *([dropped] if done.embeddings_dropped else [])]


def interrupted(vault: OpenVault, terminal: Terminal) -> int:
    """Says what can be searched already, and how to go on; gives the exit code."""
    notes, passages, waiting = lazy.search.index_status.held(vault.workspace)
    if not notes:
        terminal.notice("\nInterrupted before the first notes were indexed; `infold index` begins again.")
    else:
        terminal.notice("\nInterrupted; `infold index` goes on where it stopped.")
        by_meaning = f"; {waiting} of them are found by words only so far" if waiting else ""
        terminal.notice(f"{notes} notes with {passages} passages can be searched{by_meaning}.")
    return INTERRUPTED

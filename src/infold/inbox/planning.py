"""Planning a run: every chunk explored and edited against one draft of the vault, side by side, settled in order.

Chunks whose notes do not overlap never wait for each other; where two want the same note, the later one asks for its
edits when the earlier one's are in the draft. The result is that of one chunk after another. Nothing is written here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from infold.errors import EditRefused, LibrarianFault
from infold.inbox.chunking import Chunks, too_long
from infold.inbox.editing import ChunkEdits, WorkingCopy
from infold.inbox.exploration import Exploration
from infold.inbox.run import Run, SkippedFile
from infold.inbox.vault_snapshot import VaultSnapshot
from infold.librarian.answers import Chunk, OpenNote, Paragraph
from infold.librarian.base import Librarian
from infold.librarian.spend import Usage
from infold.progress import happened
from infold.text import counted
from infold.vault.files import read_bytes
from infold.vault.records import Note
from infold.workspace import Workspace

_WORDS_SHOWN: Final = 6  # of a chunk, where it is named


@dataclass(frozen=True, slots=True)
class Prepared:
    """The vault, ready to be explored: its snapshot, and what was passed over or is worth a warning."""

    snapshot: VaultSnapshot
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()


class Steps(Protocol):
    """What the composition calls. Each step is complete in itself and can be repeated."""

    @property
    def librarian(self) -> Librarian:
        """Who decides."""

    @property
    def usage(self) -> Usage:
        """All that was paid so far."""

    async def prepare(self) -> Prepared:
        """Tables, summaries and index brought up to date."""

    async def group(self, paragraphs: Sequence[Paragraph], snapshot: VaultSnapshot) -> Chunks:
        """Phase 1."""

    async def explore(self, chunk: Chunk, snapshot: VaultSnapshot) -> Exploration:
        """Phase 3."""

    async def edit(
        self, chunk: Chunk, exploration: Exploration, notes: tuple[OpenNote, ...], refused: str
    ) -> ChunkEdits:
        """Phase 4."""

    async def apply(self, run_id: str) -> Run:
        """Writes a saved plan to the vault; NoteChanged where a note is not what the plan saw."""

    def note(self, path: str) -> Note:
        """The note that the steps have read at a path. Raises NoteUnreadable and PathRefused."""

    def progress(self, stage: str, done: int, total: int) -> None:
        """Says how far a stage is."""


@dataclass(frozen=True, slots=True)
class PlannedOutcome:
    """One planned chunk: what was explored, the answer where there is one, else the reason."""

    exploration: Exploration
    answer: ChunkEdits | None
    reason: str | None
    usage: Usage = field(default_factory=Usage)


class Planner:
    """Plans all chunks against one draft of the vault, side by side, settled in their order."""

    def __init__(self, workspace: Workspace, steps: Steps, snapshot: VaultSnapshot, chunks: tuple[Chunk, ...]) -> None:
        self._workspace = workspace
        self._steps = steps
        self._snapshot = snapshot
        self._chunks = chunks
        self._explored: dict[int, Exploration] = {}
        self._answers: dict[tuple[int, tuple[OpenNote, ...]], ChunkEdits] = {}
        self._refused = ""
        self._restless: frozenset[str] = frozenset()
        self.draft = self._new_draft()

    def start_again(self, why: str) -> None:
        """After a note changed on disk: a new draft. Chunks whose notes did not change keep their answer."""
        self._refused = why
        self.draft = self._new_draft()

    def leave_alone(self, paths: Iterable[str]) -> None:
        """Gives these notes up: they change faster than they can be planned. Chunks that want one stay in the inbox."""
        self._restless |= frozenset(paths)

    async def plan(self) -> dict[int, PlannedOutcome]:
        """Every chunk's outcome, by id. What is no matter of one chunk (key, endpoint, disk) ends the run."""
        slots = asyncio.Semaphore(self._workspace.params.integrate.concurrency)
        loop = asyncio.get_running_loop()
        wanted = {chunk.id: loop.create_future() for chunk in self._chunks}
        settled = {chunk.id: asyncio.Event() for chunk in self._chunks}
        done = 0
        self._steps.progress("chunks", 0, len(self._chunks))

        async def one(chunk: Chunk) -> tuple[int, PlannedOutcome]:
            nonlocal done
            async with slots:
                exploration = await self._explore(chunk)
                happened(_explored(chunk, exploration))
                wanted[chunk.id].set_result(frozenset(exploration.checked_out))
                for earlier in self._chunks:
                    if earlier.id >= chunk.id:
                        break
                    if not (await wanted[earlier.id]).isdisjoint(exploration.checked_out):
                        await settled[earlier.id].wait()
                outcome = await self._edit(chunk, exploration)
            settled[chunk.id].set()
            happened(_planned(chunk, outcome))
            done += 1
            self._steps.progress("chunks", done, len(self._chunks))
            return chunk.id, outcome

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(chunk)) for chunk in self._chunks]
        except ExceptionGroup as failures:  # the first real failure, without the group around it
            raise _first(failures) from None
        return dict(task.result() for task in tasks)

    async def _explore(self, chunk: Chunk) -> Exploration:
        params = self._workspace.params.chunking
        reasons = [reason for paragraph in chunk.paragraphs if (reason := too_long(paragraph, params))]
        if reasons:
            return Exploration(chunk=chunk.id, reason=reasons[0])
        if chunk.id not in self._explored:
            try:
                self._explored[chunk.id] = await self._steps.explore(chunk, self._snapshot)
            except LibrarianFault as error:
                return Exploration(chunk=chunk.id, reason=str(error))
        return self._explored[chunk.id]

    async def _edit(self, chunk: Chunk, exploration: Exploration) -> PlannedOutcome:
        if not exploration.checked_out:
            return PlannedOutcome(exploration, None, exploration.reason, exploration.usage)
        if restless := self._restless.intersection(exploration.checked_out):
            reason = f"{', '.join(sorted(restless))} kept changing while the run was thinking"
            return PlannedOutcome(exploration, None, reason, exploration.usage)
        notes = self.draft.open(exploration.checked_out)
        if not notes:
            return PlannedOutcome(exploration, None, "the chosen notes cannot be read any more", exploration.usage)
        key = (chunk.id, notes)
        try:
            if key not in self._answers:
                self._answers[key] = await self._steps.edit(chunk, exploration, notes, self._refused)
            self.draft.apply(self._answers[key].edits)
        except (LibrarianFault, EditRefused) as error:
            return PlannedOutcome(exploration, None, str(error), exploration.usage)
        answer = self._answers[key]
        return PlannedOutcome(exploration, answer, None, exploration.usage + answer.usage)

    def _new_draft(self) -> WorkingCopy:
        vault, limit = self._workspace.vault, self._workspace.params.vault.max_note_bytes
        return WorkingCopy(lambda path: read_bytes(vault, path, limit))


def _explored(chunk: Chunk, exploration: Exploration) -> str:
    found = f"opens {', '.join(exploration.checked_out)}" if exploration.checked_out else "opens none"
    return f"{_named(chunk)} looked at {', '.join(exploration.viewed) or 'no note'}; {found}."


def _planned(chunk: Chunk, outcome: PlannedOutcome) -> str:
    if outcome.answer is None:
        return f"{_named(chunk)} stays: {outcome.reason}."
    edits = len(outcome.answer.edits)
    return f"{_named(chunk)} has its answer: {counted(edits, 'edit')}."


def _named(chunk: Chunk) -> str:
    words = chunk.paragraphs[0].text.split()
    return f"Chunk {chunk.id} ({' '.join(words[:_WORDS_SHOWN])}{' …' if len(words) > _WORDS_SHOWN else ''})"


def _first(failures: BaseExceptionGroup[Exception]) -> Exception:
    inner = failures.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner

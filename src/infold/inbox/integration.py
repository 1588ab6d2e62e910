"""The main job, composed: tables, summaries, index, paragraphs, chunks, exploration, edits, a plan, and its application.

The composition is written once. `Steps` are what it is made of: plain calls (`inbox.steps`), or the same calls as cached
tasks of an orchestrator. Nothing is written to the vault before every chunk is planned; the plan is then applied in
one journal, so a run that is killed has either changed nothing or is finished on the next start.

Chunks run side by side. Chunks whose notes do not overlap never wait for each other; where two want the same note, the
later one asks for its edits when the earlier one's are in the draft. The result is that of one chunk after another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from infold.errors import EditRefused, LibrarianFault, NoteChanged
from infold.inbox.atlas import Atlas
from infold.inbox.chunking import Chunks
from infold.inbox.editing import ChunkEdits, Draft
from infold.inbox.exploration import Exploration
from infold.inbox.inbox_text import remove_paragraphs
from infold.inbox.paragraphs import InboxParagraph, number_paragraphs
from infold.inbox.run import ChunkRecord, ParagraphRecord, Run, RunStatus, SkippedFile
from infold.inbox.runs import recover, save_planned
from infold.librarian.answers import Chunk, OpenNote, Paragraph
from infold.librarian.spend import Usage
from infold.vault.files import decode, read_bytes
from infold.vault.lock import integration_lock
from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Prepared:
    """The vault, ready to be explored: its atlas, and what was passed over or is worth a warning."""

    atlas: Atlas
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()


class Steps(Protocol):
    """What the composition calls. Each step is complete in itself and can be repeated."""

    @property
    def librarian_name(self) -> str:
        """Who decides."""

    @property
    def usage(self) -> Usage:
        """All that was paid so far."""

    async def prepare(self) -> Prepared:
        """Tables, summaries and index brought up to date."""

    async def group(self, paragraphs: Sequence[Paragraph], atlas: Atlas) -> Chunks:
        """Phase 1."""

    async def explore(self, chunk: Chunk, atlas: Atlas) -> Exploration:
        """Phase 3."""

    async def edit(
        self, chunk: Chunk, exploration: Exploration, notes: tuple[OpenNote, ...], refused: str
    ) -> ChunkEdits:
        """Phase 4."""

    async def apply(self, run_id: str) -> Run:
        """Writes a saved plan to the vault; NoteChanged where a note is not what the plan saw."""

    def progress(self, stage: str, done: int, total: int) -> None:
        """Says how far a stage is."""


async def integrate(workspace: Workspace, steps: Steps, *, dry_run: bool = False) -> Run:
    """Folds the inbox into the vault, or with `dry_run` only plans it, and returns the saved run.

    An inbox that is missing or holds no paragraph touches nothing and saves nothing. Raises EnvironmentFault and
    EndpointUnreachable; whatever concerns one chunk ends as the reason why its paragraphs stay in the inbox.
    """
    started = time.monotonic()
    with integration_lock(workspace):
        run = await _integrate(workspace, steps, dry_run=dry_run, started=started)
    return run.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


async def _integrate(workspace: Workspace, steps: Steps, *, dry_run: bool, started: float) -> Run:
    finished = tuple(recover(workspace))
    inbox_bytes, problem = _read_inbox(workspace)
    text = decode(inbox_bytes, workspace.inbox_path) if inbox_bytes else ""
    paragraphs = number_paragraphs(text, workspace.inbox_path)
    if not paragraphs:
        return _nothing_to_do(workspace, steps, problem or f"The inbox {workspace.inbox_path} holds no paragraph.")

    prepared = await steps.prepare()
    grouped = await _group(steps, paragraphs, prepared.atlas)
    prepared = replace(prepared, warnings=finished + prepared.warnings)
    planner = _Planner(workspace, steps, prepared.atlas, grouped.chunks)
    run_id = ""
    for attempt in range(workspace.params.integrate.max_recheckouts + 1):
        outcomes = await planner.plan()
        run = _record(workspace, steps, prepared, grouped, planner, outcomes, paragraphs, time.monotonic() - started)
        files = planner.draft.changes()
        files[workspace.inbox_path] = (inbox_bytes, _inbox_after(text, paragraphs, run).encode())
        run = save_planned(workspace, run.model_copy(update={"id": run_id}), files)
        run_id = run.id
        if dry_run:
            return run
        try:
            return await steps.apply(run.id)
        except NoteChanged as error:
            if attempt == workspace.params.integrate.max_recheckouts:
                raise
            planner.start_again(str(error))
    raise AssertionError("the loop returns or raises")


def _read_inbox(workspace: Workspace) -> tuple[bytes, str | None]:
    """The inbox's bytes; empty with a sentence where there is none. Raises NoteUnreadable for what is no text file."""
    if not workspace.inbox.exists():
        return b"", f"There is no inbox at {workspace.inbox}."
    limit = workspace.params.vault.max_note_bytes
    if workspace.inbox.is_relative_to(workspace.vault):
        return read_bytes(workspace.vault, workspace.inbox_path, limit), None
    return read_bytes(workspace.inbox.parent, workspace.inbox.name, limit), None


async def _group(steps: Steps, paragraphs: Sequence[InboxParagraph], atlas: Atlas) -> Chunks:
    steps.progress("group", 0, 1)
    plain = [p.paragraph for p in paragraphs]
    try:
        grouped = await steps.group(plain, atlas)
    except LibrarianFault as error:
        grouped = Chunks((), (f"Nothing could be grouped, so all paragraphs stay in the inbox: {error}",))
    steps.progress("group", 1, 1)
    return grouped


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One planned chunk: what was explored, the answer where there is one, else the reason."""

    exploration: Exploration
    answer: ChunkEdits | None
    reason: str | None
    usage: Usage = Usage()


class _Planner:
    """Plans all chunks against one draft of the vault, side by side, settled in their order."""

    def __init__(self, workspace: Workspace, steps: Steps, atlas: Atlas, chunks: tuple[Chunk, ...]) -> None:
        self._workspace = workspace
        self._steps = steps
        self._atlas = atlas
        self._chunks = chunks
        self._explored: dict[int, Exploration] = {}
        self._answers: dict[tuple[int, tuple[OpenNote, ...]], ChunkEdits] = {}
        self._refused = ""
        self.draft = self._new_draft()

    def start_again(self, why: str) -> None:
        """After a note changed on disk: a new draft. Chunks whose notes did not change keep their answer."""
        self._refused = why
        self.draft = self._new_draft()

    async def plan(self) -> dict[int, _Outcome]:
        """Every chunk's outcome, by id. What is no matter of one chunk (key, endpoint, disk) ends the run."""
        slots = asyncio.Semaphore(self._workspace.params.integrate.concurrency)
        loop = asyncio.get_running_loop()
        wanted = {chunk.id: loop.create_future() for chunk in self._chunks}
        settled = {chunk.id: asyncio.Event() for chunk in self._chunks}
        done = 0
        self._steps.progress("chunks", 0, len(self._chunks))

        async def one(chunk: Chunk) -> tuple[int, _Outcome]:
            nonlocal done
            async with slots:
                exploration = await self._explore(chunk)
                wanted[chunk.id].set_result(frozenset(exploration.checked_out))
                for earlier in self._chunks:
                    if earlier.id >= chunk.id:
                        break
                    if not (await wanted[earlier.id]).isdisjoint(exploration.checked_out):
                        await settled[earlier.id].wait()
                outcome = await self._edit(chunk, exploration)
            settled[chunk.id].set()
            done += 1
            self._steps.progress("chunks", done, len(self._chunks))
            return chunk.id, outcome

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(chunk)) for chunk in self._chunks]
        except* Exception as failures:  # the first real failure, without the group around it
            raise _first(failures) from None
        return dict(task.result() for task in tasks)

    async def _explore(self, chunk: Chunk) -> Exploration:
        if chunk.id not in self._explored:
            try:
                self._explored[chunk.id] = await self._steps.explore(chunk, self._atlas)
            except LibrarianFault as error:
                return Exploration(chunk=chunk.id, reason=str(error))
        return self._explored[chunk.id]

    async def _edit(self, chunk: Chunk, exploration: Exploration) -> _Outcome:
        if not exploration.checked_out:
            return _Outcome(exploration, None, exploration.reason, exploration.usage)
        notes = self.draft.open(exploration.checked_out)
        if not notes:
            return _Outcome(exploration, None, "the chosen notes cannot be read any more", exploration.usage)
        key = (chunk.id, notes)
        try:
            if key not in self._answers:
                self._answers[key] = await self._steps.edit(chunk, exploration, notes, self._refused)
            self.draft.apply(self._answers[key].edits)
        except (LibrarianFault, EditRefused) as error:
            return _Outcome(exploration, None, str(error), exploration.usage)
        answer = self._answers[key]
        return _Outcome(exploration, answer, None, exploration.usage + answer.usage)

    def _new_draft(self) -> Draft:
        vault, limit = self._workspace.vault, self._workspace.params.vault.max_note_bytes
        return Draft(lambda path: read_bytes(vault, path, limit))


def _first(failures: BaseExceptionGroup[Exception]) -> Exception:
    inner = failures.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _record(
    workspace: Workspace,
    steps: Steps,
    prepared: Prepared,
    grouped: Chunks,
    planner: _Planner,
    outcomes: Mapping[int, _Outcome],
    paragraphs: Sequence[InboxParagraph],
    seconds: float,
) -> Run:
    chunks = tuple(_chunk_record(chunk, outcomes[chunk.id]) for chunk in grouped.chunks)
    chunk_of = {n: chunk for chunk in chunks for n in chunk.paragraphs}
    nowhere = grouped.warnings[0] if grouped.warnings and not chunks else "in no chunk"
    return Run(
        id="",
        status=RunStatus.PLANNED,
        vault=str(workspace.vault),
        inbox=workspace.inbox_path,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        librarian=steps.librarian_name,
        paragraphs=tuple(
            _paragraph_record(p.paragraph, chunk_of.get(p.paragraph.n), outcomes, nowhere) for p in paragraphs
        ),
        chunks=chunks,
        skipped=prepared.skipped,
        warnings=prepared.warnings + grouped.warnings,
        usage=steps.usage,
        seconds=round(seconds, 3),
    )


def _chunk_record(chunk: Chunk, outcome: _Outcome) -> ChunkRecord:
    return ChunkRecord(
        id=chunk.id,
        paragraphs=tuple(p.n for p in chunk.paragraphs),
        viewed=outcome.exploration.viewed,
        checked_out=outcome.exploration.checked_out,
        edits=outcome.answer.edits if outcome.answer else (),
        reason=outcome.reason,
        usage=outcome.usage,
    )


def _paragraph_record(
    paragraph: Paragraph, chunk: ChunkRecord | None, outcomes: Mapping[int, _Outcome], nowhere: str
) -> ParagraphRecord:
    """How a paragraph ends. An edit that holds it outweighs a duplicate marker beside it."""
    if chunk is None:
        return ParagraphRecord(n=paragraph.n, text=paragraph.text, outcome="left", reason=nowhere)
    answer = outcomes[chunk.id].answer
    edits = [edit for edit in chunk.edits if paragraph.n in edit.paragraphs]
    for edit in sorted(edits, key=lambda e: e.kind == "duplicate"):
        return ParagraphRecord(
            n=paragraph.n,
            text=paragraph.text,
            outcome="duplicate" if edit.kind == "duplicate" else "integrated",
            chunk=chunk.id,
            file=edit.file,
            quote=edit.find if edit.kind == "duplicate" else None,
        )
    reason = (answer.left.get(paragraph.n) if answer else chunk.reason) or "no edit takes it up"
    return ParagraphRecord(n=paragraph.n, text=paragraph.text, outcome="left", chunk=chunk.id, reason=reason)


def _inbox_after(text: str, paragraphs: Sequence[InboxParagraph], run: Run) -> str:
    gone = {record.n for record in run.paragraphs if record.outcome != "left"}
    return remove_paragraphs(text, [(p.start, p.end) for p in paragraphs if p.paragraph.n in gone])


def _nothing_to_do(workspace: Workspace, steps: Steps, why: str) -> Run:
    return Run(
        id="",
        status=RunStatus.NOTHING_TO_DO,
        vault=str(workspace.vault),
        inbox=workspace.inbox_path,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        librarian=steps.librarian_name,
        warnings=(why,),
    )

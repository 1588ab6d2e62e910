"""The main job, composed: tables, summaries, index, paragraphs, chunks, exploration, edits, a plan, its application.

The composition is written once. `Steps` are what it is made of: plain calls (`inbox.steps`), or the same calls as
cached tasks of an orchestrator. Nothing is written to the vault before every chunk is planned; the plan is then applied
in one journal, so a run that is killed has either changed nothing or is finished on the next start.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from infold.durable.locks import integration_lock
from infold.durable.records import moment
from infold.errors import LibrarianFault, NoteChanged
from infold.inbox.chunking import Chunks
from infold.inbox.contradictions import differences
from infold.inbox.inbox_text import remove_paragraphs
from infold.inbox.intake import taken_in
from infold.inbox.paragraphs import InboxParagraph, number_paragraphs
from infold.inbox.planning import PlannedOutcome, Planner, Prepared, Steps
from infold.inbox.run import ChunkRecord, ParagraphRecord, Run, RunStatus
from infold.inbox.runs import recover, save_planned
from infold.inbox.vault_snapshot import VaultSnapshot
from infold.librarian.answers import Paragraph
from infold.vault.files import decode, read_bytes
from infold.workspace import Workspace


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
        why = problem or f"The inbox {workspace.inbox_path} holds no paragraph."
        return _nothing_to_do(workspace, steps, (why, *finished))

    paragraphs, waiting = taken_in(workspace, paragraphs)
    prepared = await steps.prepare()
    grouped = await _group(steps, paragraphs, prepared.snapshot)
    waits = (_waits(waiting, workspace.params.integrate.max_paragraphs),) if waiting else ()
    prepared = replace(prepared, warnings=finished + waits + prepared.warnings)
    planner = Planner(workspace, steps, prepared.snapshot, grouped.chunks)
    run_id = ""
    tries_left = workspace.params.integrate.max_recheckouts
    while True:
        outcomes = await planner.plan()
        run = _record(workspace, steps, prepared, grouped, outcomes, paragraphs, time.monotonic() - started)
        run = run.model_copy(update={"waiting": waiting})
        files = planner.draft.changes()
        files[workspace.inbox_path] = (inbox_bytes, _inbox_after(text, paragraphs, run).encode())
        run = save_planned(workspace, run.model_copy(update={"id": run_id}), files)
        run_id = run.id
        if dry_run:
            return run
        try:
            return await steps.apply(run.id)
        except NoteChanged as error:
            notes = [path for path in error.paths if path != workspace.inbox_path]
            if tries_left <= 0:
                if not notes:
                    raise
                planner.leave_alone(notes)  # ends: each turn gives at least one more note up
            tries_left -= 1
            planner.start_again(str(error))


def _waits(count: int, most: int) -> str:
    said = "paragraph waits" if count == 1 else "paragraphs wait"
    return f"{count:,} {said} in the inbox for the next run: one takes {most:,} (integrate.max_paragraphs)."


def _read_inbox(workspace: Workspace) -> tuple[bytes, str | None]:
    """The inbox's bytes; empty with a sentence where there is none. Raises NoteUnreadable for what is no text file."""
    if not workspace.inbox.exists():
        return b"", f"There is no inbox at {workspace.inbox}."
    limit = workspace.params.vault.max_note_bytes
    if workspace.inbox.is_relative_to(workspace.vault):
        return read_bytes(workspace.vault, workspace.inbox_path, limit), None
    return read_bytes(workspace.inbox.parent, workspace.inbox.name, limit), None


async def _group(steps: Steps, paragraphs: Sequence[InboxParagraph], snapshot: VaultSnapshot) -> Chunks:
    steps.progress("group", 0, 1)
    plain = [p.paragraph for p in paragraphs]
    try:
        grouped = await steps.group(plain, snapshot)
    except LibrarianFault as error:
        grouped = Chunks((), (f"Nothing could be grouped, so all paragraphs stay in the inbox: {error}",))
    steps.progress("group", 1, 1)
    return grouped


def _record(
    workspace: Workspace,
    steps: Steps,
    prepared: Prepared,
    grouped: Chunks,
    outcomes: Mapping[int, PlannedOutcome],
    paragraphs: Sequence[InboxParagraph],
    seconds: float,
) -> Run:
    chunks = tuple(
        chunk_record(chunk.id, tuple(p.n for p in chunk.paragraphs), outcomes[chunk.id]) for chunk in grouped.chunks
    )
    chunk_of = {n: chunk for chunk in chunks for n in chunk.paragraphs}
    nowhere = grouped.warnings[0] if grouped.warnings and not chunks else "in no chunk"
    return Run(
        id="",
        status=RunStatus.PLANNED,
        vault=str(workspace.vault),
        state=str(workspace.state),
        inbox=workspace.inbox_path,
        created_at=moment(),
        librarian=steps.librarian.name,
        paragraphs=tuple(
            paragraph_record(p.paragraph, chunk_of.get(p.paragraph.n), outcomes, nowhere) for p in paragraphs
        ),
        chunks=chunks,
        skipped=prepared.skipped,
        warnings=prepared.warnings + grouped.warnings + differences(steps.note, grouped.chunks, outcomes),
        usage=steps.usage,
        seconds=round(seconds, 3),
    )


def chunk_record(number: int, paragraphs: tuple[int, ...], outcome: PlannedOutcome) -> ChunkRecord:
    """What was planned for a chunk, and how it came about."""
    return ChunkRecord(
        id=number,
        paragraphs=paragraphs,
        viewed=outcome.exploration.viewed,
        checked_out=outcome.exploration.checked_out,
        stopped=outcome.exploration.stopped,
        edits=outcome.answer.edits if outcome.answer else (),
        reason=outcome.reason,
        usage=outcome.usage,
    )


def paragraph_record(
    paragraph: Paragraph, chunk: ChunkRecord | None, outcomes: Mapping[int, PlannedOutcome], nowhere: str
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


def _nothing_to_do(workspace: Workspace, steps: Steps, said: tuple[str, ...]) -> Run:
    return Run(
        id="",
        status=RunStatus.NOTHING_TO_DO,
        vault=str(workspace.vault),
        state=str(workspace.state),
        inbox=workspace.inbox_path,
        created_at=moment(),
        librarian=steps.librarian.name,
        warnings=said,
    )

"""A plan made anew for the notes that changed since: their chunks are explored and edited again, the others kept.

What a kept chunk was to write is taken into the draft first, so that what is asked again sees the notes as they will
be. Refitting the edits of a person's decisions, without asking anybody, belongs to `inbox.review`.
"""

from __future__ import annotations

from infold.durable.locks import integration_lock
from infold.errors import NoteUnreadable, PathRefused, RunStateWrong
from infold.inbox.integration import chunk_record, paragraph_record
from infold.inbox.paragraphs import number_paragraphs
from infold.inbox.planning import Planner, Steps
from infold.inbox.review import inbox_after
from infold.inbox.run import ChunkRecord, Run, RunStatus
from infold.inbox.run_store import RunStore
from infold.inbox.runs import recover, save_planned
from infold.librarian.answers import Chunk, Paragraph
from infold.text import content_hash
from infold.vault.files import decode, read_bytes
from infold.workspace import Workspace


async def plan_anew(workspace: Workspace, steps: Steps, run_id: str) -> Run:
    """The plan, kept under its id, with new answers for each chunk that was to edit a note which is another now.

    Raises RunStateWrong where the run is no plan (any more), VaultBusy, and what the librarian's endpoint does.
    """
    with integration_lock(workspace):
        recover(workspace)
        run = RunStore(workspace.runs).load(run_id)
        if run.status is not RunStatus.PLANNED:
            raise RunStateWrong(f"Run {run.id} is {run.status}: there is nothing to plan any more.")
        changed = _changed(workspace, run)
        again = [chunk for chunk in run.chunks if any(edit.file in changed for edit in chunk.edits)]
        return await _planned(workspace, steps, run, again) if again else run


def _changed(workspace: Workspace, run: Run) -> set[str]:
    """The notes of the plan that are not what it saw."""
    limit, found = workspace.params.vault.max_note_bytes, set[str]()
    for change in run.changes:
        if change.path == workspace.inbox_path:
            continue
        try:
            now = content_hash(read_bytes(workspace.vault, change.path, limit))
        except (NoteUnreadable, PathRefused):
            now = ""
        if now != change.before:
            found.add(change.path)
    return found


async def _planned(workspace: Workspace, steps: Steps, run: Run, again: list[ChunkRecord]) -> Run:
    limit = workspace.params.vault.max_note_bytes
    inbox = read_bytes(workspace.inbox.parent, workspace.inbox.name, limit)
    prepared = await steps.prepare()
    planner = Planner(workspace, steps, prepared.snapshot, _chunks(run, again, decode(inbox, workspace.inbox_path)))
    for chunk in run.chunks:
        if chunk not in again:
            planner.draft.open(edit.file for edit in chunk.edits)
            planner.draft.apply(chunk.edits)
    outcomes = await planner.plan()
    chunks = tuple(
        chunk_record(chunk.id, chunk.paragraphs, outcomes[chunk.id]) if chunk.id in outcomes else chunk
        for chunk in run.chunks
    )
    chunk_of = {n: chunk for chunk in chunks for n in chunk.paragraphs if chunk.id in outcomes}
    paragraphs = tuple(
        paragraph_record(Paragraph(p.n, p.text), chunk_of[p.n], outcomes, "") if p.n in chunk_of else p
        for p in run.paragraphs
    )
    planned = run.model_copy(update={"chunks": chunks, "paragraphs": paragraphs, "usage": run.usage + steps.usage})
    files = planner.draft.changes()
    files[workspace.inbox_path] = (inbox, inbox_after(inbox, paragraphs))
    return save_planned(workspace, planned, files)


def _chunks(run: Run, again: list[ChunkRecord], inbox: str) -> tuple[Chunk, ...]:
    """The chunks as they were asked for, with the headings that their paragraphs stand under in the inbox."""
    trails = {each.paragraph.text: each.paragraph.trail for each in number_paragraphs(inbox)}
    texts = {p.n: p.text for p in run.paragraphs}
    return tuple(
        Chunk(chunk.id, tuple(Paragraph(n, texts[n], trails.get(texts[n], ())) for n in chunk.paragraphs))
        for chunk in again
    )

"""A plan looked at hunk by hunk: each edit under its heading, what a person decides of it, and the plan that results.

Plans only. What is decided makes a new plan under the same id, on the notes as they are now; writing it belongs to
`inbox.runs`. An edit whose text is no longer there leaves its paragraphs in the inbox, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import Final

from infold.durable.locks import integration_lock
from infold.errors import EditRefused, RunStateWrong, UsageError
from infold.inbox.editing import WorkingCopy
from infold.inbox.inbox_text import locate_paragraphs, remove_paragraphs
from infold.inbox.run import ChunkRecord, EditRecord, ParagraphRecord, Run, RunStatus
from infold.inbox.run_store import RunStore
from infold.inbox.runs import recover, save_planned
from infold.librarian.offline.inserting import Insertion, edit_for
from infold.librarian.offline.placing import InsertionPoint
from infold.vault.edits import plan_changes
from infold.vault.files import decode, read_bytes
from infold.vault.match import find_once
from infold.vault.note import parse
from infold.vault.protect import check_protected
from infold.vault.records import BlockKind, Note
from infold.vault.structure import check_structure
from infold.workspace import Workspace

_SKIPPED: Final = "skipped in the review"
_SEPARATORS: Final = re.compile(r"\s*,\s*|\s+")
_NUMBERS: Final = re.compile(r"\d+(?:(?:\s*,\s*|\s+)\d+)+")


class HunkVerdict(StrEnum):
    """What a person decides of a hunk."""

    ACCEPT = "accept"
    SKIP = "skip"
    EDIT = "edit"  # other text in its place
    SEND = "send"  # to another note, or another section


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision. `text` is what is put in (edit, or send), `file` and `section` where it is sent to."""

    verdict: HunkVerdict
    text: str = ""
    file: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class PlannedHunk:
    """One edit of a plan. `number` counts from 1 over the whole plan; `runners_up` are the next best notes."""

    number: int
    chunk: int
    file: str
    trail: tuple[str, ...]
    find: str
    replace: str
    paragraphs: tuple[int, ...]
    text: str  # the inbox paragraphs that it takes in
    reason: str
    runners_up: tuple[str, ...] = ()


@dataclass(slots=True)
class _ReviewWork:
    """A plan in the making: the notes as they will be, and why paragraphs stay."""

    draft: WorkingCopy
    kept: dict[int, list[EditRecord]] = field(default_factory=dict)
    left: dict[int, str] = field(default_factory=dict)


def hunks_of(store: RunStore, run: Run) -> list[PlannedHunk]:
    """The edits of a plan, numbered in the order of the inbox, as the plan is shown."""
    texts = {change.path: store.content(run.id, change.before) for change in run.changes}
    found = [
        _hunk(run, chunk.id, edit, chunk.viewed, chunk.checked_out, texts.get(edit.file, ""))
        for chunk in run.chunks
        for edit in chunk.edits
        if edit.kind == "edit"
    ]
    return [replace(hunk, number=number) for number, hunk in enumerate(found, start=1)]


def is_expired(run: Run, days: int, now: datetime | None = None) -> bool:
    """Whether a plan is older than plans are kept to."""
    age = (now or datetime.now(UTC)) - datetime.fromisoformat(run.created_at)
    return run.status is RunStatus.PLANNED and age.days >= days


def decisions_for(
    hunks: Sequence[PlannedHunk], only: Iterable[str] = (), leave_out: Iterable[str] = ()
) -> dict[int, Decision]:
    """Decisions by hunk number: `only` these, or all but `leave_out`, each a number or the path of a note.

    Raises UsageError for what names no hunk.
    """
    wanted, unwanted = _named(hunks, only), _named(hunks, leave_out)
    return {
        hunk.number: Decision(HunkVerdict.SKIP)
        for hunk in hunks
        if hunk.number in unwanted or (wanted and hunk.number not in wanted)
    }


def decide(workspace: Workspace, run: Run, decisions: Mapping[int, Decision]) -> Run:
    """The plan as decided, made anew on the notes as they are now and kept under its id. Undecided hunks are accepted.

    Keys are the numbers of hunks; the negative number of a paragraph that was left may be sent somewhere too.
    Raises RunStateWrong where the run is no plan, UsageError and PathRefused for a note or section that is not there,
    EditRefused where a text would break its note, VaultBusy.
    """
    with integration_lock(workspace):
        recover(workspace)
        store = RunStore(workspace.runs)
        run = store.load(run.id)
        if run.status is not RunStatus.PLANNED:
            raise RunStateWrong(f"Run {run.id} is {run.status}: there is nothing to decide any more.")
        return _planned(workspace, store, run, decisions)


def _planned(workspace: Workspace, store: RunStore, run: Run, decisions: Mapping[int, Decision]) -> Run:
    limit = workspace.params.vault.max_note_bytes
    work = _ReviewWork(WorkingCopy(lambda path: read_bytes(workspace.vault, path, limit)))
    numbers = {(hunk.chunk, hunk.file, hunk.find): hunk for hunk in hunks_of(store, run)}
    for chunk in run.chunks:
        for edit in chunk.edits:
            hunk = numbers.get((chunk.id, edit.file, edit.find)) if edit.kind == "edit" else None
            decision = (
                decisions.get(hunk.number, Decision(HunkVerdict.ACCEPT)) if hunk else Decision(HunkVerdict.ACCEPT)
            )
            decided = _decided(work, edit, hunk, decision)
            if decided is not None:
                work.kept.setdefault(chunk.id, []).append(decided)
    chunks = list(run.chunks)
    for n in sorted(-key for key in decisions if key < 0 and decisions[key].verdict is HunkVerdict.SEND):
        chunks += _left_sent(work, run, n, decisions[-n], len(chunks) + 1)
    paragraphs = tuple(_outcome(paragraph, work) for paragraph in run.paragraphs)
    with_edits = tuple(chunk.model_copy(update={"edits": tuple(work.kept.get(chunk.id, ()))}) for chunk in chunks)
    planned = run.model_copy(update={"paragraphs": paragraphs, "chunks": with_edits})
    files = work.draft.changes()
    inbox = read_bytes(workspace.inbox.parent, workspace.inbox.name, limit)
    files[workspace.inbox_path] = (inbox, inbox_after(inbox, paragraphs))
    return save_planned(workspace, planned, files)


def _left_sent(work: _ReviewWork, run: Run, n: int, decision: Decision, free_id: int) -> list[ChunkRecord]:
    """Takes a paragraph that was left into a note; gives a chunk for it where it was in none."""
    paragraph = next((p for p in run.paragraphs if p.n == n and p.outcome == "left"), None)
    if paragraph is None:
        raise UsageError(f"Paragraph {n} is not one that stays in the inbox.", hint="`infold review` shows which do.")
    blank = EditRecord(file="", kind="edit", find="", replace=None, paragraphs=(n,))
    edit = _sent(work, blank, decision.file, decision.section, decision.text or paragraph.text)
    _check(work.draft.texts[edit.file], edit)
    work.draft.apply([edit])
    chunk = paragraph.chunk or free_id
    work.kept.setdefault(chunk, []).append(edit)
    return [] if paragraph.chunk else [ChunkRecord(id=chunk, paragraphs=(n,))]


def _decided(work: _ReviewWork, edit: EditRecord, hunk: PlannedHunk | None, decision: Decision) -> EditRecord | None:
    """The edit as it was decided, taken into the draft; None where it is left out."""
    if hunk is None:
        return edit  # a duplicate marker: nothing is written
    if decision.verdict is HunkVerdict.SKIP:
        work.left |= dict.fromkeys(edit.paragraphs, _SKIPPED)
        return None
    if decision.verdict is HunkVerdict.SEND:
        edit = _sent(work, edit, decision.file or edit.file, decision.section, decision.text or hunk.text)
    elif decision.verdict is HunkVerdict.EDIT:
        edit = edit.model_copy(update={"replace": decision.text})
    is_own = decision.verdict is not HunkVerdict.ACCEPT
    try:
        if not work.draft.open([edit.file]):
            raise EditRefused(f"{edit.file} cannot be read any more")
        _check(work.draft.texts[edit.file], edit)
        work.draft.apply([edit])
    except EditRefused as error:
        if is_own:
            raise
        work.left |= dict.fromkeys(edit.paragraphs, f"{edit.file} changed since the run was planned: {error}")
        return None
    return edit


def _check(text: str, edit: EditRecord) -> None:
    """Refuses what would break the note as it is now."""
    changes = plan_changes(text, [(edit.find, edit.replace or "")])
    check_protected(text, changes)
    check_structure(text, changes)


def _sent(work: _ReviewWork, edit: EditRecord, file: str, section: str, text: str) -> EditRecord:
    """The text at the end of a section of a note, or of the note."""
    if not work.draft.open([file]):
        raise UsageError(f"There is no note {file}, or it cannot be read.", hint="Give its path within the vault.")
    note = parse(file, work.draft.texts[file])
    insertion = Insertion(_end_of(note, section), edit.paragraphs, (text,))
    made = edit_for(note, insertion)
    if made is None:
        raise EditRefused(f"{file} has no text that new text could be put beside.", hint="Write into it first.")
    moved = {"file": file, "find": made.find, "replace": made.replace, "reason": "sent here in the review"}
    return edit.model_copy(update=moved)


def _end_of(note: Note, section: str) -> InsertionPoint:
    if not section:
        return InsertionPoint(note.blocks[-1].end if note.blocks else None, None)
    wanted = section.lstrip("# ").casefold()
    blocks = note.blocks
    for at, block in enumerate(blocks):
        if (
            block.kind is BlockKind.HEADING
            and note.block_text(block).strip().lstrip("# ").rstrip("# ").casefold() == wanted
        ):
            last = at
            while last + 1 < len(blocks) and blocks[last + 1].kind is not BlockKind.HEADING:
                last += 1
            below = blocks[last + 1].start if last + 1 < len(blocks) else None
            return InsertionPoint(blocks[last].end, below)
    titles = ", ".join(heading.title for heading in note.headings) or "none"
    raise UsageError(f"{note.path} has no section {section!r}.", hint=f"Its sections: {titles}.")


def _outcome(paragraph: ParagraphRecord, work: _ReviewWork) -> ParagraphRecord:
    if paragraph.outcome == "duplicate":
        return paragraph
    held = [edit for edits in work.kept.values() for edit in edits if paragraph.n in edit.paragraphs]
    for edit in sorted(held, key=lambda e: e.kind == "duplicate"):
        if edit.kind == "edit":
            return paragraph.model_copy(update={"outcome": "integrated", "file": edit.file, "reason": None})
        return paragraph.model_copy(update={"outcome": "duplicate", "file": edit.file, "quote": edit.find})
    if paragraph.outcome == "left":
        return paragraph
    reason = work.left.get(paragraph.n, _SKIPPED)
    return paragraph.model_copy(update={"outcome": "left", "file": None, "reason": reason})


def inbox_after(inbox: bytes, paragraphs: Sequence[ParagraphRecord]) -> bytes:
    """The inbox without the paragraphs that are not left."""
    text = decode(inbox, "inbox")
    gone = [paragraph.text for paragraph in paragraphs if paragraph.outcome != "left"]
    return remove_paragraphs(text, [span for span in locate_paragraphs(text, gone) if span]).encode()


def _hunk(
    run: Run, chunk: int, edit: EditRecord, viewed: Sequence[str], opened: Sequence[str], text: str
) -> PlannedHunk:
    said = "\n\n".join(p.text for p in run.paragraphs if p.n in edit.paragraphs)
    others = tuple(dict.fromkeys(path for path in (*opened, *viewed) if path != edit.file))
    trail, start = _heading_at(text, edit)
    reason = edit.reason or f"of {len(viewed)} notes looked at, {len(opened)} opened; the text fits this one best"
    return PlannedHunk(
        start, chunk, edit.file, trail, edit.find, edit.replace or "", edit.paragraphs, said, reason, others[:3]
    )


def _heading_at(text: str, edit: EditRecord) -> tuple[tuple[str, ...], int]:
    """The headings above the place of an edit, and where it is; of text that an earlier edit brings, the end."""
    note = parse(edit.file, text)
    try:
        match = find_once(text, edit.find)
    except EditRefused:
        return (), len(text)
    above = [block for block in note.blocks if block.start < match.end]
    if not above:
        return (), match.start
    last = above[-1]
    own = next((h.title for h in note.headings if h.start == last.start), None)
    return (*last.trail, own) if own is not None else last.trail, match.start


def _named(hunks: Sequence[PlannedHunk], names: Iterable[str]) -> set[int]:
    """The numbers of the hunks that names stand for; several numbers may stand in one, as people write them."""
    found: set[int] = set()
    parts = (_SEPARATORS.split(given) if _NUMBERS.fullmatch(given) else [given] for given in names)
    for name in chain.from_iterable(parts):
        own = {h.number for h in hunks if name in (str(h.number), h.file, h.file.removesuffix(".md"))}
        if not own:
            raise UsageError(
                f"{name!r} names no hunk of this run.",
                hint=f"Give numbers from 1 to {len(hunks)}, or the path of a note that it changes.",
            )
        found |= own
    return found

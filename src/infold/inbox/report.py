"""The report of a run, in its folder: report.json for programs, report.md, and report.html to look at.

The page asks nothing of the network and runs no script; all text of notes is escaped. What a run is belongs to
`inbox.run`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.durable.blobs import Blobs
from infold.durable.files import Disk
from infold.durable.unified import unified
from infold.inbox.report_text import markdown
from infold.inbox.run import Run, RunStatus
from infold.reports.pages import page
from infold.text import word_count
from infold.vault.differences import Row, Segment, hunks
from infold.vault.note import parse
from infold.vault.note_link import note_link
from infold.vault.records import Note

_LONG_SAME: Final = 160  # characters of unchanged text shown on either side of a change within a line
_LONGEST_DIFF: Final = 1_000_000  # characters of both sides; beyond that a note is named, not shown
_MOST_LINES: Final = 20_000  # of both sides, likewise
_VERDICTS: Final = {
    RunStatus.PLANNED: ("planned", "Nothing is changed yet. This is what applying the run would do."),
    RunStatus.APPLYING: ("being applied", "The run was stopped half way; the next start finishes it."),
    RunStatus.APPLIED: ("applied", "All of the inbox found its place."),
    RunStatus.PARTIAL: ("partly applied", "What found no place stays in the inbox, with the reason."),
    RunStatus.NOTHING_TO_DO: ("nothing to do", "The inbox held no text."),
    RunStatus.UNDONE: ("undone", "The notes and the inbox are as they were before."),
    RunStatus.PARTLY_UNDONE: ("partly undone", "Some text had been changed since and stays as it stands."),
}


_MARKUP: Final = ("|", "```", "~~~", "    ", "\t", "- ", "* ", "+ ", "1. ", "> ", "$$", "<")


@dataclass(frozen=True, slots=True)
class PlacedHunk:
    """Changed lines that lie near each other, and the headings that they stand under."""

    trail: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class NoteDifference:
    """One changed file for the report."""

    path: str
    is_inbox: bool
    hunks: tuple[PlacedHunk, ...]
    unified: str
    added: int  # words
    removed: int
    is_too_long: bool = False


def write_report(folder: Path, run: Run) -> None:
    """Writes the three forms of the report beside the run's record. Raises StateUnwritable."""
    disk = Disk()
    differences = note_differences(folder, run)
    disk.write_whole(folder / "report.json", run.model_dump_json(indent=1).encode())
    texts = [(d.path, d.unified) for d in differences]
    disk.write_whole(folder / "report.md", markdown(run, _VERDICTS[run.status], undo_command(run), texts).encode())
    disk.write_whole(folder / "report.html", html(run, differences).encode())


def note_differences(folder: Path, run: Run) -> list[NoteDifference]:
    """What the run changes, file by file, from the contents kept in its folder."""
    blobs = Blobs(folder / "blobs", Disk())
    differences = []
    for change in run.changes:
        before, after = (blobs.get(name).decode("utf-8", errors="replace") for name in (change.before, change.after))
        is_inbox = change.path == run.inbox
        if len(before) + len(after) > _LONGEST_DIFF or _line_ends(before) + _line_ends(after) > _MOST_LINES:
            differences.append(NoteDifference(change.path, is_inbox, (), "", 0, 0, is_too_long=True))
            continue
        found = tuple(hunks(before, after))
        note = parse(change.path, after)
        segments = [s for hunk in found for row in hunk.rows for s in row.segments]
        differences.append(
            NoteDifference(
                path=change.path,
                is_inbox=is_inbox,
                hunks=tuple(
                    PlacedHunk(_trail_at(note, hunk.rows), tuple(_shortened(row) for row in hunk.rows))
                    for hunk in found
                ),
                unified=unified(before, after, change.path),
                added=_words(segments, "added"),
                removed=_words(segments, "removed"),
            )
        )
    return differences


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r")


def html(run: Run, differences: Sequence[NoteDifference]) -> str:
    """The page: self-contained, light and dark."""
    return page("run", **_context(run, differences))


def undo_command(run: Run) -> str | None:
    """What to type to take the run back, None where there is nothing to take back."""
    if run.status not in (RunStatus.APPLIED, RunStatus.PARTIAL):
        return None
    return _command("undo", run)


def _command(verb: str, run: Run) -> str:
    words = ["infold", verb, run.id, "--vault", run.vault, *(["--state", run.state] if run.state else [])]
    return shlex.join(words)


def _context(run: Run, differences: Sequence[NoteDifference]) -> dict[str, Any]:
    title, sentence = _VERDICTS[run.status]
    counts = {kind: sum(p.outcome == kind for p in run.paragraphs) for kind in ("integrated", "duplicate", "left")}
    return {
        "run": run,
        "title": title,
        "sentence": sentence,
        "tone": {RunStatus.APPLIED: "good", RunStatus.PARTIAL: "mixed", RunStatus.PARTLY_UNDONE: "mixed"}.get(
            run.status, "plain"
        ),
        "counts": counts,
        "notes": [d for d in differences if not d.is_inbox],
        "inbox": [d for d in differences if d.is_inbox],
        "anchors": {d.path: f"note-{number}" for number, d in enumerate(differences, start=1)},
        "reasons": _reasons(run),
        "links": {d.path: note_link(Path(run.vault), d.path) for d in differences},
        "left": [p for p in run.paragraphs if p.outcome == "left"],
        "is_undone": run.undone_at is not None,
        "is_markup": _is_markup,
        "is_table": _is_table,
        "is_table_row": lambda row: _is_table("".join(segment.text for segment in row.segments)),
        "review": _command("review", run),
        "undo": undo_command(run),
        "apply": _command("apply", run) if run.status is RunStatus.PLANNED else None,
        "is_planned": run.status is RunStatus.PLANNED,
    }


def _reasons(run: Run) -> dict[str, list[str]]:
    """Why the edits of each note go there, each said once; of a plan with the number it is decided on by."""
    edits = (edit for chunk in run.chunks for edit in chunk.edits if edit.kind == "edit")
    found: dict[str, list[str]] = {}
    is_planned = run.status is RunStatus.PLANNED
    for number, edit in enumerate(edits, start=1):
        label = f"Hunk {number}" if is_planned else "Why"
        reason = f"{label}: {edit.reason}" if edit.reason else label * is_planned
        if reason and reason not in (said := found.setdefault(edit.file, [])):
            said.append(reason)
    return found


def _trail_at(note: Note, rows: Sequence[Row]) -> tuple[str, ...]:
    """The headings above the first line that changed."""
    changed = [row for row in rows if row.kind != "same"]
    line = next((row.number for row in (*changed, *rows) if row.number is not None), 0)
    above: list[tuple[int, str]] = []
    for heading in note.headings:
        if heading.line >= line:
            break
        above = [*(entry for entry in above if entry[0] < heading.level), (heading.level, heading.title)]
    return tuple(title for _, title in above)


def _is_markup(text: str) -> bool:
    """Whether a text is more than prose: a list, code, a table, a quote. Its white space matters then."""
    return any(line.startswith(_MARKUP) for line in text.splitlines())


def _is_table(text: str) -> bool:
    return text.lstrip().startswith("|")


def _shortened(row: Row) -> Row:
    """A changed line without most of a long unchanged stretch in it."""
    if row.kind != "changed":
        return row
    last = len(row.segments) - 1
    segments = []
    for at, segment in enumerate(row.segments):
        text = segment.text
        head = text[:_LONG_SAME] if at > 0 else ""
        tail = text[-_LONG_SAME:] if at < last else ""
        if segment.kind == "same" and len(text) > len(head) + len(tail) + 40:
            text = f"{head} … {tail}"
        segments.append(Segment(segment.kind, text))
    return Row(row.kind, row.number, tuple(segments))


def _words(segments: Sequence[Segment], kind: str) -> int:
    return sum(word_count(s.text) for s in segments if s.kind == kind)

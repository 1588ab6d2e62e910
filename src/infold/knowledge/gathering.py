"""What was found for a question, as candidates to pack: passages, or whole notes where nothing is to be compressed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from infold.catalogue.summaries import GENERAL, NOTE, SummaryStore
from infold.errors import NoteUnreadable, PathRefused
from infold.knowledge.filling import Candidate
from infold.knowledge.packing import CompressionLevel
from infold.knowledge.sources.records import TRUST
from infold.search.query.results import Result
from infold.text import content_hash
from infold.vault.files import read_bytes
from infold.vault.outside import OutsideText, outside_texts, without_outside
from infold.vault.portions import Portion
from infold.workspace import Workspace

DEPTH: Final = 60  # places that are asked for


def gather(
    results: Iterable[Result],
    read: Callable[[str], Portion],
    compression: CompressionLevel,
    origin: Callable[[str], str],
    summary: Callable[[str], str],
) -> list[Candidate]:
    """Candidates in the order of their scores. `read` gives lines by place, `origin` and `summary` facts by path.

    What cannot be read any more is left out: it is not there.
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    for result in sorted(results, key=lambda result: (-result.score, result.path, result.start_line)):
        whole = compression == "none"
        if whole and result.path in seen:
            continue
        seen.add(result.path)
        portion = _portion(result, read, whole=whole)
        text = portion.text if portion is not None else result.snippet
        outside = outside_texts(text)
        if whole and result.trust != TRUST:  # the note was found by one's own words: the rest of it is not asked for
            text = without_outside(text)
        if not text.strip():
            continue
        start = portion.start if portion is not None else 0
        found.append(
            Candidate(
                path=result.path,
                start_line=start,
                end_line=start + portion.lines - 1 if portion is not None else 0,
                text=text.rstrip("\r\n"),
                score=result.score,
                heading=(result.heading or "") if not whole else "",
                date=result.date or "",
                origin=_origin(outside) or origin(result.path) if result.trust == TRUST else "",
                trust=result.trust,
                summary=summary(result.path) if compression == "minimal" else "",
            )
        )
    return found


def _origin(outside: Sequence[OutsideText]) -> str:
    return outside[0].url if outside else ""


def _portion(result: Result, read: Callable[[str], Portion], *, whole: bool) -> Portion | None:
    """The text behind a result; None where it has no lines, as a memory node."""
    if not result.start_line:
        return None
    place = result.path if whole else f"{result.path}:{result.start_line}-{result.end_line}"
    try:
        portion = read(place)
    except (NoteUnreadable, PathRefused):
        return None
    return portion if portion.lines else None


def note_summaries(workspace: Workspace) -> Callable[[str], str]:
    """What each note as a whole says, where that was summarised; '' where it was not."""
    rows = SummaryStore(workspace.summaries).load()

    def summary(path: str) -> str:
        try:
            digest = content_hash(read_bytes(workspace.vault, path, workspace.params.vault.max_note_bytes))
        except (NoteUnreadable, PathRefused):
            return ""
        row = rows.get((digest, NOTE, GENERAL))
        return row.summary if row is not None else ""

    return summary

"""The summary of a day: what its log and its sessions say, in 75 to 100 words, as one more entry of the log.

A log only grows: a day that goes on after its summary gets another one below, and a day on which nothing was added gets
none again, for the same text gives the same summary. Asking belongs to the librarian; a model's answer is kept by
content, so that it is paid for once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Final

from infold.errors import NoteUnreadable
from infold.librarian.answers import SummaryRequest
from infold.notebook.daily import daily_log, daily_path, local
from infold.notebook.sessions import transcript_files
from infold.notebook.transcripts import SessionTurn, read_transcript
from infold.notebook.turns import said_by
from infold.text import collapse_spaces, word_count
from infold.vault.daily_notes import daily_notes
from infold.vault.files import decode, read_bytes, safe_path
from infold.vault.front_matter import without_front_matter
from infold.vault.note import parse
from infold.workspace import Workspace

if TYPE_CHECKING:
    from infold.librarian.base import Librarian
    from infold.librarian.spend import Usage

TITLE: Final = "Summary of the day"
MAX_CHARACTERS: Final = 32_000  # of a day that are summarised: some 8,000 tokens
_ENTRY: Final = re.compile(r"^## \d\d:\d\d — ", re.MULTILINE)
_IS_SUMMARY: Final = re.compile(rf"\d\d:\d\d — {TITLE}")


@dataclass(frozen=True, slots=True)
class DaySummary:
    """What became of a summary. `text` is '' where none was written, and `message` says why."""

    path: str
    message: str
    text: str = ""
    usage: Usage | None = None

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"success": True, "path": self.path, "message": self.message, "summary": self.text or None}


async def daily_summary(
    workspace: Workspace, librarian: Librarian, now: datetime | None = None, *, of_entries: bool = False
) -> DaySummary:
    """Appends the summary of the day of `now` to its log, unless the day is too short, or summarised as it stands.

    With `of_entries`, for a job that nobody watches, a day that has neither entries of `daily_log` nor sessions is left
    alone: a person's daily note is not written into unasked. Raises LibrarianFault where a model gives none, and as
    `daily_log` does.
    """
    at = local(now)
    path = daily_path(workspace, daily_notes(workspace.vault, workspace.params.notebook), at)
    entries, summaries = _entries_and_summaries(_log(workspace, path))
    is_model = workspace.params.librarian.kind == "model"
    sessions = list(_sessions(workspace, at.date(), with_names=is_model))
    if of_entries and not sessions and not _ENTRY.search(entries):
        return DaySummary(path, f"{path} has no summary: nothing was logged and no session was held.")
    said = "\n\n".join(filter(None, (entries, *sessions)))
    low, high = workspace.params.summary.summary_target_words
    if word_count(said) < low:
        return DaySummary(path, f"{path} has no summary: a day of less than {low} words is its own.")
    left_out = max(0, len(said) - MAX_CHARACTERS)
    request = SummaryRequest(path, f"Daily Log — {at:%Y-%m-%d}", said[:MAX_CHARACTERS], None, (low, high))
    summary = collapse_spaces((await librarian.summarise(request)).summary)
    usage = librarian.spend.usage
    if any(summary in collapse_spaces(earlier) for earlier in summaries):
        return DaySummary(path, f"{path} has this summary already; nothing was added since.", usage=usage)
    daily_log(workspace, f"{TITLE}\n\n{summary}", at)
    cut = f" {left_out:,} characters of the day were too much and are not in it." if left_out else ""
    return DaySummary(path, f"Summarised in {path}.{cut}", summary, usage)


def _log(workspace: Workspace, path: str) -> str:
    if not safe_path(workspace.vault, path).exists():
        return ""
    return decode(read_bytes(workspace.vault, path, workspace.params.vault.max_note_bytes), path)


def _entries_and_summaries(log: str) -> tuple[str, list[str]]:
    """What a log says, and the entries of it that are its own summaries."""
    summaries: list[str] = []
    headings = parse("", log, with_blocks=False).headings
    for number in range(len(headings) - 1, -1, -1):
        heading = headings[number]
        if _IS_SUMMARY.fullmatch(heading.title):
            end = next((other.start for other in headings[number + 1 :] if other.level <= heading.level), len(log))
            summaries.append(log[heading.end : end])
            log = log[: heading.start] + log[end:]
    return without_front_matter(log).strip(), summaries


def _sessions(workspace: Workspace, day: date, *, with_names: bool) -> Iterator[str]:
    """What was said that day in each session. A transcript untouched since before the day has nothing of it."""
    begins = datetime.combine(day, time()).astimezone().timestamp()
    for _, file in transcript_files(workspace.sessions):
        try:
            if file.stat().st_mtime < begins:
                continue
            transcript = read_transcript(file)
        except (OSError, NoteUnreadable):  # named by `infold sessions list`
            continue
        turns = [turn for turn in transcript.turns if turn.at is not None and turn.at.date() == day]
        if turns:
            yield f"## {transcript.title}\n\n{_spoken(turns, with_names=with_names)}"


def _spoken(turns: list[SessionTurn], *, with_names: bool) -> str:
    return said_by(turns) if with_names else "\n\n".join(turn.text for turn in turns)

"""Sessions: transcripts of conversations as something to search (spec 3, Appendix C).

`SessionsFeed` gives their passages to `search.index.sync`, `SessionTexts` the readable text behind a hit, which the
JSON of a transcript is not. Reading a transcript belongs to `notebook.transcripts`, adding and forgetting to
`notebook.archive`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold.errors import NoteUnreadable, PathRefused
from infold.notebook.transcripts import SUFFIX, Transcript, read_transcript
from infold.notebook.turns import TurnsPassage, cut_turns, said_by, window
from infold.search.index.contract import Hit, IndexPoint, PointGroup
from infold.search.index.feeds import Item, Listing, ReadResult
from infold.search.index.point_ids import passage_ids, point_id
from infold.search.languages import AUTO, detect_language
from infold.search.query.excerpts import Excerpt
from infold.search.terms import document_words
from infold.text import content_hash
from infold.vault.names import name_problem, shown_name
from infold.vault.portions import Portion
from infold.vault.scanning import Skipped

if TYPE_CHECKING:
    from infold.search.index.points import NotePoints
    from infold.settings import SearchParams

FEED: Final = "sessions"
PREFIX: Final = "sessions/"  # of every transcript's path in the index, wherever its folder is
TRUST: Final = "session"
SETTLED_SECONDS: Final = 3600  # a transcript that grew since then is left to the hourly job by a search
SEARCH_BYTES: Final = 32 * 1024 * 1024  # of transcripts in all, beyond which no search waits for them
_SESSION_LINES: Final = re.compile(
    r"(?P<path>sessions/.+\.jsonl)(?::(?P<line>\d{1,9})(?::(?P<count>\d{1,9})|-(?P<last>\d{1,9}))?)?"
)
_VERSION: Final = "turns/2"  # raised when turns are read or cut otherwise
_LANGUAGE_CHARACTERS: Final = 20_000


@dataclass(frozen=True, slots=True)
class SessionsFeed:
    """The transcripts below a folder. No folder is no sessions: one that is not there yet is nothing unusual."""

    folder: Path
    params: SearchParams
    settled_only: bool = False
    may_be_empty: bool = False  # nothing left means that all was forgotten, not that the folder is away

    name = FEED

    @property
    def is_guarded(self) -> bool:
        """Whether no transcripts, where there were some, take nothing from the index."""
        return not (self.settled_only or self.may_be_empty)

    def items(self, paths: Sequence[str] | None = None) -> Listing:
        """Every transcript; symbolic links and hidden ones are passed over."""
        wanted = None if paths is None else frozenset(paths)
        items: list[Item] = []
        skipped: list[Skipped] = []
        found = transcript_files(self.folder)
        if not found and self.settled_only:
            return Listing((), (Skipped(".", "no transcripts; what is known of them was kept", is_kept=True),))
        for name, file in found:
            path = PREFIX + name
            if wanted is not None and path not in wanted:
                continue
            try:
                status = file.stat()
            except OSError as error:
                skipped.append(Skipped(path, f"cannot be read: {error.strerror or error}", is_kept=True))
                continue
            if self.settled_only and time.time() - status.st_mtime < SETTLED_SECONDS:
                reason = "changed within the hour; `infold sessions index` takes it in"
                skipped.append(Skipped(path, reason, is_kept=True))
            else:
                items.append(Item(path, status.st_mtime_ns, status.st_size, _VERSION))
        if self.settled_only and sum(item.size for item in items) > SEARCH_BYTES:
            return Listing(
                (), (Skipped(".", "too much for a search; `infold sessions index` takes it in", is_kept=True),)
            )
        return Listing(items, skipped)

    def read(self, item: Item, known_sha256: str) -> ReadResult:
        """The passages of a transcript."""
        name = item.path.removeprefix(PREFIX)
        try:
            transcript = read_transcript(self.folder / name)
        except NoteUnreadable as error:
            is_kept = not isinstance(error.__cause__, FileNotFoundError)
            return ReadResult(item, reason=str(error), is_kept=is_kept)
        if transcript.sha256 == known_sha256:
            return ReadResult(item, known_sha256)
        written = datetime.fromtimestamp(item.mtime_ns / 1e9, UTC).astimezone().date().isoformat()
        return ReadResult(item, transcript.sha256, session_points(item.path, transcript, self.params, written))


@dataclass(slots=True)
class SessionTexts:
    """What was said in the passages that a search found, each transcript read once. For one search."""

    folder: Path
    params: SearchParams
    _known: dict[str, tuple[Transcript, dict[str, TurnsPassage]]] = field(default_factory=dict)

    def stretch(self, hit: Hit) -> Excerpt | None:
        """The turns of `hit`, with who said them; None where the transcript no longer has them."""
        if hit.path not in self._known:
            try:
                transcript = read_transcript(self.folder / hit.path.removeprefix(PREFIX))
            except NoteUnreadable:
                transcript = Transcript((), "")
            self._known[hit.path] = transcript, dict(_with_ids(hit.path, _cut(transcript, self.params)))
        transcript, passages = self._known[hit.path]
        passage = passages.get(hit.id) or _as_it_was(hit, transcript, len(passages))
        if passage is None:
            return None
        return Excerpt(passage.shown, passage.first.line, passage.last.line, passage.trail[0])


def turns_text(folder: Path, path: str, start: int = 1, end: int | None = None) -> str:
    """What was said on the lines `start` to `end` (both included) of a transcript, readable, with who said it.

    `path` is as search shows it (`sessions/2026-02-24.jsonl`); for `infold get` and other faces. Raises PathRefused and
    NoteUnreadable.
    """
    name = path.removeprefix(PREFIX)
    if name_problem(name) or Path(name).is_absolute() or ".." in Path(name).parts or not name.endswith(SUFFIX):
        raise PathRefused(f"{shown_name(path)!r} is not the path of a transcript.")
    turns = read_transcript(folder / name).turns
    return said_by([turn for turn in turns if start <= turn.line and (end is None or turn.line <= end)])


def read_session(folder: Path, name: str) -> Portion | None:
    """What was said on the lines that `name` means (`sessions/talk.jsonl:3-7`); None for what names no transcript."""
    found = _SESSION_LINES.fullmatch(name)
    if found is None:
        return None
    start = int(found["line"] or 1)
    count = int(found["count"]) if found["count"] else None
    last = int(found["last"]) if found["last"] else start + count - 1 if count else None
    try:
        text = turns_text(folder, found["path"], start, last)
    except NoteUnreadable:
        return None
    lines = text.count("\n") + 1 if text else 0
    return Portion(found["path"], text, start, lines, lines)


def session_points(path: str, transcript: Transcript, params: SearchParams, written: str) -> NotePoints:
    """A transcript as the index takes it. `written` is the day its file was, for one that names no time."""
    from infold.search.index.points import NotePoints  # here: a search of what is indexed already does without

    passages = _cut(transcript, params)
    everything = "\n".join(turn.text for turn in transcript.turns)[:_LANGUAGE_CHARACTERS]
    language = detect_language(everything) if params.language == AUTO else params.language
    title = transcript.title
    day = transcript.day(path) or written
    texts = [f"{title}\n{passage.text}" if title else passage.text for passage in passages]
    points = [
        IndexPoint(
            id=name,
            path=path,
            start_line=passage.first.line,
            end_line=passage.last.line,
            title=title,
            trail=passage.trail,
            kind="session",
            group=PointGroup.SESSIONS,
            words=words,
            written=written,
            date=passage.first.at.date().isoformat() if passage.first.at else day,
            level="turns",
            trust=TRUST,
        )
        for (name, passage), text in zip(_with_ids(path, passages), texts, strict=True)
        for words, written in (document_words(text, language),)
    ]
    return NotePoints(path, title, language, points, embedding_keys(texts), texts)


def embedding_keys(texts: Sequence[str]) -> list[str]:
    """What the vectors of these texts are kept under."""
    return [content_hash(text) for text in texts]


def transcript_files(folder: Path) -> list[tuple[str, Path]]:
    """Every transcript below `folder`, by its name there with `/`."""
    found: list[tuple[str, Path]] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            file = Path(place) / name
            relative = file.relative_to(folder).as_posix()
            is_shown = name.endswith(SUFFIX) and not name.startswith(".") and not name_problem(relative)
            if is_shown and not file.is_symlink():
                found.append((relative, file))
    return sorted(found)


def _cut(transcript: Transcript, params: SearchParams) -> list[TurnsPassage]:
    return cut_turns(transcript, params.passage_tokens, params.overlap_tokens)


def _as_it_was(hit: Hit, transcript: Transcript, most: int) -> TurnsPassage | None:
    """The passage of `hit` where the transcript has grown since, so that its last turns are cut otherwise now."""
    turns = [turn for turn in transcript.turns if hit.start_line <= turn.line <= hit.end_line]
    if not turns:
        return None
    passage = window(turns)
    ids = (point_id(hit.path, ordinal, passage.text_hash) for ordinal in range(most + 1))
    return passage if hit.id in ids else None


def _with_ids(path: str, passages: Sequence[TurnsPassage]) -> list[tuple[str, TurnsPassage]]:
    return list(zip(passage_ids(path, [passage.text_hash for passage in passages]), passages, strict=True))

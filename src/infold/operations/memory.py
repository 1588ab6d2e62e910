"""Finding and reading: `memory_search` and `memory_get` (spec 3, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import Field

from infold.app import OpenVault
from infold.errors import IndexFault, NoteUnreadable, PathRefused, UsageError
from infold.operations.contract import Effect, Group, Message
from infold.operations.table import operation
from infold.search.index.contract import PointGroup, asked_filter
from infold.search.query.results import ALWAYS_SHOWN, Result, SearchResult
from infold.text import content_hash
from infold.vault.files import read_bytes
from infold.vault.front_matter import TRUST_OF_NOTES, TRUST_OF_OTHERS, read_front_matter, trust_of
from infold.vault.names import is_note_name

if TYPE_CHECKING:
    from infold.vault.portions import Portion


class MemorySearchRequest(Message):
    """What to look for, and where."""

    query: str
    """What to look for: words, and operators.

    "Words in quotes" stand in every result as they are; -word in none, in any form of it; stor* is a word that begins
    so; tag:work and path:folder narrow, with - before them to what is not there. Words that stand nowhere are looked
    for as the word of the notes that is a letter off, and the last one as the beginning of one.
    """
    sources: tuple[PointGroup, ...] = ALWAYS_SHOWN
    """Where to look: notebook, daily, sessions (these three where none is named), memory, external."""
    paths: tuple[str, ...] = ()
    """Only in these folders, or these notes."""
    tags: tuple[str, ...] = ()
    """Only what has each of these tags, or one below it."""
    since: str | None = Field(default=None, pattern=r"^\d{4}-\d\d-\d\d$")
    """Only what is of that day or later: 2026-11-01."""
    until: str | None = Field(default=None, pattern=r"^\d{4}-\d\d-\d\d$")
    """Only what is of that day or earlier."""
    max_results: int | None = Field(default=None, ge=1)
    """At most so many places in all, of ten notes at least where there are so many; else `search.max_results`."""
    min_score: float | None = Field(default=None, ge=0, le=1)
    """Leave out what scores less, from 0 to 1; else `search.min_score`."""
    explain: bool = False
    """Say of each result why it is there."""


class LineRange(Message):
    """Lines of a file, counted from 1, both included; 0 of what has no lines."""

    start: int
    end: int


class RankingPart(Message):
    """What one kind of search found of a result, and what that added to its score."""

    leg: str
    rank: int
    score: float
    weight: float
    adds: float


class Explanation(Message):
    """Why a result is where it is."""

    words: tuple[str, ...]
    """What matched in the whole passage, as it is written there."""
    legs: tuple[RankingPart, ...]


class MemorySearchPlace(Message):
    """Another place of a note that was found."""

    heading: str | None
    """The nearest heading, as it is written."""
    snippet: str
    score: float
    """From 0 to 1."""
    lines: LineRange
    trail: tuple[str, ...]
    """The headings above the passage, the topmost first."""
    id: str
    matches: tuple[tuple[int, int], ...]
    """What matched in the snippet: character offsets, the end not included."""
    starts_inside: bool
    """The snippet begins in the middle of the text."""
    ends_inside: bool
    """The snippet ends before the text does."""


class MemorySearchResult(Message):
    """The best place of a note that answers (spec 3, SearchResult), and what else is known of it."""

    file_path: str
    heading: str | None
    """The nearest heading, as it is written."""
    snippet: str
    score: float
    """From 0 to 1."""
    lines: LineRange
    title: str
    trail: tuple[str, ...]
    """The headings above the passage, the topmost first."""
    date: str | None
    tags: tuple[str, ...]
    trust: str
    """Where the text is from: what came from outside the vault keeps that label."""
    kind: str
    level: str
    id: str
    matches: tuple[tuple[int, int], ...]
    """What matched in the snippet: character offsets, the end not included."""
    starts_inside: bool
    """The snippet begins in the middle of the text."""
    ends_inside: bool
    """The snippet ends before the text does."""
    more: tuple[MemorySearchPlace, ...] = ()
    """Other places of the same note, the best first; they count as results."""
    explain: Explanation | None = Field(default=None, exclude_if=lambda value: value is None)
    """Only where it was asked for."""


class SearchTiming(Message):
    """Where the time went, in milliseconds."""

    sync_ms: float
    fts_ms: float
    vector_ms: float
    total_ms: float


class MemorySearchAnswer(Message):
    """Results in groups, in the order in which to look at them; within a group the best first, one a note."""

    query: str
    results: dict[str, tuple[MemorySearchResult, ...]]
    """By source: notebook, daily and sessions always, the others where there is something."""
    left_out: int
    """Places that the index found, but whose files no longer say it."""
    notices: tuple[str, ...]
    """How far the answer can be relied on."""
    searched: int | None
    """Where there are no results: how many passages were looked through."""
    hint: str
    """Where there are no results: one thing to try."""
    timing: SearchTiming


@operation(Group.MEMORY, Effect.READS, errors=(IndexFault,))
def memory_search(vault: OpenVault, request: MemorySearchRequest) -> MemorySearchAnswer:
    """Search notes, daily logs and past conversations by words and by meaning.

    Results come in groups: notebook, daily, sessions; each is a note with its best place, and more places of it. The
    query may have "phrases", -words, beginnings (stor*), tag:work and path:folder. Notes that changed are indexed
    first. `memory_get` reads on from a result's file and lines.
    """
    where = asked_filter(request.sources, request.paths, request.tags, request.since, request.until)
    found = vault.search(request.query, where, request.max_results, request.min_score)
    return search_answer(found, explain=request.explain)


def search_answer(found: SearchResult, *, explain: bool) -> MemorySearchAnswer:
    """What a search found, as it is answered."""
    timing = found.timing
    return MemorySearchAnswer(
        query=found.query,
        results={name: tuple(_result(each, explain=explain) for each in group) for name, group in found.groups.items()},
        left_out=found.left_out,
        notices=found.notices,
        searched=found.searched,
        hint=found.hint,
        timing=SearchTiming(
            sync_ms=round(timing.sync_ms, 1),
            fts_ms=round(timing.keyword_ms, 1),
            vector_ms=round(timing.dense_ms, 1),
            total_ms=round(timing.total_ms, 1),
        ),
    )


def _result(result: Result, *, explain: bool) -> MemorySearchResult:
    return MemorySearchResult.of(
        result,
        file_path=result.path,
        score=round(result.score, 4),
        lines=LineRange(start=result.start_line, end=result.end_line),
        matches=result.marks,
        more=tuple(map(_place, result.more)),
        explain=_explanation(result) if explain else None,
    )


def _place(place: Result) -> MemorySearchPlace:
    lines = LineRange(start=place.start_line, end=place.end_line)
    return MemorySearchPlace.of(place, score=round(place.score, 4), lines=lines, matches=place.marks)


def _explanation(result: Result) -> Explanation:
    legs = (
        RankingPart.of(part, leg=part.name, score=round(part.score, 4), adds=round(part.share, 4))
        for part in result.evidence
    )
    return Explanation(words=result.words, legs=tuple(legs))


_ALL_LINES: Final = 999_999_999
_SOURCES: Final = "sources/"  # before the names of what was brought in from outside


class MemoryGetRequest(Message):
    """Which lines of which file."""

    path: str
    """A note, by its path or name, or a place as search shows it: notes/bread.md:12-20."""
    start_line: int | None = Field(default=None, ge=1)
    """Read from this line; else from the first."""
    lines: int | None = Field(default=None, ge=1)
    """Read so many lines; else all that follow."""


class MemoryGetAnswer(Message):
    """Some lines of a file. `path` is null, and `text` empty, where there is no such file."""

    path: str | None
    text: str
    start: int
    """The number of the first line."""
    lines: int
    """How many lines these are."""
    total: int
    """How many the file has."""
    hash: str
    """That of a note's whole text, for `notebook_edit`; empty of what is no note."""
    near: tuple[str, ...]
    """Names that come near, where there is no such file."""
    trust: str
    """Whose text it is, as of a search result."""
    hint: str
    """Why there are no lines, and what to try."""


@operation(Group.MEMORY, Effect.READS, errors=(PathRefused, NoteUnreadable, UsageError))
def memory_get(vault: OpenVault, request: MemoryGetRequest) -> MemoryGetAnswer:
    """Read a note, or some lines of it, as search results name them.

    A note that is not there is no error: the text is empty, and names that come near are given. Of a session
    (sessions/talk.jsonl) what was said is given, with who said it.
    """
    name = request.path
    if request.start_line is not None or request.lines is not None:
        name = f"{name}:{request.start_line or 1}:{_ALL_LINES if request.lines is None else request.lines}"
    try:
        portion = vault.get(name)
    except PathRefused as error:  # the request is wrong, not a file of the vault
        raise UsageError(str(error), hint=error.hint) from error
    hint = "" if portion.lines else _missing(vault, request.path, portion)
    note = _note(vault, portion.path)
    return MemoryGetAnswer.of(
        portion,
        path=portion.path or None,
        hint=hint,
        hash="" if note is None else content_hash(note),
        trust=_trust(portion.path, note),
    )


def _note(vault: OpenVault, path: str) -> bytes | None:
    """The bytes of a note; None of a name that is something else's, such as a memory's."""
    if not is_note_name(path):
        return None
    try:
        return read_bytes(vault.workspace.vault, path, vault.params.vault.max_note_bytes)
    except (NoteUnreadable, PathRefused):
        return None


def _trust(path: str, note: bytes | None) -> str:
    if path.startswith(_SOURCES):
        return TRUST_OF_OTHERS
    front = read_front_matter(note.decode(errors="replace")) if note is not None else None
    return TRUST_OF_NOTES if front is None else trust_of(front.values)


def _missing(vault: OpenVault, name: str, portion: Portion) -> str:
    if portion.path and portion.start <= portion.total:
        return "No line was asked for."
    if portion.path:
        return f"{portion.path} has {portion.total} lines; there is no line {portion.start}."
    if (vault.workspace.vault / name).is_dir():
        return f"{name or '.'} is a folder; `infold search WORDS --path FOLDER` looks into one."
    if portion.near:
        return f"There is no note {name}. Near it: {', '.join(portion.near)}"
    return f"There is no note {name}. `infold search` finds notes by their words."

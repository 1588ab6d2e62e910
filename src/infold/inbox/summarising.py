"""Phase 2: every note has a summary, and only what changed is summarised again (spec 1).

A summary belongs to content. A note under the word minimum is its own summary; an index note is summarised from the
summaries of the notes it links to, after those; in a circle of index notes the last known summary is used. Rows are
written as each batch ends, so that a crash keeps every answer already paid for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from infold.catalogue.summaries import GENERAL, NOTE, OWN, Key, SummaryRow, SummaryStore
from infold.errors import CapReached, LibrarianFault, NoteUnreadable, PathRefused
from infold.librarian.answers import SummaryRequest
from infold.librarian.base import Librarian
from infold.librarian.prompts import DecisionKind
from infold.settings import SummaryParams
from infold.text import collapse_spaces, content_hash, token_count

LAST_KNOWN = (
    "last-known"  # the lens of an index note's latest summary, by path: what a circle of index notes falls back on
)
_Linked = tuple[tuple[str, str], ...]


class SummarySource(NamedTuple):
    """A note as the summariser needs it. `read` gives its text without front matter, only when it is needed."""

    path: str
    title: str
    content_hash: str
    words: int
    is_index: bool
    links: tuple[str, ...]
    read: Callable[[], str]


@dataclass(slots=True)
class Summaries:
    """Summary by path; how many were made, kept, and where a stand-in had to serve."""

    by_path: Mapping[str, str] = field(default_factory=dict)
    made: int = 0
    kept: int = 0
    warnings: list[str] = field(default_factory=list)
    keys: set[Key] = field(default_factory=set)  # of the rows that these summaries are, or came from


async def summarise_notes(
    sources: Sequence[SummarySource],
    store: SummaryStore,
    librarian: Librarian,
    params: SummaryParams,
    progress: Callable[[int, int], None],
) -> Summaries:
    """Brings the summaries up to date and returns all of them.

    A note whose summary cannot be had (the cap is reached, the answers stay invalid) is shown by its own sentences
    until the next run; the result's warnings name it. Raises EnvironmentFault and EndpointUnreachable.
    """
    work = _Work(store, librarian, params, progress, {source.path: source for source in sources})
    for rank in _in_order(sources):
        await work.bring_up_to_date(rank)
    work.write()
    if work.result.made:
        store.compact()
    work.result.warnings += store.problems
    return work.result


def _untold(done: int, total: int) -> None:
    """Nobody is told."""


class KeptSummaries(Mapping[str, str]):
    """The summaries of notes that all have theirs, by path: loaded when one is looked at, which is seldom.

    One that is gone meanwhile counts as empty. `sources` gives the notes.
    """

    def __init__(
        self,
        sources: Callable[[], Sequence[SummarySource]],
        store: SummaryStore,
        librarian: Librarian,
        params: SummaryParams,
    ) -> None:
        self._made_of = sources, store, librarian, params

    @cached_property
    def _by_path(self) -> Mapping[str, str]:
        sources, store, librarian, params = self._made_of
        given = sources()
        work = _Work(store, librarian, params, _untold, {source.path: source for source in given})
        for rank in _in_order(given):
            work.take_kept(rank)
        return {source.path: work.by_path.get(source.path, "") for source in given}

    def __getitem__(self, path: str) -> str:
        """The summary of the note at `path`."""
        return self._by_path[path]

    def __iter__(self) -> Iterator[str]:
        """The paths, sorted."""
        return iter(self._by_path)

    def __len__(self) -> int:
        """How many notes there are."""
        return len(self._by_path)


class _Work:
    """One pass: what is known, what is stale, and the rows of the batch under way."""

    def __init__(
        self,
        store: SummaryStore,
        librarian: Librarian,
        params: SummaryParams,
        progress: Callable[[int, int], None],
        sources: Mapping[str, SummarySource],
    ) -> None:
        self._store = store
        self._librarian = librarian
        self._signature = librarian.signature(DecisionKind.SUMMARY)
        self._params = params
        self._progress = progress
        self._sources = sources
        self._known = store.load()
        self._out_of_money: str | None = None
        self._unwritten: list[SummaryRow] = []
        self.by_path: dict[str, str] = {}
        self.result = Summaries(self.by_path)

    def take_kept(self, sources: Sequence[SummarySource]) -> list[tuple[SummarySource, str, _Linked | None]]:
        """Takes the summaries that are kept; gives the notes without, each with its key and what it links to."""
        stale: list[tuple[SummarySource, str, _Linked | None]] = []
        for source in sources:
            linked, settled = self._linked(source) if source.is_index else (None, None)
            key = content_hash(repr(settled)) if settled else source.content_hash
            row = self._known.get((key, NOTE, GENERAL))
            self.result.keys |= {(key, NOTE, GENERAL), *([_last_known(source.path)] if source.is_index else ())}
            if row is not None and row.model in (self._signature, OWN):
                self.by_path[source.path] = row.summary
                self.result.kept += 1
            else:
                stale.append((source, key, linked))
        return stale

    async def bring_up_to_date(self, sources: Sequence[SummarySource]) -> None:
        stale = self.take_kept(sources)
        for start in range(0, len(stale), self._params.batch_size):
            batch = stale[start : start + self._params.batch_size]
            rows = await asyncio.gather(*(self._summarise(*entry) for entry in batch))
            for (source, _, _), row in zip(batch, rows, strict=True):
                if row is not None:
                    self._unwritten.append(row)
                    if source.is_index:
                        self._unwritten.append(self._as_last_known(row, source.path))
            if len(self._unwritten) >= self._params.batch_size:
                self.write()
            self._progress(len(self.by_path), len(self._sources))

    def write(self) -> None:
        """Puts finished rows into a part file."""
        if self._unwritten:
            self._store.append(self._unwritten)
            self._unwritten = []

    def _linked(self, source: SummarySource) -> tuple[_Linked | None, _Linked | None]:
        """What an index note links to, with summaries; and the part of it that is settled, which alone makes the key.

        A link back into a circle gives its last known summary and leaves the key alone: else the circle would not rest.
        """
        settled = [(path, self.by_path[path]) for path in source.links if path in self.by_path]
        back = [
            (path, row.summary)
            for path in source.links
            if path != source.path
            and path not in self.by_path
            and (row := self._known.get(_last_known(path))) is not None
        ]
        return tuple(settled + back) or None, tuple(settled) or None

    async def _summarise(self, source: SummarySource, key: str, linked: _Linked | None) -> SummaryRow | None:
        low, high = self._params.summary_target_words
        try:
            text = source.read()
        except (NoteUnreadable, PathRefused) as error:
            self.by_path[source.path] = source.title
            self.result.warnings.append(str(error))
            return None
        if linked is None and source.words < low:
            return self._keep(source, key, collapse_spaces(text), OWN, 0, 0)
        if self._out_of_money is None:
            request = SummaryRequest(source.path, source.title, text, linked, (low, high))
            try:
                answer = await self._librarian.summarise(request)
                return self._keep(
                    source, key, answer.summary, self._signature, _tokens_in(request), token_count(answer.summary)
                )
            except CapReached as error:
                self._out_of_money = str(error)
                self.result.warnings.append(f"From {source.path} on notes are shown by their own sentences: {error}")
            except LibrarianFault as error:
                self.result.warnings.append(f"{source.path} is shown by its own sentences: {error}")
        from infold.librarian.offline.summaries import extract

        self.by_path[source.path] = extract(text, low, high)
        return None

    def _keep(
        self, source: SummarySource, key: str, summary: str, model: str, tokens_in: int, tokens_out: int
    ) -> SummaryRow:
        self.by_path[source.path] = summary
        self.result.made += 1
        return SummaryRow(
            content_hash=key,
            level=NOTE,
            lens=GENERAL,
            summary=summary,
            model=model,
            prompt_version=model.rpartition("/")[2],
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            made=self._times_made((key, NOTE, GENERAL)),
        )

    def _as_last_known(self, row: SummaryRow, path: str) -> SummaryRow:
        digest, _, lens = key = _last_known(path)
        return replace(row, content_hash=digest, lens=lens, made=self._times_made(key))

    def _times_made(self, key: Key) -> int:
        before = self._known.get(key)
        return 0 if before is None else before.made + 1


def _last_known(path: str) -> Key:
    """What an index note's latest summary is kept under."""
    return content_hash(path), NOTE, LAST_KNOWN


def _tokens_in(request: SummaryRequest) -> int:
    """The tokens of what was shown: a note's text, or for an index note the summaries of its linked notes."""
    if request.linked is None:
        return token_count(request.text)
    return sum(token_count(name) + token_count(summary) for name, summary in request.linked)


def _in_order(sources: Sequence[SummarySource]) -> list[list[SummarySource]]:
    """The notes in the order that their summaries are made: index notes come after what they link to."""
    plain = [source for source in sources if not source.is_index]
    return [plain, *_ranks([source for source in sources if source.is_index])]


def _ranks(index_notes: Sequence[SummarySource]) -> list[list[SummarySource]]:
    """Index notes in ranks: each links only to index notes of ranks before its own; a link back into a circle apart.

    Notes of one rank can be summarised side by side. Without recursion: a chain of ten thousand index notes must not
    reach the interpreter's limit.
    """
    by_path = {source.path: source for source in index_notes}
    rank: dict[str, int] = {}
    entered: set[str] = set()
    for first in by_path:
        stack = [first]
        while stack:
            path = stack[-1]
            ahead = [link for link in by_path[path].links if link in by_path and link not in entered]
            entered.add(path)
            if ahead and path not in rank:
                stack.append(ahead[0])
                continue
            stack.pop()
            if path not in rank:
                rank[path] = 1 + max((rank[link] for link in by_path[path].links if link in rank), default=-1)
    ranks: list[list[SummarySource]] = [[] for _ in range(1 + max(rank.values(), default=-1))]
    for path, at in rank.items():
        ranks[at].append(by_path[path])
    return ranks

"""Phase 2: every note has a summary, and only what changed is summarised again (spec 1).

A summary belongs to content. A note under the word minimum is its own summary; an index note is summarised from the
summaries of the notes it links to, after those; in a circle of index notes the last known summary is used. Rows are
written as each batch ends, so that a crash keeps every answer already paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from infold.catalogue.summaries import GENERAL, NOTE, OWN, Key, SummaryRow, SummaryStore
from infold.errors import CapReached, LibrarianFault, NoteUnreadable, PathRefused
from infold.inbox.extracting import Extracted, Linked, ToExtract, tokens_shown
from infold.inbox.summary_sources import SummarySource, in_order
from infold.librarian.offline.summaries import extract, summary_of
from infold.librarian.offline.version import NAME as OFFLINE
from infold.librarian.prompts import DecisionKind
from infold.text import collapse_spaces, content_hash, token_count
from infold.workers import MANY, Crew, processors

if TYPE_CHECKING:  # summaries by extraction, which most are, do without all that a model is asked with
    from infold.librarian.base import Librarian
    from infold.settings import SummaryParams

LAST_KNOWN = (
    "last-known"  # the lens of an index note's latest summary, by path: what a circle of index notes falls back on
)
EXTRACTED_AT_ONCE: Final = 5000  # notes whose summaries are written together
_Stale = tuple[SummarySource, str, Linked | None]  # a note without a summary, its key, and what it links to


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
    if librarian.name == OFFLINE:
        return extract_summaries(sources, store, params, progress)
    work = _Work(store, signature_of(librarian), params, progress, {source.path: source for source in sources})
    for rank in in_order(sources):
        await work.bring_up_to_date(rank, librarian)
    return work.finished()


def extract_summaries(
    sources: Sequence[SummarySource], store: SummaryStore, params: SummaryParams, progress: Callable[[int, int], None]
) -> Summaries:
    """What `summarise_notes` does, as the offline librarian summarises; by worker processes where there are many."""
    work = _Work(store, OFFLINE, params, progress, {source.path: source for source in sources})
    workers = processors() if len(sources) > MANY else 1
    with closing(Crew("infold.inbox.extracting:extracted", workers, by=attrgetter("path"))) as crew:
        for rank in in_order(sources):
            work.extract(rank, crew)
    return work.finished()


def signature_of(librarian: Librarian) -> str:
    """What this librarian's summaries are kept under."""
    return librarian.signature(DecisionKind.SUMMARY)


def _untold(done: int, total: int) -> None:
    """Nobody is told."""


class KeptSummaries(Mapping[str, str]):
    """The summaries of notes that all have theirs, by path: loaded when one is looked at, which is seldom.

    One that is gone meanwhile counts as empty. `sources` gives the notes; for `signature` see `signature_of`.
    """

    def __init__(
        self,
        sources: Callable[[], Sequence[SummarySource]],
        store: SummaryStore,
        signature: str,
        params: SummaryParams,
    ) -> None:
        self._made_of = sources, store, signature, params

    @cached_property
    def _by_path(self) -> Mapping[str, str]:
        sources, store, signature, params = self._made_of
        given = sources()
        work = _Work(store, signature, params, _untold, {source.path: source for source in given})
        for rank in in_order(given):
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
        signature: str,
        params: SummaryParams,
        progress: Callable[[int, int], None],
        sources: Mapping[str, SummarySource],
    ) -> None:
        self._store = store
        self._signature = signature
        self._params = params
        self._progress = progress
        self._sources = sources
        self._known = store.load()
        self._out_of_money: str | None = None
        self._unwritten: list[SummaryRow] = []
        self.by_path: dict[str, str] = {}
        self.result = Summaries(self.by_path)

    def take_kept(self, sources: Sequence[SummarySource]) -> list[_Stale]:
        """Takes the summaries that are kept; gives the notes without, each with its key and what it links to."""
        stale: list[_Stale] = []
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

    async def bring_up_to_date(self, sources: Sequence[SummarySource], librarian: Librarian) -> None:
        import asyncio

        stale = self.take_kept(sources)
        for start in range(0, len(stale), self._params.batch_size):
            batch = stale[start : start + self._params.batch_size]
            rows = await asyncio.gather(*(self._summarise(librarian, *entry) for entry in batch))
            self._take(batch, rows)

    def extract(self, sources: Sequence[SummarySource], crew: Crew) -> None:
        """Brings these up to date by extraction."""
        stale, most = self.take_kept(sources), max(self._params.batch_size, EXTRACTED_AT_ONCE)
        for start in range(0, len(stale), most):
            batch = stale[start : start + most]
            wanted = {key: self._to_extract(source, linked) for source, key, linked in batch}
            made = dict(zip(wanted, crew.all([*wanted.values()]), strict=True))
            self._take(batch, [self._extracted(*entry, made[entry[1]]) for entry in batch])

    def _to_extract(self, source: SummarySource, linked: Linked | None) -> ToExtract:
        is_own, words = self._is_own(source, linked), self._params.summary_target_words
        return ToExtract(source.path, source.read, is_own, linked, words)

    def _extracted(
        self, source: SummarySource, key: str, linked: Linked | None, made: Extracted | None
    ) -> SummaryRow | None:
        """The row of a note; None where it cannot be read, which is noted."""
        if made is None:  # not by this name, which may be another's with the same content
            text = self._text(source)
            summary = summary_of((text or "", linked, *self._params.summary_target_words))
            return None if text is None else self._made(source, key, linked, text, summary)
        return self._keep(source, key, made.summary, OWN if self._is_own(source, linked) else OFFLINE, *made[1:])

    def _take(self, batch: Sequence[_Stale], rows: Sequence[SummaryRow | None]) -> None:
        """Takes the rows of a batch, and writes them when there are enough."""
        for (source, _, _), row in zip(batch, rows, strict=True):
            if row is not None:
                self._unwritten.append(row)
                if source.is_index:
                    self._unwritten.append(self._as_last_known(row, source.path))
        if len(self._unwritten) >= self._params.batch_size:
            self._write()
        self._progress(len(self.by_path), len(self._sources))

    def finished(self) -> Summaries:
        """What came of it, all of it written."""
        self._write()
        if self.result.made:
            self._store.compact()
        self.result.warnings += self._store.problems
        return self.result

    def _write(self) -> None:
        """Puts finished rows into a part file."""
        if self._unwritten:
            self._store.append(self._unwritten)
            self._unwritten = []

    def _linked(self, source: SummarySource) -> tuple[Linked | None, Linked | None]:
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

    async def _summarise(
        self, librarian: Librarian, source: SummarySource, key: str, linked: Linked | None
    ) -> SummaryRow | None:
        text = self._text(source)
        if text is None or self._is_own(source, linked):
            return None if text is None else self._made(source, key, linked, text)
        low, high = self._params.summary_target_words
        if self._out_of_money is None:
            from infold.librarian.answers import SummaryRequest

            try:
                answer = await librarian.summarise(SummaryRequest(source.path, source.title, text, linked, (low, high)))
                return self._made(source, key, linked, text, answer.summary)
            except CapReached as error:
                self._out_of_money = str(error)
                self.result.warnings.append(f"From {source.path} on notes are shown by their own sentences: {error}")
            except LibrarianFault as error:
                self.result.warnings.append(f"{source.path} is shown by its own sentences: {error}")
        self.by_path[source.path] = extract(text, low, high)
        return None

    def _text(self, source: SummarySource) -> str | None:
        """A note's text; None where it cannot be read, which is noted."""
        try:
            return source.read()
        except (NoteUnreadable, PathRefused) as error:
            self.by_path[source.path] = source.title
            self.result.warnings.append(str(error))
            return None

    def _is_own(self, source: SummarySource, linked: Linked | None) -> bool:
        """Whether a note is its own summary."""
        return linked is None and source.words < self._params.summary_target_words[0]

    def _made(
        self, source: SummarySource, key: str, linked: Linked | None, text: str, summary: str | None = None
    ) -> SummaryRow:
        """The row of a note with this text; without a summary it is its own."""
        if summary is None or self._is_own(source, linked):
            return self._keep(source, key, collapse_spaces(text), OWN, 0, 0)
        return self._keep(source, key, summary, self._signature, tokens_shown(text, linked), token_count(summary))

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

"""A search that is up to date: what changed in the vault since the last sync is indexed before a question is answered.

Only keywords are indexed here, which takes milliseconds; vectors follow after the answer, a few at a time, and with
`infold index` or a watcher all. A question is
answered all the same where the index cannot be brought up to date, and the answer says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from infold.errors import EnvironmentFault, IndexFault, InfoldError, VaultBusy
from infold.progress import Progress, silent
from infold.search.index.contract import EVERYTHING, NOTE_GROUPS, Filter
from infold.search.index.generations import Generations
from infold.search.query.excerpts import KeptNotes, NoteTexts, TextsOf
from infold.search.query.searcher import Searcher
from infold.search.query.suggestions import hint_for
from infold.text import content_hash
from infold.vault.names import is_note_name

if TYPE_CHECKING:
    from infold.catalogue.passages import PassageCut
    from infold.catalogue.store import Catalogue
    from infold.search.embed.embedder import Embedder
    from infold.search.follow.moments import Moments
    from infold.search.index.feeds import ChangeFeed, Feed
    from infold.search.index.sync_stats import SyncResult
    from infold.search.query.results import SearchResult
    from infold.workspace import Workspace

FIRST_WAIT_SECONDS: Final = 120.0  # for a process that makes the very first index

WAIT_SECONDS: Final = 1.0  # for one that gives a few passages their vectors after an answer
SIBLING_SECONDS: Final = 3.0  # for another thread of this process that brings the index up to date
FILL_SECONDS: Final = 0.3  # of vectors, after an answer
_FEW_RESULTS: Final = 3  # with fewer, what could not be searched is said too
_WHY_NOT: Final = "too big, not UTF-8, out of reach, or named as another but for case or Unicode form"


class LiveSearch:
    """Answers questions about a workspace, for as long as it is open. For any number of threads.

    `feeds` are what is indexed, by default the vault's notes; `texts` gives the texts of a source that is no notes,
    asked for by each search that finds some there.
    With `moments` of all folders that feeds are read from, these are looked through only when something changed there,
    and every `watch.reconcile_seconds`; `change_feeds` are those of the feeds that know by themselves what changed.
    """

    def __init__(
        self,
        workspace: Workspace,
        embedder: Embedder,
        *,
        feeds: Callable[[], Sequence[Feed]] | None = None,
        texts: TextsOf | None = None,
        progress: Progress = silent,
        moments: Moments | None = None,
        change_feeds: Callable[[], Sequence[ChangeFeed]] = tuple,
    ) -> None:
        self._workspace = workspace
        self._embedder = embedder
        self._feeds = feeds
        self._more_texts = texts
        self._progress = progress
        self._folder = Generations(workspace.index)
        self._searcher: Searcher | None = None
        self._moments, self._change_feeds = moments, change_feeds
        self._indexed: tuple[int, float] | None = None  # the moment that the index is of, and until when that counts
        self._turn = threading.Lock()
        self._catalogue: Catalogue | None = None
        self._notes: KeptNotes | None = None  # of former searches, where there are many
        self._unread: tuple[str, ...] = ()  # notes that the last sync could not read

    def search(
        self,
        asked: str,
        where: Filter = EVERYTHING,
        limit: int | None = None,
        min_score: float | None = None,
        *,
        sync: bool | None = None,
    ) -> SearchResult:
        """The answer, as `Searcher.search` gives it. `sync` overrides `search.sync_on_search`.

        Raises IndexFault where there is no index and none can be made.
        """
        started = time.perf_counter()
        wants_sync = self._workspace.params.search.sync_on_search if sync is None else sync
        notices = self._brought_up_to_date() if wants_sync or self._folder.is_damaged else ()
        synced = time.perf_counter()
        found, more = self._answer(asked, where, limit, min_score, self._texts(self._moment() if wants_sync else None))
        searcher, notices = self._open(), (*notices, *more)
        if len(found.results) < _FEW_RESULTS:
            notices = (*notices, *self._left_out())
        if not found.results:
            found = found._replace(searched=searcher.count(where), hint=hint_for(found, where, searcher))
        timing = found.timing._replace(
            sync_ms=(synced - started) * 1000, total_ms=(time.perf_counter() - started) * 1000
        )
        return found._replace(timing=timing, notices=(*notices, *found.notices, *self._about_vectors(searcher)))

    def fill(self, seconds: float = FILL_SECONDS) -> None:
        """Gives passages that wait for a vector theirs, for about so long, where the model is a quick one.

        For when the answer has been shown: a vault that is only ever searched would else be found by words alone for
        ever. What fails here is done by `infold index`, which says what is wrong.
        """
        searcher = self._searcher
        with suppress(InfoldError, OSError, KeyboardInterrupt):
            if searcher is not None and self._embedder.traits.is_quick and searcher.pending_vectors:
                with self._turn:
                    self._sync(silent, paths=(), vectors=True, wait_seconds=0.0, until=time.monotonic() + seconds)

    def follow(self) -> None:
        """Lets go of an index that a newer one is in the place of, where it was opened."""
        with suppress(InfoldError):
            if self._searcher is not None:
                self._searcher.follow()

    def close(self) -> None:
        """Lets go of the index. Calling it again does nothing."""
        if self._moments is not None:
            self._moments.close()
        catalogue, self._catalogue = self._catalogue, None
        if catalogue is not None:
            catalogue.close()
        searcher, self._searcher = self._searcher, None
        if searcher is not None:
            searcher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(
        self, asked: str, where: Filter, limit: int | None, min_score: float | None, texts: TextsOf
    ) -> tuple[SearchResult, tuple[str, ...]]:
        """What the index answers; one that turns out to be damaged is made anew first, and that is said."""
        try:
            return self._open().search(asked, where, limit, min_score, texts), ()
        except IndexFault:
            if not self._folder.is_damaged:
                raise
        self.close()
        notices = self._brought_up_to_date()
        return self._open().search(asked, where, limit, min_score, texts), notices

    def _brought_up_to_date(self) -> tuple[str, ...]:
        """What to say about it: nothing where all went well."""
        moment = self._moments.now() if self._moments is not None else None
        if moment is not None and self._is_of(moment):
            return ()
        has_turn = self._turn.acquire(timeout=SIBLING_SECONDS)
        try:
            return self._synced()
        finally:
            if has_turn:
                self._turn.release()

    def _synced(self) -> tuple[str, ...]:
        moment = self._moments.now() if self._moments is not None else None
        if moment is not None and self._is_of(moment):
            return ()  # another thread has just done it
        self._indexed = None
        has_index = not self._folder.is_damaged
        try:
            done = self._sync(
                self._progress,
                paths=None,
                vectors=False,
                wait_seconds=WAIT_SECONDS if has_index else FIRST_WAIT_SECONDS,
            )
        except VaultBusy:
            if not has_index:
                raise
            return ("Another process is bringing the index up to date; what changed just now may be missing.",)
        except (EnvironmentFault, IndexFault) as error:
            if not has_index:
                raise
            return (f"The index could not be brought up to date: {error}",)
        self._unread = tuple(path for path, _ in done.skipped if is_note_name(path))
        if done.rebuilt and not has_index:
            return ("The search index was damaged; it was made anew.",)
        if done.emptied:
            return ("The vault seems empty, so the index was left as it is. Is its folder there?",)
        if moment is not None:
            self._indexed = moment, time.monotonic() + self._workspace.params.watch.reconcile_seconds
        return ()

    def _is_of(self, moment: int) -> bool:
        """Whether the index is known to hold everything of this moment."""
        of, until = self._indexed or (None, 0.0)
        if of != moment or time.monotonic() > until or self._folder.is_damaged:
            return False
        return not any(feed.heard() != self._folder.current() or feed.waiting() for feed in self._change_feeds())

    def _left_out(self) -> tuple[str, ...]:
        """What to say of notes that were not searched, where it is known without a look at them."""
        if not self._unread:
            return ()
        which = "A note is" if len(self._unread) == 1 else f"{len(self._unread)} notes are"
        return (f"{which} not searched ({_WHY_NOT}); `infold index` names them.",)

    def _sync(
        self,
        progress: Progress,
        *,
        paths: Sequence[str] | None,
        vectors: bool,
        wait_seconds: float,
        until: float | None = None,
    ) -> SyncResult:
        from infold.search.index.sync import sync_index

        space = self._workspace
        return sync_index(
            space.vault,
            space.index,
            space.embeddings,
            space.params,
            self._embedder,
            progress,
            feeds=self._feeds() if self._feeds is not None else None,
            paths=paths,
            vectors=vectors,
            wait_seconds=wait_seconds,
            until=until,
        )

    def _open(self) -> Searcher:
        if self._searcher is None:
            self._searcher = self._opened()
            if self._moments is not None and not self._embedder.traits.is_empty:
                # Notes are compared with it in a seventh of the time: where many questions come, it is there for all of
                # them, and the first does not wait for it.
                threading.Thread(target=import_module, args=("numpy",), daemon=True).start()
        return self._searcher

    def _opened(self) -> Searcher:
        space = self._workspace
        try:
            return Searcher(space.index, space.params.search, self._embedder)
        except IndexFault:  # damage shows when the index is opened; a sync then makes it anew from what is kept
            self._brought_up_to_date()
            return Searcher(space.index, space.params.search, self._embedder)

    def _moment(self) -> int | None:
        """The state of the vault that the index is of, where that is known."""
        indexed = self._indexed
        return indexed[0] if indexed is not None else None

    def _texts(self, moment: int | None) -> TextsOf:
        if self._notes is None and self._moments is not None:
            self._notes = KeptNotes()
        space = self._workspace
        notes = NoteTexts(space.vault, space.params, kept=self._cuts, notes=self._notes, moment=moment)
        others = cache(self._more_texts or (lambda _: None))
        return lambda group: notes if group in NOTE_GROUPS else others(group)

    def _cuts(self, path: str, text: str) -> list[PassageCut]:
        """Where the passages of a note with this text are, from what the catalogue keeps of it."""
        from infold.catalogue.store import catalogue_of

        if self._catalogue is None:
            self._catalogue = catalogue_of(self._workspace)
        self._catalogue.hold(path, content_hash(text.encode()), text)
        try:
            return self._catalogue.passage_cuts(path)
        finally:
            self._catalogue.drop([path])

    def _about_vectors(self, searcher: Searcher) -> tuple[str, ...]:
        if self._embedder.traits.is_empty:
            return ()
        if not searcher.has_vectors:
            return ("The index was made with other embeddings: keywords only, until `infold index` has run.",)
        waiting = searcher.pending_vectors
        if not waiting:
            return ()
        passages = "1 passage is" if waiting == 1 else f"{waiting} passages are"
        return (f"{passages} found by keyword only so far; `infold index` adds search by meaning at once.",)

"""The parts of an opened vault: what each is made of, built once by whoever asks first, closed together.

The one place where parts are put together. What is done with them is `infold.app.OpenVault`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from infold import lazy
from infold.environment import Environment
from infold.errors import VaultClosed
from infold.locate import LocatedWorkspace
from infold.progress import Progress, silent
from infold.search.index.contract import PointGroup

if TYPE_CHECKING:
    from infold.catalogue.store import Catalogue
    from infold.catalogue.sync import CatalogueResult
    from infold.docmem.memory import Docmem
    from infold.durable.changes import Changes
    from infold.inbox.run_store import RunStore
    from infold.knowledge.sources.store import SourceStore
    from infold.librarian.ledger import Ledger
    from infold.search.embed.embedder import Embedder
    from infold.search.follow.moments import Moments
    from infold.search.follow.while_unchanged import WhileUnchanged
    from infold.search.index.feeds import ChangeFeed, Feed
    from infold.search.index.sync_stats import SyncResult
    from infold.search.query.excerpts import Texts
    from infold.search.query.fresh_search import LiveSearch
    from infold.search.query.searcher import Searcher
    from infold.settings import Params
    from infold.vault.scanning import Scan
    from infold.workspace import Workspace

T = TypeVar("T")
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


class Part(Generic[T]):
    """Something built by the first who asks for it, while the others wait, and closed once."""

    def __init__(self, build: Callable[[], T], close: Callable[[T], None] | None = None) -> None:
        self._build, self._end = build, close
        self._lock = RLock()
        self._built: list[T] = []
        self._is_closed = False

    def get(self) -> T:
        """The part. Raises VaultClosed after `close`."""
        with self._lock:
            if self._is_closed:
                raise VaultClosed("This vault was closed.", hint="Open it again: infold.open(...).")
            if not self._built:
                self._built.append(self._build())
            return self._built[0]

    def close(self) -> None:
        """Lets go of the part, where it was built. Calling it again does nothing."""
        with self._lock:
            self._is_closed = True
            while self._built:
                part = self._built.pop()
                if self._end is not None:
                    self._end(part)


class VaultParts:
    """A vault's parts, each built when it is first asked for. Use it in a `with` statement, or call `close`."""

    def __init__(
        self, located: LocatedWorkspace, progress: Progress = silent, environment: Environment | None = None
    ) -> None:
        self.located = located
        self.is_kept_open = False  # for many searches, which is told before the first: then changes are listened for
        self._progress = progress
        self._trees = located.workspace.docmem
        self._environment = Part(lambda: environment or Environment())
        self._embedder = Part(self._open_embedder, lambda embedder: embedder.close())
        self._docmem = Part(self._open_docmem, lambda docmem: docmem.close())
        self._searcher = Part(self._open_searcher, lambda searcher: searcher.close())
        self._live = Part(self._open_live_search, lambda live: live.close())
        self._moments = Part(self._open_moments, lambda moments: moments.close())
        self._scanned = Part(lambda: self._while_unchanged(self._scan))
        self._catalogued = Part(lambda: self._while_unchanged(lambda: len(self.sync_catalogue().files)))

    @property
    def workspace(self) -> Workspace:
        """Where everything of this vault lies, and the settings in force."""
        return self.located.workspace

    @property
    def params(self) -> Params:
        """The settings in force."""
        return self.located.params

    # life

    def close(self) -> None:
        """Lets go of every part that was built; what needs one afterwards raises VaultClosed."""
        for part in (self._live, self._moments, self._searcher, self._docmem, self._embedder, self._environment):
            part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def progress(self, stage: str, done: int, total: int) -> None:
        """Says how far a stage is to whoever listens to this caller, else to whom the vault was opened for."""
        (_listener.get() or self._progress)(stage, done, total)

    @contextmanager
    def reporting(self, progress: Progress) -> Iterator[None]:
        """While it lasts, `progress` hears of what this thread or coroutine starts, and nobody else of it."""
        token = _listener.set(progress)
        try:
            yield
        finally:
            _listener.reset(token)

    # parts

    @property
    def environment(self) -> Environment:
        """Keys and hosts, read from the environment once."""
        return self._environment.get()

    @property
    def embedder(self) -> Embedder:
        """The embeddings that the settings name; without vectors where they name none. Raises ModelUnusable."""
        return self._embedder.get()

    @property
    def docmem(self) -> Docmem:
        """The memory trees; their store is made where there is none. Raises StoreDamaged, StoreTooNew."""
        return self._docmem.get()

    @property
    def live_search(self) -> LiveSearch:
        """The search that brings its index up to date before it answers."""
        return self._live.get()

    @property
    def sources(self) -> SourceStore:
        """What was brought in from outside."""
        return lazy.knowledge.sources.store.SourceStore(self.workspace.sources)

    @property
    def searcher(self) -> Searcher:
        """The search of the index as it is. Raises IndexFault where there is none."""
        return self._searcher.get()

    @property
    def runs(self) -> RunStore:
        """The records of all runs."""
        return lazy.inbox.run_store.RunStore(self.workspace.runs)

    @property
    def changes(self) -> Changes:
        """The one way to write notes: changes that can be looked at before, and taken back after."""
        return lazy.durable.changes.Changes(self.workspace)

    @property
    def ledger(self) -> Ledger:
        """What was spent on each day, by all processes."""
        return lazy.librarian.factory.ledger_of(self.workspace)

    def feeds(self, *, settled_only: bool = False, may_lose_sessions: bool = False) -> Sequence[Feed]:
        """All that there is to search, for the index; `settled_only` leaves out what is still being written.

        With `may_lose_sessions`, when one is forgotten, an empty folder of transcripts is believed.
        """
        files = self.file_feeds(settled_only=settled_only, may_lose_sessions=may_lose_sessions)
        return (*files, *self._change_feeds())

    def file_feeds(self, *, settled_only: bool = False, may_lose_sessions: bool = False) -> Sequence[Feed]:
        """What is searched and lies in files: notes, sessions, and what was brought in from outside."""
        space, search = self.workspace, self.params.search
        return (
            lazy.search.index.feeds.NotesFeed(lazy.catalogue.store.catalogue_of(space)),
            lazy.notebook.sessions.SessionsFeed(
                space.sessions, search, settled_only=settled_only, may_be_empty=may_lose_sessions
            ),
            lazy.knowledge.sources.feed.SourcesFeed(space.sources, search),
        )

    def _change_feeds(self) -> Sequence[ChangeFeed]:
        """What is searched and tells by itself what changed: the memory trees, where there are any."""
        return (lazy.docmem.feed.memory_feed(self.docmem, self.workspace),) if self._trees.exists() else ()

    def sync_catalogue(self) -> CatalogueResult:
        """Reads what changed in the notes. Raises VaultNotFound and StateUnwritable."""
        with closing(lazy.catalogue.store.catalogue_of(self.workspace)) as catalogue:
            return self._sync(catalogue)

    @contextmanager
    def catalogued(self) -> Iterator[Catalogue]:
        """The catalogue of the notes, brought up to date. Raises VaultNotFound and StateUnwritable."""
        with closing(lazy.catalogue.store.catalogue_of(self.workspace)) as catalogue:
            if not self.is_kept_open:
                self._sync(catalogue)
            elif self._catalogued.get().get() != catalogue.count():  # another process made it anew, or takes it away
                self._catalogued.get().forget()
                self._sync(catalogue)
            yield catalogue

    def scanned(self) -> Scan:
        """The files of all notes, as they are now; of a vault that is kept open by the kernel's word.

        Raises VaultNotFound.
        """
        return self._scanned.get().get() if self.is_kept_open else self._scan()

    def _scan(self) -> Scan:
        return lazy.vault.scanning.scan(self.workspace.vault, self.params.vault)

    def _sync(self, catalogue: Catalogue) -> CatalogueResult:
        return lazy.catalogue.sync.sync_catalogue(catalogue, progress=self._tell_of_notes)

    def _sync_with_index(self, catalogue: Catalogue) -> tuple[CatalogueResult, SyncResult]:
        """Catalogue and index, by one look at the notes."""
        NotesFeed = lazy.search.index.feeds.NotesFeed  # noqa: N806 - a class
        notes = NotesFeed(catalogue, progress=self._tell_of_notes)
        done = self.sync_index(feeds=[notes if isinstance(feed, NotesFeed) else feed for feed in self.feeds()])
        return notes.seen or self._sync(catalogue), done

    def _tell_of_notes(self, done: int, total: int) -> None:
        self.progress("tables", done, total)

    def sync_index(
        self,
        *,
        paths: Sequence[str] | None = None,
        vectors: bool = True,
        rebuild: bool = False,
        feeds: Sequence[Feed] | None = None,
    ) -> SyncResult:
        """Makes the index hold what all `feeds` have, or these; only `paths`, where they are given.

        Raises as `search.index.sync.sync_index` does.
        """
        space = self.workspace
        return lazy.search.index.sync.sync_index(
            space.vault,
            space.index,
            space.embeddings,
            space.params,
            self.embedder,
            self.progress,
            feeds=self.feeds() if feeds is None else feeds,
            rebuild=rebuild,
            paths=paths,
            vectors=vectors,
        )

    # how parts are built

    def _open_embedder(self) -> Embedder:
        return lazy.search.embed.providers.open_embedder(self.params.search, self.environment)

    def _open_docmem(self) -> Docmem:
        return lazy.docmem.memory.open_docmem(self._trees)

    def _open_live_search(self) -> LiveSearch:
        return lazy.search.query.fresh_search.LiveSearch(
            self.workspace,
            self.embedder,
            feeds=lambda: self.feeds(settled_only=True),
            texts=self._texts,
            progress=self.progress,
            moments=self._moments.get() if self.is_kept_open else None,
            change_feeds=self._change_feeds,
        )

    def _while_unchanged(self, make: Callable[[], T]) -> WhileUnchanged[T]:
        kept = lazy.search.follow.while_unchanged.WhileUnchanged
        return kept(make, self._moments.get(), self.params.watch.reconcile_seconds)

    def _open_moments(self) -> Moments:
        """Those of all that feeds are read from; what memory trees have to tell they know themselves."""
        space = self.workspace
        files = [space.vault / lazy.vault.ignore.OBSIDIAN_SETTINGS, space.vault / lazy.vault.daily_notes.OBSIDIAN_DAILY]
        folders = space.vault, space.sessions, space.sources
        return lazy.search.follow.moments.Moments(lambda: folders, files)

    def _open_searcher(self) -> Searcher:
        return lazy.search.query.searcher.Searcher(self.workspace.index, self.params.search, self.embedder)

    def _texts(self, group: str) -> Texts | None:
        """The texts behind hits that are no notes. Asked for by each search that finds some of the group."""
        space = self.workspace
        if group == PointGroup.SESSIONS:
            return lazy.notebook.sessions.SessionTexts(space.sessions, space.params.search)
        if group == PointGroup.EXTERNAL:
            return lazy.knowledge.sources.feed.source_texts(self.sources, space.vault, space.params)
        if group == PointGroup.MEMORY and self._trees.exists():
            return lazy.docmem.points.MemoryTexts(self.docmem)
        return None

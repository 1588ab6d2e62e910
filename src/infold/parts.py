"""The parts of an opened vault: what each is made of, built once by whoever asks first, closed together.

The one place where parts are put together. What is done with them is `infold.app.OpenVault`'s.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from infold.errors import VaultClosed
from infold.locate import LocatedWorkspace
from infold.progress import Progress, silent

if TYPE_CHECKING:
    from infold.catalogue.store import Catalogue
    from infold.catalogue.sync import CatalogueResult
    from infold.docmem.memory import Docmem
    from infold.durable.changes import Changes
    from infold.environment import Environment
    from infold.inbox.run_store import RunStore
    from infold.inbox.steps import DirectSteps
    from infold.knowledge.sources.store import SourceStore
    from infold.librarian.ledger import Ledger
    from infold.search.embed.embedder import Embedder
    from infold.search.index.feeds import Feed
    from infold.search.index.sync_stats import SyncResult
    from infold.search.query.excerpts import Texts
    from infold.search.query.fresh_search import LiveSearch
    from infold.search.query.searcher import Searcher
    from infold.settings import Params
    from infold.workspace import Workspace

T = TypeVar("T")
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


def feeds_of(workspace: Workspace, *, settled_only: bool = False) -> Sequence[Feed]:
    """All that a workspace has to be searched: notes, sessions, and what was brought in from outside.

    `settled_only`, for a search, leaves sessions that are being written as they are in the index.
    """
    from infold.knowledge.sources.feed import SourcesFeed
    from infold.notebook.sessions import feeds_of as feeds_of_notebook

    own = feeds_of_notebook(workspace, settled_only=settled_only)
    return (*own, SourcesFeed(workspace.sources, workspace.params.search))


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

    def __init__(self, located: LocatedWorkspace, progress: Progress = silent) -> None:
        self.located = located
        self._progress = progress
        self._environment = Part(self._read_environment)
        self._embedder: Part[Embedder | None] = Part(
            self._open_embedder, lambda embedder: embedder.close() if embedder else None
        )
        self._docmem = Part(self._open_docmem, lambda docmem: docmem.close())
        self._memory_searcher = Part(self._open_searcher, lambda searcher: searcher.close())
        self._live = Part(self._open_live_search, lambda live: live.close())

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
        for part in (self._live, self._memory_searcher, self._docmem, self._embedder, self._environment):
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
    def embedder(self) -> Embedder | None:
        """The embeddings that the settings name; None where search is by keyword alone. Raises ModelUnusable."""
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
        from infold.knowledge.sources.store import SourceStore

        return SourceStore(self.workspace.sources)

    @property
    def memory_searcher(self) -> Searcher:
        """The search of the index as it is. Raises IndexFault where there is none."""
        return self._memory_searcher.get()

    @property
    def runs(self) -> RunStore:
        """The records of all runs."""
        from infold.inbox.run_store import RunStore

        return RunStore(self.workspace.runs)

    @property
    def changes(self) -> Changes:
        """The one way to write notes: changes that can be looked at before, and taken back after."""
        from infold.durable.changes import Changes

        return Changes(self.workspace)

    @property
    def ledger(self) -> Ledger:
        """What was spent on each day, by all processes."""
        from infold.librarian.factory import ledger_of

        return ledger_of(self.workspace)

    def feeds(self, *, settled_only: bool = False) -> Sequence[Feed]:
        """All that there is to search, for the index; `settled_only` leaves out what is still being written."""
        files = feeds_of(self.workspace, settled_only=settled_only)
        if not self.workspace.docmem.exists():
            return files
        from infold.docmem.feed import memory_feed

        return (*files, memory_feed(self.docmem, self.workspace))

    @asynccontextmanager
    async def steps(self, workspace: Workspace | None = None) -> AsyncIterator[DirectSteps]:
        """The steps of the main job with the librarian of the settings, whose meter begins at nothing.

        `workspace` is this one with other settings. Raises KeyMissing or SettingInvalid before anything is read.
        """
        from infold.inbox.steps import open_steps

        space = workspace or self.workspace
        async with open_steps(
            space, self.environment, self.progress, feeds=self.feeds(), shared=self.embedder
        ) as steps:
            yield steps

    def sync_catalogue(self) -> CatalogueResult:
        """Reads what changed in the notes. Raises VaultNotFound and StateUnwritable."""
        from infold.catalogue.store import catalogue_of
        from infold.catalogue.sync import sync_catalogue

        with closing(catalogue_of(self.workspace)) as catalogue:
            return sync_catalogue(catalogue, progress=lambda done, total: self.progress("tables", done, total))

    @contextmanager
    def catalogued(self) -> Iterator[Catalogue]:
        """The catalogue of the notes, brought up to date. Raises VaultNotFound and StateUnwritable."""
        from infold.catalogue.store import catalogue_of
        from infold.catalogue.sync import sync_catalogue

        with closing(catalogue_of(self.workspace)) as catalogue:
            sync_catalogue(catalogue, progress=lambda done, total: self.progress("tables", done, total))
            yield catalogue

    def sync_index(
        self,
        *,
        paths: Sequence[str] | None = None,
        vectors: bool = True,
        rebuild: bool = False,
        wait_seconds: float | None = None,
        seen: CatalogueResult | None = None,
    ) -> SyncResult:
        """Makes the index hold what the feeds have; only `paths`, where they are given. Raises as `sync_index` does.

        With what a sync of the catalogue has just `seen` the notes are not looked at again.
        """
        from infold.search.index.feeds import NotesFeed
        from infold.search.index.generations import SYNC_WAIT_SECONDS
        from infold.search.index.sync import sync_index

        space = self.workspace
        feeds = [replace(feed, seen=seen) if isinstance(feed, NotesFeed) else feed for feed in self.feeds()]
        return sync_index(
            space.vault,
            space.index,
            space.embeddings,
            space.params,
            self.embedder,
            self.progress,
            feeds=feeds,
            rebuild=rebuild,
            paths=paths,
            vectors=vectors,
            wait_seconds=SYNC_WAIT_SECONDS if wait_seconds is None else wait_seconds,
        )

    # how parts are built

    def _read_environment(self) -> Environment:
        from infold.environment import Environment

        return Environment()

    def _open_embedder(self) -> Embedder | None:
        from infold.search.embed.providers import open_embedder

        params = self.params.search
        return open_embedder(params, self.environment if params.embedding == "service" else None)

    def _open_docmem(self) -> Docmem:
        from infold.docmem.memory import open_docmem

        return open_docmem(self.workspace.docmem)

    def _open_live_search(self) -> LiveSearch:
        from infold.search.query.fresh_search import LiveSearch

        return LiveSearch(
            self.workspace,
            self.embedder,
            feeds=lambda: self.feeds(settled_only=True),
            texts=self._texts,
            progress=self.progress,
        )

    def _open_searcher(self) -> Searcher:
        from infold.search.query.searcher import Searcher

        return Searcher(self.workspace.index, self.params.search, self.embedder)

    def _texts(self) -> Mapping[str, Texts]:
        """The texts behind hits that are no notes. Asked for at each search, once the index is there."""
        from infold.knowledge.sources.feed import source_texts
        from infold.notebook.sessions import SessionTexts
        from infold.search.index.contract import PointGroup

        texts: dict[str, Texts] = {
            PointGroup.SESSIONS: SessionTexts(self.workspace.sessions, self.params.search),
            PointGroup.EXTERNAL: source_texts(self.sources, self.workspace.vault, self.params),
        }
        if self.workspace.docmem.exists():
            from infold.docmem.points import MemoryTexts

            texts[PointGroup.MEMORY] = MemoryTexts(self.docmem)
        return texts

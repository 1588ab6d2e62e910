"""One opened vault: every part that works on it, built once, when it is first asked for, and closed together.

    with infold.open("~/notes") as vault:
        for result in vault.search("when are the radiators bled").results:
            print(result.path, result.start_line, result.snippet)

This is where parts are put together; whoever needs a part asks the opened vault and assembles nothing. Any number of
threads may use it, and coroutines through `run`, which keeps their loop free. What a caller may ask for, with typed
requests and answers, is in `infold.operations`; importing this module loads none of the parts.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Final, Generic, Self, TypeVar

from infold.errors import NoteUnreadable, RunNotFound, VaultBusy, VaultClosed
from infold.locate import LocatedWorkspace, WorkspaceRequest, locate_workspace
from infold.progress import Progress, silent

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.durable.change import Change, Undone
    from infold.durable.changes import Changes
    from infold.environment import Environment
    from infold.inbox.run import Run
    from infold.inbox.run_store import RunStore
    from infold.inbox.settlement import UndoResult
    from infold.inbox.steps import DirectSteps
    from infold.librarian.estimate import Estimate
    from infold.notebook.context import Context
    from infold.notebook.daily import Logged
    from infold.notebook.pages import Written
    from infold.search.embed.embedder import Embedder
    from infold.search.index.contract import Filter
    from infold.search.index.feeds import Feed
    from infold.search.index.sync_stats import SyncResult
    from infold.search.query.excerpts import Texts
    from infold.search.query.fresh_search import LiveSearch
    from infold.search.query.results import SearchResult
    from infold.settings import Params
    from infold.vault.portions import Portion
    from infold.workspace import Workspace

T = TypeVar("T")
Request = TypeVar("Request")
Answer = TypeVar("Answer")

_TRANSCRIPT: Final = re.compile(
    r"(?P<path>sessions/.+\.jsonl)(?::(?P<line>\d{1,9})(?::(?P<count>\d{1,9})|-(?P<last>\d{1,9}))?)?"
)
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


def open_vault(
    vault: Path | str | None = None,
    *,
    state: Path | str | None = None,
    params: Path | str | None = None,
    changes: Sequence[str] = (),
    inbox: Path | str | None = None,
    progress: Progress | None = None,
) -> OpenVault:
    """The vault in the folder `vault`; where it is None, the one that a command without `--vault` would take.

    `state` is the folder of what infold keeps about it, `params` a params.yaml, `changes` are single settings such as
    "search.max_results=5", `inbox` another file to fold in than the settings name. `progress` is told of long work.
    Nothing is read or built yet. Raises VaultNotFound, SettingInvalid, and UsageError where no vault is named.
    """
    request = WorkspaceRequest(_path(vault), _path(state), _path(params), tuple(changes))
    return OpenVault(locate_workspace(request, inbox=_path(inbox)), progress or silent)


def _path(given: Path | str | None) -> Path | None:
    return None if given is None else Path(given).expanduser()


class _Part(Generic[T]):
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


class OpenVault:
    """A vault and its parts. Use it in a `with` statement, or call `close`."""

    def __init__(self, located: LocatedWorkspace, progress: Progress = silent) -> None:
        self.located = located
        self._progress = progress
        self._environment = _Part(self._read_environment)
        self._embedder: _Part[Embedder | None] = _Part(
            self._open_embedder, lambda embedder: embedder.close() if embedder else None
        )
        self._docmem = _Part(self._open_docmem, lambda docmem: docmem.close())
        self._live = _Part(self._open_live_search, lambda live: live.close())

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
        for part in (self._live, self._docmem, self._embedder, self._environment):
            part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def run(self, operation: Callable[[OpenVault, Request], Answer], request: Request) -> Answer:
        """The answer of an operation, for a coroutine: it works in a thread, and the loop goes on meanwhile."""
        import asyncio  # here, because a process that asks one question does without

        return await asyncio.to_thread(operation, self, request)

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
    def runs(self) -> RunStore:
        """The records of all runs."""
        from infold.inbox.run_store import RunStore

        return RunStore(self.workspace.runs)

    @property
    def changes(self) -> Changes:
        """The one way to write notes: changes that can be looked at before, and taken back after."""
        from infold.durable.changes import Changes

        return Changes(self.workspace)

    def feeds(self, *, settled_only: bool = False) -> Sequence[Feed]:
        """All that there is to search, for the index; `settled_only` leaves out what is still being written."""
        from infold.notebook.sessions import feeds_of

        return feeds_of(self.workspace, settled_only=settled_only)

    @asynccontextmanager
    async def steps(self, workspace: Workspace | None = None) -> AsyncIterator[DirectSteps]:
        """The steps of the main job with the librarian of the settings, whose meter begins at nothing.

        `workspace` is this one with other settings. Raises KeyMissing or SettingInvalid before anything is read.
        """
        from infold.inbox.steps import open_steps

        space = workspace or self.workspace
        async with open_steps(space, self.environment, self.progress, feeds=self.feeds()) as steps:
            yield steps

    # finding and reading

    def search(
        self,
        query: str,
        where: Filter | None = None,
        limit: int | None = None,
        min_score: float | None = None,
        *,
        sync: bool | None = None,
    ) -> SearchResult:
        """What the vault says about `query`, in groups; what changed in the vault is indexed first.

        `sync` overrides `search.sync_on_search`. Raises IndexFault where there is no index and none can be made.
        """
        from infold.search.index.contract import EVERYTHING

        return self.live_search.search(query, where or EVERYTHING, limit, min_score, sync=sync)

    def fill_vectors(self) -> None:
        """Gives passages that wait for a vector theirs, for a third of a second: for when an answer was shown."""
        self.live_search.fill()

    def sync_index(
        self,
        *,
        paths: Sequence[str] | None = None,
        vectors: bool = True,
        rebuild: bool = False,
        wait_seconds: float | None = None,
    ) -> SyncResult:
        """Makes the index hold what the feeds have; only `paths`, where they are given. Raises as `sync_index` does."""
        from infold.search.index.generations import SYNC_WAIT_SECONDS
        from infold.search.index.sync import sync_index

        space = self.workspace
        return sync_index(
            space.vault,
            space.index,
            space.embeddings,
            space.params,
            self.embedder,
            self.progress,
            feeds=self.feeds(),
            rebuild=rebuild,
            paths=paths,
            vectors=vectors,
            wait_seconds=SYNC_WAIT_SECONDS if wait_seconds is None else wait_seconds,
        )

    def get(self, name: str) -> Portion:
        """The lines that `name` means, as search shows places: `path`, `path:line`, `path:line:count`, `path:3-7`.

        What was said, of a transcript. A note that is not there gives an empty portion with the names that come near.
        Raises PathRefused, UsageError and NoteUnreadable.
        """
        from infold.vault.portions import read_portion

        return self._transcript(name) or read_portion(self.workspace.vault, self.params.vault, name)

    # the notebook

    def write(self, page: str, content: str, section: str | None = None, *, replace: bool = False) -> Written:
        """Text appended to a page, or to one of its sections; `replace` puts it in the place of what is there.

        Raises as `notebook.pages.notebook_write` does.
        """
        from infold.notebook.pages import notebook_write

        return notebook_write(self.workspace, page, content, section, replace=replace)

    def log(self, entry: str) -> Logged:
        """An entry in today's log. Raises as `notebook.daily.daily_log` does."""
        from infold.notebook.daily import daily_log

        return daily_log(self.workspace, entry)

    def context(self) -> Context:
        """What an agent should always have before it: reference notes, and the logs of today and yesterday."""
        from infold.notebook.context import build_context

        return build_context(self.workspace)

    # the job

    def integrate(self, *, dry_run: bool = False, caps: Mapping[str, float | None] | None = None) -> Run:
        """Folds the inbox into the notes it belongs in; with `dry_run` only plans it. The run is kept.

        `caps` (`max_usd`, `max_tokens`) stand in for those of the settings. Where those name a model, it is paid: see
        `estimate_integration`. Not to be called from a coroutine: there, `await vault.run(...)`. Raises as
        `inbox.integration.integrate` does.
        """
        import asyncio

        return asyncio.run(self._integrate(self._capped(caps or {}), dry_run=dry_run))

    def estimate_integration(self) -> Estimate | None:
        """What the next integration takes with the model of the settings; None where the inbox holds nothing.

        Raises KeyMissing, KeyRejected and SettingInvalid.
        """
        from infold.inbox.cost_estimate import estimate_integration

        return estimate_integration(self.workspace, self.environment, self.progress)

    def recover(self) -> Sequence[str]:
        """Finishes what a killed process left half written, and says what, a sentence a change."""
        from infold.inbox.runs import recover

        return recover(self.workspace)

    def find_run(self, name: str = "last", *, wanted: Sequence[str] = ()) -> Run:
        """The run of that id, of that unique beginning, or for `last` the latest, if possible of a `wanted` status.

        Raises RunNotFound.
        """
        known = self.runs.list()
        vault = self.workspace.vault
        if not known:
            raise RunNotFound(f"There are no runs of {vault} yet.", hint="`infold integrate` makes one.")
        if name == "last":
            return max(known, key=lambda run: (str(run.status) in wanted, run.id))
        found = [run for run in known if run.id == name] or [run for run in known if run.id.startswith(name)]
        if len(found) == 1:
            return found[0]
        which = f"{len(found)} runs begin with" if found else "There is no run"
        of = f": {', '.join(run.id for run in found[:5])}" if found else f" of {vault}"
        raise RunNotFound(f"{which} {name!r}{of}.", hint="`infold runs` lists them.")

    def apply(self, name: str = "last") -> Run:
        """Writes a planned run to the vault. Raises RunNotFound, RunStateWrong and NoteChanged."""
        from infold.inbox.runs import apply_run

        run = self.find_run(name, wanted=("planned",))
        return apply_run(self._workspace_of(run), run.id)

    def all_changes(self) -> Sequence[Run | Change]:
        """Runs and all other changes, newest first."""
        from infold.inbox.all_changes import all_changes

        return all_changes(self.workspace)

    def find_change(self, name: str = "last", *, wanted: Sequence[str] = ()) -> Run | Change:
        """The run or other change of that id or unique beginning. Raises RunNotFound.

        `last` is the newest but for writes and logs, if possible of a `wanted` status; `w-last` the newest of these.
        """
        from infold.inbox.all_changes import find_change

        return find_change(self.workspace, name, wanted)

    def diffs(self, change: Run | Change) -> Mapping[str, str]:
        """The unified diff of each file that it changed, by path."""
        from infold.inbox.all_changes import diffs_of

        return diffs_of(self.workspace, change)

    def undo(self, name: str = "last") -> UndoResult | Undone:
        """Takes back what `find_change` finds; later changes elsewhere in a note stay. Raises RunStateWrong too."""
        from infold.inbox.all_changes import undo_change

        return undo_change(self.workspace, self.find_change(name, wanted=("applied", "partial")))

    def _workspace_of(self, run: Run) -> Workspace:
        """The workspace with the inbox that the run was made from."""
        return replace(self.workspace, inbox=self.workspace.vault / run.inbox)

    def _capped(self, caps: Mapping[str, float | None]) -> Workspace:
        """The workspace with these caps in the place of those of the settings."""
        given = {name: cap for name, cap in caps.items() if cap is not None}
        librarian = self.params.librarian.model_copy(update=given)
        return replace(self.workspace, params=self.params.model_copy(update={"librarian": librarian}))

    async def _integrate(self, workspace: Workspace, *, dry_run: bool) -> Run:
        from infold.inbox.integration import integrate

        async with self.steps(workspace) as steps:
            return await integrate(workspace, steps, dry_run=dry_run)

    # how parts are built

    def _read_environment(self) -> Environment:
        from infold.environment import Environment

        return Environment()

    def _open_embedder(self) -> Embedder | None:
        from infold.search.embed.embedder import open_embedder

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
            feeds=self.feeds(settled_only=True),
            texts=self._texts,
            progress=self.progress,
        )

    def _texts(self) -> Mapping[str, Texts]:
        """The texts behind hits that are no notes. Asked for at each search, once the index is there."""
        from infold.notebook.sessions import SessionTexts
        from infold.search.index.contract import Source

        texts: dict[str, Texts] = {Source.SESSIONS: SessionTexts(self.workspace.sessions, self.params.search)}
        if self.workspace.docmem.exists():
            from infold.docmem.points import MemoryTexts

            self._send_memory()
            texts[Source.MEMORY] = MemoryTexts(self.docmem)
        return texts

    def _send_memory(self) -> None:
        """Tells the index of what changed in the memory trees: words now, vectors later."""
        from infold.docmem.indexing import index_memory

        if not self.params.search.sync_on_search:
            return
        with suppress(VaultBusy):  # the next search sends what waits
            index_memory(self.docmem, self.workspace, self.embedder, vectors=False, wait_seconds=0)

    def _transcript(self, name: str) -> Portion | None:
        """What was said on these lines of a transcript; None for what names none."""
        found = _TRANSCRIPT.fullmatch(name)
        if found is None:
            return None
        from infold.notebook.sessions import turns_text
        from infold.vault.portions import Portion

        start = int(found["line"] or 1)
        count = int(found["count"]) if found["count"] else None
        last = int(found["last"]) if found["last"] else start + count - 1 if count else None
        try:
            text = turns_text(self.workspace.sessions, found["path"], start, last)
        except NoteUnreadable:
            return None
        lines = text.count("\n") + 1 if text else 0
        return Portion(found["path"], text, start, lines, lines)

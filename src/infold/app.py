"""One opened vault: every part that works on it, built once, when it is first asked for, and closed together.

    with infold.open("~/notes") as vault:
        for result in vault.search("when are the radiators bled").results:
            print(result.path, result.start_line, result.snippet)

Whoever needs a part of a vault asks here and assembles nothing; `infold.parts` puts them together. Any number of
threads may use it, and coroutines through `run`, which keeps their loop free. What a caller may ask for, with typed
requests and answers, is in `infold.operations`; importing this module loads none of the parts.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from infold import lazy
from infold.errors import RunStateWrong
from infold.locate import LocatedWorkspace, WorkspaceRequest, locate_workspace
from infold.own_loop import in_own_loop
from infold.progress import Progress, silent
from infold.search.index.contract import EVERYTHING
from infold.vault_navigator import VaultNavigator
from infold.workers import one_staff

if TYPE_CHECKING:
    from infold.catalogue.store import Catalogue
    from infold.catalogue.sync import CatalogueResult
    from infold.durable.change import Change, Undone
    from infold.environment import Environment
    from infold.inbox.review import Decision, PlannedHunk
    from infold.inbox.run import Run
    from infold.inbox.settlement import UndoResult
    from infold.inbox.steps import DirectSteps
    from infold.librarian.estimate import Estimate
    from infold.librarian.spend import Usage
    from infold.notebook.archive import Forgotten
    from infold.notebook.context import NotebookContext
    from infold.notebook.daily import Logged
    from infold.notebook.pages import Written
    from infold.search.index.contract import Filter
    from infold.search.index.sync_stats import SyncResult
    from infold.search.query.results import SearchResult
    from infold.vault.portions import Portion
    from infold.workspace import Workspace

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


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


def open_workspace(
    workspace: Workspace, progress: Progress = silent, environment: Environment | None = None
) -> OpenVault:
    """The vault of a workspace that is already known, as a flow's or a stage's is.

    Keys and hosts are the `environment`'s where it is given, else those of this process.
    """
    return OpenVault(LocatedWorkspace(workspace, "given", None, workspace.vault), progress, environment)


@asynccontextmanager
async def open_steps(
    workspace: Workspace, progress: Progress = silent, environment: Environment | None = None
) -> AsyncIterator[DirectSteps]:
    """The steps of the main job on such a vault, which is closed with them. Raises as `OpenVault.steps` does."""
    with open_workspace(workspace, progress, environment) as vault:
        async with vault.steps() as steps:
            yield steps


def _path(given: Path | str | None) -> Path | None:
    return None if given is None else Path(given).expanduser()


@dataclass(frozen=True, slots=True)
class Synced:
    """What was brought up to date: the index, then the catalogue; what summaries cost, and how long all of it took."""

    index: SyncResult
    catalogue: CatalogueResult
    usage: Usage | None  # None: no librarian was asked
    duration_ms: int

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """What was passed over, by path, each with the reason."""
        found = {**dict(self.index.skipped), **{item.path: item.reason for item in self.catalogue.skipped}}
        return tuple(sorted(found.items()))


class OpenVault(VaultNavigator):
    """A vault, and what can be done with it. Use it in a `with` statement, or call `close`."""

    async def run(self, operation: Callable[[OpenVault, _Request], _Answer], request: _Request) -> _Answer:
        """The answer of an operation, for a coroutine: it works in a thread, and the loop goes on meanwhile."""
        import asyncio  # here, because a process that asks one question does without

        return await asyncio.to_thread(operation, self, request)

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
        return self.live_search.search(query, where or EVERYTHING, limit, min_score, sync=sync)

    def fill_vectors(self) -> None:
        """Gives passages that wait for a vector theirs, for a third of a second: for when an answer was shown."""
        self.live_search.fill()

    def get(self, name: str) -> Portion:
        """The lines that `name` means, as search shows places: `path`, `path:line`, `path:line:count`, `path:3-7`.

        What was said, of a transcript; of a memory tree (memory/garden), or a node of one, its document. A note that is
        not there gives an empty portion with the names that come near. Raises PathRefused, UsageError, NoteUnreadable.
        """
        said = lazy.notebook.sessions.read_session(self.workspace.sessions, name) or self._source_portion(name)
        portion = said or lazy.vault.portions.read_portion(self.workspace.vault, self.params.vault, name)
        return portion if portion.path else self._old_portion(name) or self.memory_portion(name) or portion

    def _old_portion(self, name: str) -> Portion | None:
        """These lines of a note that still lies where the older layout had it; None for any other."""
        path, colon, lines = name.partition(":")
        old = lazy.notebook.older_layout.old_place(self.workspace.vault, self.params.notebook, path)
        return (
            lazy.vault.portions.read_portion(self.workspace.vault, self.params.vault, f"{old}{colon}{lines}")
            if old
            else None
        )

    def _source_portion(self, name: str) -> Portion | None:
        """These lines of what was brought in from outside, as search shows its path; None for what names none."""
        if not name.startswith("sources/") or not self.workspace.sources.exists():
            return None
        return lazy.knowledge.sources.feed.source_portion(self.sources, name)

    # what is derived

    def sync(self, caps: Mapping[str, float | None] | None = None) -> Synced:
        """Brings all that is derived up to date: catalogue, the index of everything, summaries, in this order.

        Where the settings name a model, summaries are paid: see `estimate_summaries`; `caps` as in `integrate`. Raises
        as `sync_index` and the librarian do.
        """
        started = time.perf_counter()
        catalogue = lazy.catalogue.store.catalogue_of(self.workspace)  # holds texts that were read, as the workers do
        with closing(catalogue), one_staff():
            found, index = self._sync_with_index(catalogue)
            usage = self._sync_summaries(self.capped(caps or {}), catalogue)
        lazy.search.index_status.remember_sync(self.workspace.index, index)
        return Synced(index, found, usage, round((time.perf_counter() - started) * 1000))

    def rebuild_index(self) -> SyncResult:
        """Makes catalogue and search index anew, while the old ones serve; no kept vector is computed again."""
        done = self.sync_index(rebuild=True)
        lazy.search.index_status.remember_sync(self.workspace.index, done)
        return done

    def estimate_summaries(self) -> Estimate | None:
        """What the summaries that are missing take with the model of the settings; None where none is."""
        return lazy.inbox.cost_estimate.estimate_summaries(self.workspace, self.model_librarian(), self.progress)

    # the notebook

    def write(self, page: str, content: str, section: str | None = None, *, replace: bool = False) -> Written:
        """Text appended to a page, or to one of its sections; `replace` puts it in the place of what is there.

        Raises as `notebook.pages.notebook_write` does.
        """
        return lazy.notebook.pages.notebook_write(self.workspace, page, content, section, replace=replace)

    def log(self, entry: str) -> Logged:
        """An entry in today's log. Raises as `notebook.daily.daily_log` does."""
        return lazy.notebook.daily.daily_log(self.workspace, entry)

    def context(self) -> NotebookContext:
        """What an agent should always have before it: reference notes, and the logs of today and yesterday."""
        return lazy.notebook.context.build_context(self.workspace)

    def forget_session(self, name: str) -> tuple[Forgotten, int]:
        """Deletes a transcript with all that is known of it; gives what was deleted, and how many memory nodes.

        It cannot be taken back. Raises UsageError where none or several are meant, StateUnwritable, VaultBusy.
        """
        path, _ = lazy.notebook.archive.find_session(self.workspace, name)
        nodes = 0
        if self.workspace.docmem.exists():  # first: the transcript, while it is there, is what can be named again
            nodes = lazy.docmem.chats.forget_session_nodes(self.docmem, lazy.notebook.sessions.PREFIX + path)
        forgotten = lazy.notebook.archive.forget_session(self.workspace, name, self._unindex_session)
        if forgotten.passages:  # deleted is not gone: words stay in the files of an index until these are made anew
            self.sync_index(rebuild=True)
        return forgotten, nodes

    def _unindex_session(self, path: str) -> None:
        """Takes what is no longer there from the index, if there is one."""
        if lazy.search.index.generations.Generations(self.workspace.index).current() is not None:
            self.sync_index(paths=[path], vectors=False, feeds=self.feeds(may_lose_sessions=True))

    # the job

    def integrate(self, *, dry_run: bool = False, caps: Mapping[str, float | None] | None = None) -> Run:
        """Folds the inbox into the notes it belongs in; with `dry_run` only plans it. The run is kept.

        `caps` (`max_usd`, `max_tokens`) stand in for those of the settings. Where those name a model, it is paid: see
        `estimate_integration`. Raises as `inbox.integration.integrate` does.
        """
        return in_own_loop(self._integrate(self.capped(caps or {}), dry_run=dry_run))

    def estimate_integration(self) -> Estimate | None:
        """What the next integration takes with the model of the settings; None where the inbox holds nothing.

        Raises KeyMissing, KeyRejected and SettingInvalid.
        """
        return lazy.inbox.cost_estimate.estimate_integration(self.workspace, self.model_librarian(), self.progress)

    def recover(self) -> Sequence[str]:
        """Finishes what a killed process left half written, and says what, a sentence a change."""
        return lazy.inbox.runs.recover(self.workspace)

    def find_run(self, name: str = "last", *, wanted: Sequence[str] = ()) -> Run:
        """The run of that id, of that unique beginning, or for `last` the latest, if possible of a `wanted` status.

        Raises RunNotFound.
        """
        return self.runs.find(name, wanted)

    def apply(
        self,
        name: str = "last",
        *,
        only: Sequence[str] = (),
        leave_out: Sequence[str] = (),
        decisions: Mapping[int, Decision] | None = None,
        anew: bool = False,
    ) -> Run:
        """Writes a planned run to the vault; all of it, or what is decided of its hunks (see `hunks`).

        `anew` without decisions asks again for the chunks of notes that changed since, and keeps the others; with
        decisions, or with a model that is paid without a cap, what fits no more only leaves its paragraphs in the
        inbox. Raises RunNotFound, RunStateWrong, NoteChanged, and UsageError for what names no hunk, note or section.
        """
        run = self.find_run(name, wanted=("planned",))
        workspace = self._workspace_of(run)
        if lazy.inbox.review.is_expired(run, self.params.integrate.plan_days) and not anew:
            raise RunStateWrong(
                f"Run {run.id} was planned more than {self.params.integrate.plan_days} days ago.",
                hint=f"`infold apply {run.id} --anew` plans it on the notes as they are now.",
            )
        chosen = lazy.inbox.review.decisions_for(lazy.inbox.review.hunks_of(self.runs, run), only, leave_out) | dict(
            decisions or {}
        )
        if anew and not chosen and self._may_ask_again():
            run = in_own_loop(self._plan_anew(workspace, run.id))
        if chosen or anew:
            run = lazy.inbox.review.decide(workspace, run, chosen)
        return lazy.inbox.runs.apply_run(workspace, run.id)

    def hunks(self, name: str = "last") -> tuple[Run, Sequence[PlannedHunk]]:
        """A plan and its hunks, note by note. Raises RunNotFound."""
        run = self.find_run(name, wanted=("planned",))
        return run, lazy.inbox.review.hunks_of(self.runs, run)

    def all_changes(self) -> Sequence[Run | Change]:
        """Runs and all other changes, newest first."""
        return lazy.inbox.all_changes.all_changes(self.workspace)

    def find_change(self, name: str = "last", *, wanted: Sequence[str] = ()) -> Run | Change:
        """The run or other change of that id or unique beginning. Raises RunNotFound.

        `last` is the newest but for writes and logs, if possible of a `wanted` status; `w-last` the newest of these.
        """
        return lazy.inbox.all_changes.find_change(self.workspace, name, wanted)

    def diffs(self, change: Run | Change) -> Mapping[str, str]:
        """The unified diff of each file that it changed, by path."""
        return lazy.inbox.all_changes.diffs_of(self.workspace, change)

    def undo(self, name: str = "last") -> UndoResult | Undone:
        """Takes back what `find_change` finds; later changes elsewhere in a note stay. Raises RunStateWrong too."""
        return lazy.inbox.all_changes.undo_change(self.workspace, self.find_change(name, wanted=("applied", "partial")))

    def _workspace_of(self, run: Run) -> Workspace:
        """The workspace with the inbox that the run was made from."""
        return replace(self.workspace, inbox=self.workspace.vault / run.inbox)

    def capped(self, caps: Mapping[str, float | None]) -> Workspace:
        """The workspace with these caps in the place of those of the settings."""
        given = {name: cap for name, cap in caps.items() if cap is not None}
        librarian = self.params.librarian.model_copy(update=given)
        return replace(self.workspace, params=self.params.model_copy(update={"librarian": librarian}))

    def _may_ask_again(self) -> bool:
        librarian = self.params.librarian
        return librarian.kind == "offline" or (librarian.max_usd, librarian.max_tokens) != (None, None)

    async def _plan_anew(self, workspace: Workspace, run_id: str) -> Run:
        async with self.steps(workspace) as steps:
            return await lazy.inbox.replanning.plan_anew(workspace, steps, run_id)

    def _sync_summaries(self, workspace: Workspace, catalogue: Catalogue) -> Usage | None:
        settled = lazy.inbox.settled_summaries
        if settled.are_settled(workspace, catalogue):
            return None
        if workspace.params.librarian.kind == "offline":
            lazy.inbox.offline_summaries.settle_offline(workspace, catalogue, self.progress)
            return None
        return in_own_loop(self._settle_summaries(workspace, catalogue))

    async def _settle_summaries(self, workspace: Workspace, catalogue: Catalogue) -> Usage:
        async with self.steps(workspace) as steps:
            settle = lazy.inbox.settled_summaries.settle
            await settle(workspace, catalogue, steps.librarian.name, steps.sync_summaries)
            return steps.usage

    async def _integrate(self, workspace: Workspace, *, dry_run: bool) -> Run:
        async with self.steps(workspace) as steps:
            return await lazy.inbox.integration.integrate(workspace, steps, dry_run=dry_run)

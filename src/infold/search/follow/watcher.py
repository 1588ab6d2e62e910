"""Following a vault: what is saved is searchable a moment later, for as long as the follower runs.

Keywords of what changed come first; vectors follow while nothing else happens, and give way to the next change. Every
`watch.reconcile_seconds` everything is compared, because events get lost. An error is told and tried again; a vault
that is away is waited for, and nothing is taken from the index meanwhile. Which changes matter is decided in
`search.follow.debounce`, where events come from in `search.follow.fs_events`, what a sync does in `search.index.sync`.
"""

from __future__ import annotations

import queue
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from infold.durable.files import Disk
from infold.errors import InfoldError, StateUnwritable, VaultBusy
from infold.progress import Progress
from infold.search.follow.debounce import EVERYTHING, Settling, Touched, touched
from infold.search.follow.fs_events import Listener, folders_below
from infold.search.index.process_lock import ProcessLock
from infold.search.index.sync_stats import SyncResult
from infold.settings import WatchParams

TICK_SECONDS: Final = 1.0  # how soon it is noticed that the vault went away or came back
RETRY_SECONDS: Final = 5.0  # after a sync that failed; twice as long after each more, up to `reconcile_seconds`
SLICE_SECONDS: Final = 10.0  # of filling in vectors, between which another process may have its turn
PAUSE_SECONDS: Final = 0.2  # for that turn to be taken
_LOCK: Final = "watching.lock"
_LOCK_TRIES: Final = 5  # `is_watched` holds the lock for an instant
_LOCK_PAUSE_SECONDS: Final = 0.05


class Happening(StrEnum):
    """What a follower tells of."""

    FOLLOWING = "following"  # it listens to a vault that is there
    POLLING = "polling"  # the system gives no events: it looks every two seconds
    INDEXED = "indexed"  # keywords of what changed, or nothing changed
    EMBEDDED = "embedded"  # the vectors that were missing
    AWAY = "away"  # there is no vault; it waits
    FAILED = "failed"  # a sync failed; it goes on


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened. `paths` are the notes that were looked at, None for all of them."""

    happening: Happening
    result: SyncResult | None = None
    paths: tuple[str, ...] | None = None
    error: Exception | None = None


class Syncing(Protocol):
    """`search.index.sync.sync_index` with all but these arguments given."""

    def __call__(self, paths: Sequence[str] | None, *, vectors: bool, progress: Progress) -> SyncResult:
        """Looks at these notes, or at everything."""


class _Interrupted(Exception):
    """Filling in vectors gives way to a change, or to another process."""


class Follower:
    """Follows `vault`: `sync` is called from the thread of `run`, and `tell` hears what happened."""

    def __init__(
        self,
        vault: Path,
        params: WatchParams,
        sync: Syncing,
        tell: Callable[[News], None],
        progress: Progress,
    ) -> None:
        self._vault, self._params, self._sync, self._tell, self._progress = vault, params, sync, tell, progress
        self._settling = Settling(params.debounce_seconds)
        self._folders: frozenset[str] = frozenset()
        self._listener: Listener | None = None
        self._polling = params.polling
        self._all_due = 0.0  # when everything is compared next
        self._failures = 0
        self._has_pending = False
        self._is_away = False
        self._slice_ends = 0.0

    def run(self) -> None:
        """Follows until interrupted (KeyboardInterrupt)."""
        try:
            while True:
                place = self._place()
                if place is None:
                    if not self._is_away:
                        self._tell(News(Happening.AWAY))
                    self._is_away = True
                    time.sleep(TICK_SECONDS)
                    continue
                self._is_away = False
                self._follow(place)
        finally:
            self._close()

    def _follow(self, place: tuple[int, int]) -> None:
        """Follows the folder that is at this place of the disk now, until another or none is there."""
        listener = self._listen()
        self._all_due = time.monotonic()
        while self._place() == place and (listener is None or listener.is_open):
            self._wait()
            now = time.monotonic()
            if now >= self._all_due:
                self._settling.take()
                self._bring_in(EVERYTHING)
            elif self._settling.due_in(now) == 0:
                self._bring_in(self._settling.take())
            elif self._has_pending:
                self._fill()
        if listener is not None and listener.failure is not None:
            self._tell(News(Happening.FAILED, error=listener.failure))
            self._polling = True
            time.sleep(TICK_SECONDS)
        self._close()

    def _listen(self) -> Listener | None:
        """A listener that is open, by polling where nothing else works; None where not even that does."""
        for polling in [True] if self._polling else [False, True]:
            listener = Listener(self._vault.resolve(), polling=polling)
            if listener.open():
                self._listener = listener
                self._tell(News(Happening.POLLING if polling else Happening.FOLLOWING))
                return listener
            self._tell(News(Happening.FAILED, error=listener.failure))
        return None

    def _close(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()

    def _place(self) -> tuple[int, int] | None:
        """What tells one folder at the vault's path from another: a mount, or a vault put back, is another."""
        try:
            status = self._vault.stat()
        except OSError:
            return None
        return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None

    def _wait(self) -> None:
        """Until an event comes, something is due, or a tick has passed; not at all while vectors are missing."""
        now = time.monotonic()
        settled = self._settling.due_in(now)
        due = min(self._all_due - now, TICK_SECONDS if settled is None else settled)
        self._hear(0.0 if self._has_pending else min(max(0.0, due), TICK_SECONDS))

    def _hear(self, seconds: float) -> None:
        """Takes in the events that have come, and those of the next `seconds`."""
        if self._listener is None:
            time.sleep(seconds)
            return
        try:
            while True:
                events = self._listener.events.get(timeout=seconds) if seconds else self._listener.events.get_nowait()
                self._settling.add(touched(events, self._folders.__contains__), time.monotonic())
                seconds = 0.0
        except queue.Empty:
            return

    def _bring_in(self, work: Touched) -> None:
        """The keywords of what was touched. A failure is told, and everything is looked at again before long."""
        paths = None if work.everything else tuple(sorted(work.paths))
        try:
            result = self._sync(paths, vectors=False, progress=self._progress)
            if work.everything:
                self._folders = folders_below(self._vault.resolve())
        except (InfoldError, OSError) as error:
            self._failed(error)
            return
        if work.everything:
            self._all_due = time.monotonic() + self._params.reconcile_seconds
        self._has_pending = result.pending > 0
        self._failures = self._failures if self._has_pending else 0
        self._tell(News(Happening.INDEXED, result=result, paths=paths))

    def _fill(self) -> None:
        """The vectors that are missing, until a change is due or somebody else shall have a turn."""
        self._slice_ends = time.monotonic() + SLICE_SECONDS
        try:
            result = self._sync((), vectors=True, progress=self._interrupting)
        except _Interrupted:
            self._hear(PAUSE_SECONDS)
            return
        except (InfoldError, OSError) as error:
            self._has_pending = False  # until the next sync has said so again
            self._failed(error)
            return
        self._failures = 0
        self._has_pending = result.pending > 0 and result.embeddings_computed + result.embeddings_cached > 0
        self._tell(News(Happening.EMBEDDED, result=result, paths=()))

    def _interrupting(self, stage: str, done: int, total: int) -> None:
        self._progress(stage, done, total)
        self._hear(0.0)
        now = time.monotonic()
        is_over = now >= min(self._all_due, self._slice_ends) or self._settling.due_in(now) == 0
        if stage == "vectors" and 0 < done < total and is_over:
            raise _Interrupted

    def _failed(self, error: Exception) -> None:
        pause = min(RETRY_SECONDS * 2**self._failures, self._params.reconcile_seconds)
        self._failures += 1
        self._all_due = time.monotonic() + pause
        self._tell(News(Happening.FAILED, error=error))


@contextmanager
def watch_claimed(index_dir: Path) -> Iterator[None]:
    """For the one process that follows a vault. Raises VaultBusy where another does."""
    Disk().make_folder(index_dir)
    claim = ProcessLock(index_dir / _LOCK)
    for tries in range(_LOCK_TRIES):
        if claim.take():
            break
        if tries + 1 == _LOCK_TRIES:
            raise VaultBusy("Another `infold watch` follows this vault already.", hint="One is enough: leave it.")
        time.sleep(_LOCK_PAUSE_SECONDS)
    try:
        yield
    finally:
        claim.release()


def is_watched(index_dir: Path) -> bool:
    """Whether a process follows the vault of this index."""
    claim = ProcessLock(index_dir / _LOCK)
    if not claim.file.exists():
        return False
    try:
        taken = claim.take()
    except StateUnwritable:
        return False  # nor could whoever wants to follow it
    claim.release()
    return not taken

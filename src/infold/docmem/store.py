"""The file that holds every memory tree: one SQLite database, one connection a process, one transaction an operation.

A transaction belongs to its caller: a thread, or a coroutine with all that it awaits. While one caller's batch is open,
other callers of the process wait to write and go on reading, over a connection of their own that sees what is
committed. Other processes may have the same file open. Killed anywhere, the file is as before or as after the
transaction. What is in it belongs to `rows`; how it is made to `schema`.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from infold.docmem.lookup import Lookup
from infold.docmem.rows import Rows
from infold.docmem.schema import SCHEMA
from infold.durable.sqlite import BUSY_SECONDS, Database, translated
from infold.errors import StateUnwritable, StoreBusy, StoreClosed

_SPARE_READERS: Final = 4  # connections kept open for readers beside a batch
_stores: dict[Path, Store] = {}
_of_parents: list[Store] = []  # never closed here: that would be a word in another process's business
_opening = threading.Lock()
_frames_of_caller: ContextVar[tuple[_Frame, ...]] = ContextVar("docmem_frames", default=())


def open_store(file: Path) -> Store:
    """The store in `file`, made where there is none; the same one for everybody in this process.

    Each call is answered by one `close`: the file is let go of when the last user is done. Raises StoreDamaged,
    StoreTooNew, StoreBusy or StateUnwritable.
    """
    file = file.resolve()
    with _opening:
        if file not in _stores:
            _stores[file] = Store(file)
        store = _stores[file]
        store.users += 1
        return store


@dataclass(eq=False, slots=True)
class _Frame:
    """One caller's use of the connection: an operation, or a batch around several."""

    thread: int  # where the caller runs: who waits for it there would wait for itself


class Store:
    """One open file. Use `open_store`: two of them in one process would wait for each other."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.users = 0
        self._process = os.getpid()
        self._turn = threading.Condition()
        self._frames: list[_Frame] = []  # who uses the connection, the innermost last
        self._is_closed = False
        self._spare: list[Lookup] = []
        self._database = Database(file, SCHEMA)
        with self._database.alone() as connection:
            self._db = connection
        self._rows = Rows(connection)

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """One transaction: all of it, or nothing when the body raises. Within another of this caller, a part of that.

        Raises StoreBusy where another caller or process writes for longer than `BUSY_SECONDS`, and at once where it is
        a coroutine of this very thread, which could not go on while one waits.
        """
        with translated(self.file, SCHEMA):
            frame = self._begin(threading.get_ident())
            try:
                yield self._rows
            except BaseException:
                self._end(frame, failed=True)
                raise
            self._end(frame, failed=False)

    def batch(self) -> Batch:
        """A transaction around several, as `with` or `async with`."""
        return Batch(self)

    def begin(self, thread: int) -> _Frame:
        """Opens a transaction, or a part of the caller's own, for who runs in `thread`; `end` closes it."""
        with translated(self.file, SCHEMA):
            return self._begin(thread)

    def end(self, frame: _Frame, *, failed: bool) -> None:
        """Commits what was begun, or takes it back. Raises StateUnwritable where the system refused a part of it."""
        with translated(self.file, SCHEMA):
            self._end(frame, failed=failed)

    def _begin(self, thread: int) -> _Frame:
        frame = self._enter(thread)
        try:
            if len(self._frames) == 1:
                self._db.execute("BEGIN IMMEDIATE")
            else:
                self._check_whole(frame)
                self._db.execute("SAVEPOINT part")
        except BaseException:
            self._leave(frame)
            raise
        return frame

    def _end(self, frame: _Frame, *, failed: bool) -> None:
        try:
            if failed:
                self._roll_back(frame)
                return
            try:
                self._check_whole(frame)
                self._db.execute("COMMIT" if len(self._frames) == 1 else "RELEASE part")
            except BaseException:
                self._roll_back(frame)
                raise
        finally:
            self._leave(frame)

    @contextmanager
    def reading(self) -> Iterator[Lookup]:
        """One state of the file for several questions, whatever others write meanwhile.

        A caller sees what its own batch has written; nobody waits for the batch of another.
        """
        has_own = bool(self._frames) and self._frame_of_caller() is not None
        frame = self._enter(threading.get_ident()) if has_own else self._enter_if_free()
        if frame is None:
            with self._beside() as rows:
                yield rows
            return
        is_outermost = len(self._frames) == 1
        try:
            with translated(self.file, SCHEMA):
                if is_outermost:
                    self._db.execute("BEGIN")
                try:
                    yield self._rows
                finally:
                    if is_outermost:
                        self._db.execute("COMMIT")
        finally:
            self._leave(frame)

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The connection itself, outside any transaction: for backup and checks. Raises StoreBusy within a batch."""
        if self._frame_of_caller() is not None:
            raise StoreBusy("The store is in the middle of a batch.", hint="Do this before or after it.")
        frame = self._enter(threading.get_ident())
        try:
            with translated(self.file, SCHEMA):
                yield self._db
        finally:
            self._leave(frame)

    def close(self) -> None:
        """One user is done. The last one lets go of the file."""
        with _opening, self._turn:
            self.users -= 1
            if self.users > 0 or self._is_closed:
                return
            self._is_closed = True
            if _stores.get(self.file) is self:
                del _stores[self.file]
            for spare in self._spare:
                spare.connection.close()
            self._database.close()

    def _enter(self, thread: int) -> _Frame:
        """The connection for the caller, once nobody else uses it. Raises StoreBusy, StoreClosed."""
        free = self._enter_if_free(thread)
        if free is not None:
            return free
        own = self._frame_of_caller()
        until = time.monotonic() + BUSY_SECONDS
        with self._turn:
            while self._frames and self._frames[-1] is not own and not self._is_closed:
                at = self._frames.index(own) + 1 if own in self._frames else 0
                if any(frame.thread == threading.get_ident() for frame in self._frames[at:]):
                    raise StoreBusy(
                        f"Another coroutine has a batch open in {self.file.name}: who waited here would stop it too.",
                        hint="Open batches by `async with`, and call operations by `await asyncio.to_thread(…)`.",
                    )
                if not self._turn.wait(until - time.monotonic()):
                    raise StoreBusy(
                        f"Another caller of this process has used {self.file.name} for {BUSY_SECONDS:.0f} s.",
                        hint="Try again when it is done.",
                    )
            return self._pushed(thread)

    def _enter_if_free(self, thread: int | None = None) -> _Frame | None:
        """The connection, where nobody uses it, or only the caller's own batch does."""
        with self._turn:
            is_free = not self._frames or self._frames[-1:] == list(_frames_of_caller.get()[-1:])
            return self._pushed(thread or threading.get_ident()) if is_free else None

    def _pushed(self, thread: int) -> _Frame:
        if os.getpid() != self._process:
            raise StoreBusy(
                "The store was opened before this process was forked.", hint="Open it again after the fork."
            )
        if self._is_closed:
            raise StoreClosed(f"{self.file.name} was closed.", hint="Open it again: `open_docmem`.")
        frame = _Frame(thread)
        self._frames.append(frame)
        _frames_of_caller.set((*_frames_of_caller.get(), frame))
        return frame

    def _leave(self, frame: _Frame) -> None:
        with self._turn:
            if self._frames[-1:] == [frame]:
                self._frames.pop()
            elif frame in self._frames:
                del self._frames[self._frames.index(frame) :]
            if not self._frames:
                self._rows.forget()
            self._turn.notify_all()
        _forget(frame)

    def _frame_of_caller(self) -> _Frame | None:
        """The innermost of the caller's own that is still open here."""
        return next((frame for frame in reversed(_frames_of_caller.get()) if frame in self._frames), None)

    def _check_whole(self, frame: _Frame) -> None:
        """SQLite itself takes a whole transaction back where the disk is full: the rest of a batch must not go on."""
        if self._frames[-1:] != [frame] or not self._db.in_transaction:
            raise StateUnwritable(
                f"What was being written to {self.file} was taken back: a part of it was refused, or had not ended.",
                hint="Free disk space where the disk is full, then do all of it again.",
            )

    def _roll_back(self, frame: _Frame) -> None:
        if frame not in self._frames or not self._db.in_transaction:
            return
        depth = self._frames.index(frame)
        if depth == 0:
            self._db.execute("ROLLBACK")
        for _ in self._frames[depth:] if depth else ():
            self._db.execute("ROLLBACK TO part")
            self._db.execute("RELEASE part")
        self._rows.forget()

    @contextmanager
    def _beside(self) -> Iterator[Lookup]:
        """What is committed, over a connection that only reads."""
        with self._turn:
            spare = self._spare.pop() if self._spare else None
        with translated(self.file, SCHEMA):
            if spare is None:
                spare = Lookup(sqlite3.connect(self.file, BUSY_SECONDS, isolation_level=None, check_same_thread=False))
                spare.connection.execute("PRAGMA query_only = ON")
            spare.connection.execute("BEGIN")
            try:
                yield spare
            finally:
                spare.connection.execute("COMMIT")
                spare.forget()
                with self._turn:
                    keeps = len(self._spare) < _SPARE_READERS and not self._is_closed
                    self._spare += [spare] if keeps else []
                if not keeps:
                    spare.connection.close()


class Batch:
    """All that happens within as one transaction: durable at its end, or none of it when the body raises.

    It belongs to who opened it, with what that calls, awaits and sends to threads by `asyncio.to_thread`. Other callers
    wait to write; `async with` waits for its turn and for the disk without stopping the event loop. Raises as
    `Store.writing` does.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._frame: _Frame | None = None

    def __enter__(self) -> None:
        self._frame = self._store.begin(threading.get_ident())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._frame is not None:
            self._store.end(self._frame, failed=kind is not None)

    async def __aenter__(self) -> None:
        begun = asyncio.ensure_future(asyncio.to_thread(self._store.begin, threading.get_ident()))
        try:
            self._frame = await asyncio.shield(begun)
        except asyncio.CancelledError:
            begun.add_done_callback(self._give_back)
            raise
        _frames_of_caller.set((*_frames_of_caller.get(), self._frame))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._frame is not None:
            ended = asyncio.to_thread(self._store.end, self._frame, failed=kind is not None)
            try:
                await asyncio.shield(ended)
            finally:
                _forget(self._frame)

    def _give_back(self, begun: asyncio.Future[_Frame]) -> None:
        """Who asked was cancelled while it waited."""
        if not begun.cancelled() and begun.exception() is None:
            self._store.end(begun.result(), failed=True)


def _forget(frame: _Frame) -> None:
    """The caller uses it no more."""
    mine = _frames_of_caller.get()
    if mine and mine[-1] is frame:
        _frames_of_caller.set(mine[:-1])
        return
    _frames_of_caller.set(tuple(other for other in _frames_of_caller.get() if other is not frame))


def _after_fork() -> None:
    """A child opens files of its own: SQLite's connections do not survive a fork. The parent's are left alone."""
    _of_parents.extend(_stores.values())
    _stores.clear()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_after_fork)

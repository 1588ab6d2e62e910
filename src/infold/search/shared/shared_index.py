"""An index that several processes use at once: one of them opens it, and serves the others for as long as it does.

Who gets the lock beside the index opens it; whoever else wants it asks that process. When the owner ends, however it
ends, one of the others takes over and does its call again: every call may be done twice. In one process all users of an
index share one opening. A person never meets any of this. The engine keeps no log: what a client has written since its
last flush it writes again to the next owner. What goes over the socket belongs to `search.shared.protocol`.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from infold.errors import IndexFault, VaultBusy
from infold.search.index.contract import QueryVector, Vector, VectorIndex, VectorRecord
from infold.search.index.generations import OWNER_LOCK
from infold.search.index.process_lock import ProcessLock, forget_files, keep_for_ever
from infold.search.shared import protocol as wire
from infold.search.shared.frames import Disconnected
from infold.search.shared.index_client import IndexConnection
from infold.search.shared.leaving import is_leaving
from infold.search.shared.rendezvous import read_card, retire

if TYPE_CHECKING:
    from infold.search.shared.index_server import IndexService

JOIN_SECONDS: Final = 30.0  # that an owner has to open the index, or to end
RETIRING_SECONDS: Final = 5.0  # that a resident of another version has to end
POINTS_A_CALL: Final = 500

_POLL_SECONDS: Final = 0.01

Opener = Callable[[], VectorIndex]


class _Sharing:
    """How this process takes part in one index: as its owner or as a client. Shared by all who use it here."""

    def __init__(self, folder: Path, opener: Opener) -> None:
        self.users = 0
        self.process = os.getpid()
        self._folder = folder
        self._opener = opener
        self._claim = ProcessLock(folder / OWNER_LOCK)
        self._changing = threading.Lock()
        self._owned: VectorIndex | None = None
        self._service: IndexService | None = None
        self._line: IndexConnection | None = None

    @property
    def is_owner(self) -> bool:
        return self._owned is not None

    def join(self) -> VectorIndex | IndexConnection:
        """The index where this process owns it, else the line to its owner. Takes over where there is none."""
        deadline = time.monotonic() + JOIN_SECONDS
        retired = -math.inf
        while True:
            with self._changing:
                if self._owned is not None:
                    return self._owned
                if self._line is not None:
                    return self._line
                card = read_card(self._folder)
                if card is not None and card.protocol != wire.PROTOCOL and retire(self._folder.parent.parent):
                    retired = time.monotonic()
                is_retiring = time.monotonic() - retired < RETIRING_SECONDS
                try:
                    if card is not None and not is_retiring:
                        self._line = IndexConnection(card)
                        return self._line
                except Disconnected:
                    pass
                if self._claim.take():
                    return self._open()
            if not self._folder.is_dir():
                raise IndexFault("This search index is gone: a newer one is in its place.", hint="Try again.")
            if time.monotonic() > deadline:
                who = f"process {card.process}" if card else "a process"
                raise VaultBusy(
                    f"The search index is held by {who} that cannot be reached.",
                    hint="Is it another user's, or in another container? Stop it; then this one takes over.",
                )
            time.sleep(_POLL_SECONDS)

    def lost(self, line: IndexConnection) -> None:
        """The owner that `line` leads to is gone."""
        with self._changing:
            if self._line is line:
                self._line = None
        line.close()

    def end(self) -> None:
        """Finishes what others asked for, closes the index, and lets go of it."""
        with self._changing:
            owned, self._owned = self._owned, None
            service, self._service = self._service, None
            line, self._line = self._line, None
            try:
                if service is not None:
                    service.end()
                if owned is not None:
                    owned.close()
            finally:
                if line is not None:
                    line.close()
                self._claim.release()

    def forget(self) -> None:
        """For a forked child: nothing of this is its own. It takes no lock, which a thread of the parent might have."""
        if self._service is not None:
            self._service.forget()
        if self._line is not None:
            self._line.forget()
        if self._owned is not None:
            forget_files(self._folder)
            keep_for_ever(self._owned)
        self._claim.forget()

    def _open(self) -> VectorIndex:
        from infold.search.shared.index_server import IndexService

        try:
            index = self._opener()
            try:
                self._service = IndexService(partial(wire.answered, index), self._folder)
            except BaseException:
                index.close()
                raise
        except BaseException:
            self._claim.release()
            raise
        self._owned = index
        return index


_sharings: dict[Path, _Sharing] = {}
_registry = threading.Lock()


def _taken(folder: Path, opener: Opener) -> _Sharing:
    with _registry:
        sharing = _sharings.get(folder)
        if sharing is None:
            sharing = _sharings[folder] = _Sharing(folder, opener)
        sharing.users += 1
        return sharing


def _given_back(folder: Path, sharing: _Sharing) -> None:
    with _registry:
        sharing.users -= 1
        is_last = sharing.users == 0 and not (is_leaving() and sharing.is_owner)
        if is_last and _sharings.get(folder) is sharing:
            del _sharings[folder]
    if is_last:
        sharing.end()


def end_unused(folder: Path) -> None:
    """Closes what was left open in `folder`, where nobody uses it (`search.shared.leaving`)."""
    with _registry:
        sharing = _sharings.get(folder.resolve())
        if sharing is None or sharing.users:
            return
        del _sharings[folder.resolve()]
    sharing.end()


def _end_all() -> None:
    with _registry:
        sharings = list(_sharings.values())
        _sharings.clear()
    for sharing in sharings:
        sharing.end()


def _forget_all() -> None:
    global _registry  # noqa: PLW0603 - the parent's may be held by a thread that the child does not have
    _registry = threading.Lock()
    for sharing in _sharings.values():
        sharing.forget()
    _sharings.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_forget_all)


class _Call(NamedTuple):
    """Something to do with an index: `here` where this process has it open, else what `there` says to its owner."""

    here: Callable[[VectorIndex], Any]
    there: Callable[[], tuple[Any, ...]]

    def done_by(self, side: VectorIndex | IndexConnection) -> Any:
        """What comes of it. Raises Disconnected where the owner is gone."""
        return side.call(*self.there()) if isinstance(side, IndexConnection) else self.here(side)


class SharedIndex:
    """The VectorIndex in `folder`, used together with every other process that wants it; `opener` opens it alone.

    Raises IndexFault where it cannot be opened, and VaultBusy where its owner does not answer.
    """

    def __init__(self, folder: Path, opener: Opener) -> None:
        self.folder = folder.resolve()
        self._opener = opener
        self._sharing: _Sharing | None = _taken(self.folder, opener)
        self._is_written = False
        self._writing = threading.RLock()
        self._unflushed: list[tuple[IndexConnection, _Call]] = []  # what an owner that is killed takes with it
        try:
            self._sharing.join()
        except BaseException:
            self._leave()
            raise

    @property
    def is_owner(self) -> bool:
        """Whether it is this process that has the index open."""
        return self._sharing is not None and self._sharing.is_owner

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Adds these records; the same number again is replaced."""
        for first in range(0, len(records), POINTS_A_CALL):
            self._put(records[first : first + POINTS_A_CALL])

    def delete(self, numbers: Sequence[int]) -> None:
        """Takes these vectors away; a number that is not there is passed over."""
        if numbers:
            self._write(_Call(lambda index: index.delete(numbers), lambda: ("delete", wire.pack_numbers(numbers))))

    def query(self, vector: QueryVector, limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """The numbers nearest to a vector that is not all zeros, with their cosine; only those `among`, where given."""
        found = self._do(
            _Call(
                lambda index: index.query(vector, limit, among),
                lambda: ("query", wire.pack_vector(vector), limit, None if among is None else wire.pack_numbers(among)),
            )
        )
        return [(int(one), float(score)) for one, score in found]

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """The vectors of these numbers, of unit length, rounded as the engine keeps them; one not there is left out."""
        found: dict[int, Vector] = {}
        for first in range(0, len(numbers), POINTS_A_CALL):
            found |= self._vectors(numbers[first : first + POINTS_A_CALL])
        return found

    def count(self) -> int:
        """How many vectors there are."""
        return int(self._do(_Call(lambda index: index.count(), lambda: ("count",))))

    def flush(self) -> None:
        """Makes everything written so far durable."""
        with self._writing:
            self._do(_Call(lambda index: index.flush(), lambda: ("flush",)))
            self._unflushed.clear()
            self._is_written = False

    def close(self) -> None:
        """Flushes and lets go. Calling it again does nothing."""
        if self._sharing is None:
            return
        try:
            if self._is_written:
                self.flush()
        finally:
            self._leave()

    def _put(self, records: Sequence[VectorRecord]) -> None:
        self._write(_Call(lambda index: index.put(records), lambda: ("put", *wire.pack_records(records))))

    def _vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        found = self._do(
            _Call(lambda index: index.vectors(numbers).items(), lambda: ("vectors", wire.pack_numbers(numbers)))
        )
        return {int(one): wire.unpack_vector(part) if isinstance(part, bytes) else part for one, part in found}

    def _leave(self) -> None:
        sharing, self._sharing = self._sharing, None
        if sharing is not None and sharing.process == os.getpid():
            _given_back(self.folder, sharing)

    def _write(self, call: _Call) -> None:
        with self._writing:
            self._is_written = True
            self._do(call, writes=True)

    def _do(self, call: _Call, *, writes: bool = False) -> Any:
        """Does the call here where this process is the owner, else has the owner do it; again when the owner goes."""
        deadline = None
        while True:
            side = self._joined().join()
            try:
                self._write_again(side)
                done = call.done_by(side)
            except Disconnected as error:
                if isinstance(side, IndexConnection):
                    self._joined().lost(side)
                deadline = deadline or time.monotonic() + JOIN_SECONDS
                if time.monotonic() > deadline:
                    who = side.card.process if isinstance(side, IndexConnection) else os.getpid()
                    raise VaultBusy(
                        f"The infold process {who}, which has the search index open, refuses to answer.",
                        hint="Stop that process; then this one takes over.",
                    ) from error
                time.sleep(_POLL_SECONDS)
            else:
                if writes and isinstance(side, IndexConnection):
                    self._unflushed.append((side, call))
                return done

    def _write_again(self, side: VectorIndex | IndexConnection) -> None:
        """What a former owner was given and may not have made durable."""
        if all(on is side for on, _ in self._unflushed):
            return
        with self._writing:
            lost = [call for on, call in self._unflushed if on is not side]
            for call in lost:
                call.done_by(side)
            self._unflushed = [(side, call) for call in lost] if isinstance(side, IndexConnection) else []

    def _joined(self) -> _Sharing:
        if self._sharing is None:
            raise IndexFault("The search index is closed.")
        if self._sharing.process != os.getpid():  # a fork: the parent's part is not ours
            self._sharing = _taken(self.folder, self._opener)
            self._writing, self._unflushed = threading.RLock(), []
        return self._sharing

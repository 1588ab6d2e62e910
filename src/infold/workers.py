"""A crew of worker processes for work that costs processor time: one function, many items, a batch at a time.

The workers are plain child processes that speak over their pipes. The standard pools would either fork a process that
has threads, or import the caller's main module again: neither is safe for a library that runs under a CLI, a test
runner, a notebook and an orchestrator. A process with one thread is not forked either: a copy that opens a database
which its parent has open takes the parent's locks for its own, and empties the log under its hands. What the work is,
and when there is enough of it, is for the caller to say.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    import queue
    import subprocess

MANY: Final = 500  # items from which starting workers pays, where one takes a fraction of a millisecond
MAX_WORKERS: Final = 8
BATCH: Final = 128
AHEAD: Final = 4  # batches of each worker that may wait for the caller: what all made at once would fill the memory

_is_worker = False
_COMMAND: Final = "from infold.workers import main; main()"
_Answers = list[tuple[int, Any]]  # an item's number with what came of it


def processors() -> int:
    """How many workers are of use on this machine."""
    return min(os.cpu_count() or 1, MAX_WORKERS)


class _Staff:
    """Worker processes, started when they are first needed; one caller at a time has them."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] | None = None

    def running(self, count: int) -> list[subprocess.Popen[bytes]]:
        """Those that live, after up to `count` were started."""
        if self._processes is None:
            self._processes = _started(count)
        return [process for process in self._processes if process.poll() is None]

    def end(self) -> None:
        """Ends the workers."""
        for process in self._processes or ():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                _close(pipe)
        self._processes = None


_shared: Final[ContextVar[_Staff | None]] = ContextVar("staff of several crews", default=None)


@contextmanager
def one_staff() -> Iterator[None]:
    """While one crew after the other works: their workers are the same processes, which start and load once."""
    staff = _Staff()
    before = _shared.set(staff)
    try:
        yield
    finally:
        _shared.reset(before)
        staff.end()


class Crew:
    """Does the function named `module:function` for items, in `count` processes that start with the first items.

    The function is given a batch of items, and gives as many answers: what it does to all of them, one step after the
    other, takes less time than all steps of one item after the other, since each step finds its own things in the
    processor's cache. Its module should import little. Items, what else it takes and what it gives are pickled.

    Where workers cannot start or die, and with a `count` of 1, this process does the work. One thread at a time may
    ask. What `by` says the same of goes to the same worker, whoever asks within `one_staff`.
    """

    def __init__(self, function: str, count: int, by: Callable[[Any], object] | None = None) -> None:
        self._function = function
        self._count = count
        self._by = by
        self._staff = _Staff()

    def each(self, items: Sequence[Any], *shared: object) -> Iterator[_Answers]:
        """Calls the function with items and `shared`; batches of numbered answers in any order, as they come.

        Raises what the function raises.
        """
        missing = set(range(len(items)))
        if self._count > 1:
            for batch in self._from_workers(items, shared):
                missing.difference_update(number for number, _ in batch)
                yield batch
        function = _named(self._function)
        yield from _batches(function, [(number, items[number]) for number in sorted(missing)], shared)

    def all(self, items: Sequence[Any], *shared: object) -> list[Any]:
        """What `each` gives, in the order of the items."""
        answers = dict(answer for batch in self.each(items, *shared) for answer in batch)
        return [answers[number] for number in range(len(items))]

    def close(self) -> None:
        """Ends the workers, unless others go on with them."""
        self._staff.end()

    def _from_workers(self, items: Sequence[Any], shared: tuple[object, ...]) -> Iterator[_Answers]:
        others = _shared.get()
        staff = others if others is not None and others.turn.acquire(blocking=False) else None
        is_done = False
        try:
            yield from self._answers_of(staff or self._staff, items, shared)
            is_done = True
        finally:
            if not is_done:  # what is still on its way must not be taken for the answers to another job
                (staff or self._staff).end()
            if staff is not None:
                staff.turn.release()

    def _answers_of(self, staff: _Staff, items: Sequence[Any], shared: tuple[object, ...]) -> Iterator[_Answers]:
        import queue

        arrived: queue.SimpleQueue[_Answers | None] = queue.SimpleQueue()
        numbered = list(enumerate(items))
        running = staff.running(self._count)
        room = threading.Semaphore(AHEAD * len(running))
        for process, share in zip(running, self._shares(numbered, len(running)), strict=True):
            job = (self._function, share, shared)
            threading.Thread(target=_converse, args=(process, job, arrived, room), daemon=True).start()
        open_shares = len(running)
        try:
            while open_shares:
                batch = arrived.get()
                if batch is None:
                    open_shares -= 1
                else:
                    yield batch
                    room.release()
        finally:
            room.release(len(items) + len(running))  # whoever still waits goes on, and finds the workers gone

    def _shares(self, numbered: Sequence[tuple[int, Any]], count: int) -> list[Sequence[tuple[int, Any]]]:
        """What each of so many workers is to do."""
        if self._by is None:
            return [numbered[at::count] for at in range(count)]
        shares: list[list[tuple[int, Any]]] = [[] for _ in range(count)]
        for number, item in numbered:
            shares[hash(self._by(item)) % count].append((number, item))
        return [*shares]


def is_worker() -> bool:
    """Whether this process is a worker, which lives for one piece of work and may keep what the next job is to use."""
    return _is_worker


@contextmanager
def without_collection() -> Iterator[None]:
    """While things by the thousand are made that hold no cycles: looking for some would take an eighth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def main() -> None:
    """A worker process: jobs on stdin, batches of answers on stdout, until the caller closes the pipe."""
    global _is_worker  # noqa: PLW0603 - what this process is, once and for all
    _is_worker = True
    gc.disable()  # the work makes few cycles, and a worker lives for seconds: a third of its time saved
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Does the jobs of `source` one after the other; each batch is written as it is done."""
    import pickle  # here, because most processes have no workers

    while job := _load(source):
        function, numbered, shared = job
        for batch in _batches(_named(function), numbered, shared):
            pickle.dump(batch, sink, protocol=pickle.HIGHEST_PROTOCOL)
            sink.flush()


def _started(count: int) -> list[subprocess.Popen[bytes]]:
    """Up to `count` processes; fewer where there are no more to be had."""
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            processes.append(_spawned())  # noqa: PERF401 - those that did start are kept
    except OSError:
        pass  # those that run do their share, the caller the rest
    return processes


def _spawned() -> subprocess.Popen[bytes]:
    import subprocess  # here, because few commands need workers

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    command = [sys.executable, "-c", _COMMAND]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )


def _converse(
    process: subprocess.Popen[bytes],
    job: Any,
    arrived: queue.SimpleQueue[_Answers | None],
    room: threading.Semaphore,
) -> None:
    """Gives a worker its share and passes on what it answers while there is room for it, then None."""
    import pickle

    try:
        if process.stdin is not None and process.stdout is not None:
            pickle.dump(job, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            answered = 0
            while answered < len(job[1]) and room.acquire() and (batch := _load(process.stdout)):
                answered += len(batch)
                arrived.put(batch)
    except (OSError, ValueError):
        pass  # the worker is gone, or its pipe is closed; what it did not answer is done by the caller
    finally:
        arrived.put(None)


def _load(stream: IO[bytes]) -> Any:
    import pickle

    try:
        return pickle.load(stream)  # noqa: S301 - from our own child or parent
    except (EOFError, pickle.UnpicklingError):
        return None


def _close(pipe: IO[bytes] | None) -> None:
    try:
        if pipe is not None:
            pipe.close()
    except OSError:
        pass  # what was still to be written to a worker that is gone


def _named(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    called: Callable[..., Any] = getattr(import_module(module), name)
    return called


def _batches(
    function: Callable[..., Any], numbered: Sequence[tuple[int, Any]], shared: tuple[object, ...]
) -> Iterator[_Answers]:
    for start in range(0, len(numbered), BATCH):
        numbers, items = zip(*numbered[start : start + BATCH], strict=True)
        yield list(zip(numbers, function(items, *shared), strict=True))

"""A crew of worker processes for work that costs processor time: one function, many items.

The workers are plain child processes that speak over their pipes. The standard pools would either fork a process that
has threads, or import the caller's main module again: neither is safe for a library that runs under a CLI, a test
runner, a notebook and an orchestrator. What the work is, and when there is enough of it, is for the caller to say.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    import queue
    import subprocess

MANY: Final = 500  # items from which starting workers pays, where one takes a fraction of a millisecond
MAX_WORKERS: Final = 8
BATCH: Final = 128

_COMMAND: Final = "from infold.workers import main; main()"
_Answers = list[tuple[int, Any]]  # an item's number with what came of it


def processors() -> int:
    """How many workers are of use on this machine."""
    return min(os.cpu_count() or 1, MAX_WORKERS)


class Crew:
    """Does the function named `module:function` for items, in `count` processes that start with the first items.

    The function's module should import little. Items, what else it takes and what it gives are pickled. Where workers
    cannot start or die, and with a `count` of 1, this process does the work. One thread at a time may ask.
    """

    def __init__(self, function: str, count: int) -> None:
        self._function = function
        self._count = count
        self._processes: list[subprocess.Popen[bytes]] | None = None

    def each(self, items: Sequence[Any], *shared: object) -> Iterator[_Answers]:
        """Calls the function with each item and `shared`; batches of numbered answers in any order, as they come.

        Raises what the function raises.
        """
        missing = set(range(len(items)))
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
        """Ends the workers."""
        for process in self._processes or ():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                _close(pipe)
        self._processes = None

    def _from_workers(self, items: Sequence[Any], shared: tuple[object, ...]) -> Iterator[_Answers]:
        if self._processes is None:
            self._processes = _started(self._count) if self._count > 1 else []
        running = [process for process in self._processes if process.poll() is None]
        import queue

        arrived: queue.SimpleQueue[_Answers | None] = queue.SimpleQueue()
        numbered = list(enumerate(items))
        for at, process in enumerate(running):
            job = (self._function, numbered[at :: len(running)], shared)
            threading.Thread(target=_converse, args=(process, job, arrived), daemon=True).start()
        open_shares = len(running)
        while open_shares:
            batch = arrived.get()
            if batch is None:
                open_shares -= 1
            else:
                yield batch


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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    command = [sys.executable, "-c", _COMMAND]
    import subprocess  # here, because few commands need workers

    processes: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
            processes.append(process)
    except OSError:
        pass  # those that run do their share, the caller the rest
    return processes


def _converse(process: subprocess.Popen[bytes], job: Any, arrived: queue.SimpleQueue[_Answers | None]) -> None:
    """Gives a worker its share and passes on what it answers, then None."""
    import pickle

    try:
        if process.stdin is not None and process.stdout is not None:
            pickle.dump(job, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            answered = 0
            while answered < len(job[1]) and (batch := _load(process.stdout)):
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
        yield [(number, function(item, *shared)) for number, item in numbered[start : start + BATCH]]

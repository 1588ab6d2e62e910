"""Rows of many notes at once: in this process when they are few, in worker processes when they are many.

The workers are plain child processes (`python -m infold.tables.worker`) that speak over their pipes. The standard
pools would either fork a process that has threads, or import the caller's main module again: neither is safe for a
library that runs under a CLI, a test runner, a notebook and an orchestrator.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from infold.errors import NoteUnreadable, PathRefused
from infold.tables.notes import NoteRow, read_row

MANY: Final = 500  # notes from which starting workers pays
MAX_WORKERS: Final = 8
_BATCH: Final = 128

Wanted = tuple[str, str | None]  # path, and the content hash known for it


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of one file: a row, nothing new (`row` None), or a reason why it cannot be read."""

    path: str
    row: NoteRow | None
    reason: str | None = None
    is_kept: bool = False  # it may well be readable later, so what is known of it stays known


def read_rows(
    root: Path,
    wanted: Sequence[Wanted],
    max_bytes: int,
    progress: Callable[[int, int], None],
    workers: int | None = None,
) -> list[Reading]:
    """Reads the files of `wanted`, in any order. `workers` is chosen by their number and the processors if None."""
    count = min(os.cpu_count() or 1, MAX_WORKERS) if workers is None else workers
    readings: list[Reading] = []
    if count > 1 and (len(wanted) > MANY or workers is not None):
        for batch in _from_workers(root, wanted, max_bytes, count):
            readings += batch
            progress(len(readings), len(wanted))
    done = {reading.path for reading in readings}  # a worker that was killed leaves its share to this process
    for batch in _batches(root, [entry for entry in wanted if entry[0] not in done], max_bytes):
        readings += batch
        progress(len(readings), len(wanted))
    return readings


def _read_one(root: Path, path: str, max_bytes: int, known_hash: str | None) -> Reading:
    try:
        return Reading(path, read_row(root, path, max_bytes, known_hash))
    except (NoteUnreadable, PathRefused) as error:
        cause = error.__cause__
        is_kept = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
        return Reading(path, None, str(error), is_kept)


def _batches(root: Path, wanted: Sequence[Wanted], max_bytes: int) -> Iterator[list[Reading]]:
    for start in range(0, len(wanted), _BATCH):
        yield [_read_one(root, path, max_bytes, known) for path, known in wanted[start : start + _BATCH]]


def _from_workers(root: Path, wanted: Sequence[Wanted], max_bytes: int, count: int) -> Iterator[list[Reading]]:
    """Batches as they come from `count` workers; fewer than wanted where a worker cannot start or dies."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    command = [sys.executable, "-m", "infold.tables.worker"]
    arrived: queue.SimpleQueue[list[Reading] | None] = queue.SimpleQueue()
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for share in (wanted[number::count] for number in range(count)):
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
            processes.append(process)
            job = pickle.dumps((str(root), share, max_bytes))
            threading.Thread(target=_converse, args=(process, job, arrived), daemon=True).start()
    except OSError:
        pass  # no more processes to be had: those that run do their share, the caller the rest
    open_shares = len(processes)
    try:
        while open_shares:
            batch = arrived.get()
            if batch is None:
                open_shares -= 1
            else:
                yield batch
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _converse(process: subprocess.Popen[bytes], job: bytes, arrived: queue.SimpleQueue[list[Reading] | None]) -> None:
    """Gives a worker its share and passes on what it answers, then None."""
    try:
        if process.stdin is not None and process.stdout is not None:
            with process.stdin as stream:
                stream.write(job)
            while batch := _load(process.stdout):
                arrived.put(batch)
    except OSError:
        pass  # the worker is gone; what it did not answer is read by the caller
    finally:
        arrived.put(None)


def _load(stream: BinaryIO | object) -> list[Reading]:
    try:
        batch: list[Reading] = pickle.load(stream)  # type: ignore[arg-type]  # noqa: S301 - from our own child
    except (EOFError, pickle.UnpicklingError):
        return []
    return batch


def work(source: BinaryIO, sink: BinaryIO) -> None:
    """What a worker does: one job in, batches out, each written as it is done."""
    gc.disable()  # the parser makes no cycles, and a worker lives for seconds: a third of its time saved
    root, wanted, max_bytes = pickle.load(source)  # noqa: S301 - from our own parent
    for batch in _batches(Path(root), wanted, max_bytes):
        pickle.dump(batch, sink, protocol=pickle.HIGHEST_PROTOCOL)
        sink.flush()

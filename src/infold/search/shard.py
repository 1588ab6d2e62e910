"""The index's folder: who may open the shard for writing, and private copies for those who only search.

A shard has one opener at a time, and even a reader writes into it. So one process at a time owns it (`owned`), for as
long as a sync takes; a search opens a copy of its own, taken while the files are at rest. A search never waits for
another search, and for a sync no longer than until its next flush.

    index/  shard/          the engine's files
            manifest.sqlite what the shard holds
            owner.lock      held by the one process that writes
            moving.lock     held while the shard's files change, and while they are copied
            readers/        one private copy for each open search
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from infold.errors import IndexFault, StateUnwritable, VaultBusy
from infold.search.manifest import Identity, Manifest

OWNER_WAIT_SECONDS: Final = 30.0
MOVING_WAIT_SECONDS: Final = 60.0
MOST_LANGUAGES: Final = 3  # that a query is stemmed in
_POLL_SECONDS: Final = 0.02
_COPY_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ShardCopy:
    """A copy of the shard and what its manifest said of it. `passages` is None where a sync was killed half-way."""

    folder: Path
    identity: Identity | None
    languages: tuple[str, ...]
    passages: int | None


class IndexFolder:
    """The paths in an index's folder, and its two locks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shard = folder / "shard"
        self.manifest = folder / "manifest.sqlite"
        self._readers = folder / "readers"
        self._damage = folder / "damaged"

    @contextmanager
    def owned(self, wait_seconds: float = OWNER_WAIT_SECONDS) -> Iterator[None]:
        """For the one process that writes. Raises VaultBusy where another still does after `wait_seconds`."""
        with self._locked(
            "owner.lock", wait_seconds, "Another infold process is bringing the search index up to date."
        ):
            yield

    @contextmanager
    def moving(self) -> Iterator[None]:
        """While the shard's files change, or are copied."""
        with self._locked("moving.lock", MOVING_WAIT_SECONDS, "Another infold process is writing the search index."):
            yield

    def clear(self) -> None:
        """Takes the shard and its manifest away, open copies not."""
        shutil.rmtree(self.shard, ignore_errors=True)
        for name in ("", "-wal", "-shm"):
            self.manifest.with_name(self.manifest.name + name).unlink(missing_ok=True)
        self._damage.unlink(missing_ok=True)

    @property
    def is_damaged(self) -> bool:
        """Whether a search has found the shard unusable, or there is none."""
        return self._damage.exists() or not (self.shard / "edge_config.json").exists()

    def mark_damaged(self) -> None:
        """Says to the next sync that the shard has to be made anew."""
        with contextlib.suppress(OSError):
            self._damage.touch()

    @contextmanager
    def copied(self) -> Iterator[ShardCopy]:
        """A private copy of the shard, taken at rest and removed afterwards. Raises IndexFault where there is none."""
        self._sweep()
        try:
            self._readers.mkdir(parents=True, exist_ok=True)
            copy = Path(tempfile.mkdtemp(prefix="copy-", dir=self._readers))
        except OSError as error:
            raise StateUnwritable(f"No copy of the search index can be made in {self._readers}: {error}.") from error
        lock = FileLock(f"{copy}.lock")
        lock.acquire()
        try:
            with self.moving():
                if self.is_damaged or not self.manifest.exists():
                    raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
                taken = self._describe(copy / "shard")
                _copy_tree(self.shard, taken.folder, with_log=taken.passages is None)
            yield taken
        finally:
            shutil.rmtree(copy, ignore_errors=True)
            lock.release()
            Path(lock.lock_file).unlink(missing_ok=True)

    def _describe(self, copy: Path) -> ShardCopy:
        with contextlib.closing(Manifest(self.manifest, read_only=True)) as manifest:
            return ShardCopy(copy, manifest.identity(), manifest.languages(MOST_LANGUAGES), manifest.passage_count())

    def _sweep(self) -> None:
        """Removes the copies of processes that were killed: those whose lock nobody holds."""
        for lock_file in self._readers.glob("copy-*.lock"):
            lock = FileLock(lock_file)
            with contextlib.suppress(Timeout, OSError):
                lock.acquire(timeout=0)
                shutil.rmtree(lock_file.with_suffix(""), ignore_errors=True)
                lock.release()
                lock_file.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, name: str, wait_seconds: float, busy: str) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / name)
            lock.acquire(timeout=wait_seconds, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise VaultBusy(busy, hint="Wait until it is done, then try again.") from error
        except OSError as error:
            raise StateUnwritable(f"The search index in {self.folder} cannot be written: {error}.") from error
        try:
            yield
        finally:
            lock.release()


def _copy_tree(source: Path, target: Path, *, with_log: bool) -> None:
    """`source` as `target`, holes kept; without the write-ahead log where the last flush left nothing in it."""
    for folder, folders, files in os.walk(source):
        inside = Path(folder).relative_to(source)
        if not with_log and inside == Path():
            folders[:] = [name for name in folders if name != "wal"]
        (target / inside).mkdir(parents=True, exist_ok=True)
        for name in files:
            _copy_file(Path(folder, name), target / inside / name)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb", buffering=0) as read, target.open("wb", buffering=0) as write:
        size = os.fstat(read.fileno()).st_size
        write.truncate(size)
        for start, end in _data_spans(read.fileno(), size):
            read.seek(start)
            write.seek(start)
            at = start
            while at < end and (data := read.read(min(_COPY_BYTES, end - at))):
                write.write(data)
                at += len(data)


def _data_spans(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Where a sparse file holds data; the whole of it where the system cannot tell."""
    seek_data, seek_hole = getattr(os, "SEEK_DATA", None), getattr(os, "SEEK_HOLE", None)
    if seek_data is None or seek_hole is None:
        yield 0, size
        return
    at = 0
    while at < size:
        try:
            at = os.lseek(descriptor, at, seek_data)
        except OSError:  # nothing but a hole to the end
            return
        end = os.lseek(descriptor, at, seek_hole)
        yield at, end
        at = end

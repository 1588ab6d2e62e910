"""The index's folder: its generations, which one is in use, and who brings it up to date.

A rebuild makes a new generation beside the old one, which serves until the new one is published: one file names the
generation in use. An old one goes when nobody uses it any more.

    index/  current             the id of the generation in use
            syncing.lock        held by the one process that brings the index up to date
            generations/<id>/   manifest.sqlite   what the generation holds
                                words/            the words of every point
                                notes.sqlite      the mean vector of each note
                                shard/            the embedded engine's vectors
                                synced            its time is that of the last sync
                                owner.lock        held by the process that has the shard open
                                owner.json        how the others reach it
                                damaged           somebody found it unusable
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from infold.durable.files import Disk, stamp_of
from infold.errors import IndexFault, StateUnwritable, VaultBusy
from infold.search.index.disk_space import require_room
from infold.search.index.process_lock import ProcessLock

SYNC_WAIT_SECONDS: Final = 30.0
OWNER_LOCK: Final = "owner.lock"
_POLL_SECONDS: Final = 0.02
_ID_BYTES: Final = 8
_ID: Final = re.compile(r"[0-9a-f]{16}")
_FORMER: Final = ("shard", "readers", "manifest.sqlite", "manifest.sqlite-wal", "manifest.sqlite-shm")
_FORMER_LOCKS: Final = ("owner.lock", "moving.lock", "damaged")


class Generations:
    """The generations in an index's folder. Nothing is made before `new_generation`, `publish` or `syncing`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._generations = folder / "generations"
        self._current = folder / "current"
        self._read: tuple[object, str] = None, ""  # of which state of that file, what it says

    def current(self) -> str | None:
        """The generation in use; None where there is none yet. The file is read once: another one is in its place."""
        stamp = stamp_of(self._current)
        known, named = self._read
        if stamp is None:
            return None
        if stamp != known:
            try:
                named = self._current.read_text(encoding="ascii").strip()
            except (OSError, UnicodeDecodeError):
                return None
            self._read = stamp, named if _ID.fullmatch(named) else ""
            named = self._read[1]
        return named if named and self.folder_of(named).is_dir() else None

    def folder_of(self, generation: str) -> Path:
        """Where a generation's files are."""
        if not _ID.fullmatch(generation):
            raise IndexFault(f"{generation!r} is no generation of the search index.")
        return self._generations / generation

    def manifest_of(self, generation: str) -> Path:
        """What the generation holds (`search.index.manifest`)."""
        return self.folder_of(generation) / "manifest.sqlite"

    def words_of(self, generation: str) -> Path:
        """The words of a generation (`search.index.words`)."""
        return self.folder_of(generation) / "words"

    def note_vectors_of(self, generation: str) -> Path:
        """What its notes are about as a whole (`search.index.note_vectors`)."""
        return self.folder_of(generation) / "notes.sqlite"

    def generations(self) -> list[str]:
        """Every generation that has a folder, in no order that means anything."""
        with contextlib.suppress(OSError):
            return sorted(entry.name for entry in os.scandir(self._generations) if _ID.fullmatch(entry.name))
        return []

    def new_generation(self) -> str:
        """The id of a new generation, whose folder is there and empty. For whoever is syncing."""
        require_room(self.folder)
        import secrets  # here, because a new index is rare

        generation = secrets.token_hex(_ID_BYTES)
        with _unwritable(self.folder):
            self.folder_of(generation).mkdir(parents=True)
        return generation

    def publish(self, generation: str) -> None:
        """Makes this generation the one in use, at once and durably."""
        disk = Disk()
        disk.sync_folder(self._generations)
        disk.write_whole(self._current, f"{generation}\n".encode())

    def remove(self, generation: str) -> bool:
        """Takes a generation's folder away; False where somebody uses it, and it stays."""
        folder = self.folder_of(generation)
        claim = ProcessLock(folder / OWNER_LOCK)
        if not claim.take():
            return not folder.exists()
        try:
            leaving = folder.with_name(f"{generation}.leaving")
            with contextlib.suppress(OSError):
                folder.rename(leaving)  # at once: nobody finds half of it
            shutil.rmtree(leaving, ignore_errors=True)
        finally:
            claim.release()
        return True

    def sweep(self, drop: Callable[[str], object] | None = None) -> None:
        """Takes away, by `drop`, every generation that is not in use, and what a former layout left behind.

        For whoever is syncing. What somebody still searches stays until the next sweep.
        """
        current = self.current()
        for generation in self.generations():
            if generation != current:
                (drop or self.remove)(generation)
        for left in self._generations.glob("*.leaving"):
            shutil.rmtree(left, ignore_errors=True)
        for name in (*_FORMER, *_FORMER_LOCKS):
            former = self.folder / name
            if former.is_dir():
                shutil.rmtree(former, ignore_errors=True)
            else:
                former.unlink(missing_ok=True)

    @property
    def is_damaged(self) -> bool:
        """Whether there is no generation in use, or somebody found it unusable."""
        current = self.current()
        return current is None or (self.folder_of(current) / "damaged").exists()

    def mark_damaged(self) -> None:
        """Says to the next sync that the index has to be made anew."""
        current = self.current()
        if current is not None:
            with contextlib.suppress(OSError):
                (self.folder_of(current) / "damaged").touch()

    @contextmanager
    def syncing(self, wait_seconds: float = SYNC_WAIT_SECONDS) -> Iterator[None]:
        """For the one process that brings the index up to date. Raises VaultBusy where another does after the wait."""
        with _unwritable(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        claim = ProcessLock(self.folder / "syncing.lock")
        until = time.monotonic() + wait_seconds
        while not claim.take():
            if time.monotonic() >= until:
                raise VaultBusy(
                    "Another infold process is bringing the search index up to date.",
                    hint="Wait until it is done, then try again.",
                )
            time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            claim.release()


@contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StateUnwritable(
            f"The search index cannot be written at {path}: {error.strerror or error}.",
            hint="Free disk space or set the permissions right.",
        ) from error

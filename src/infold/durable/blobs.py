"""Contents by their hash, so that each is kept once and damage shows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from infold.durable.files import Disk, together
from infold.errors import RunStateWrong, StateUnwritable
from infold.text import content_hash


class Blobs:
    """Contents by their hash, in one folder. What was put is never changed."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk

    def put(self, data: bytes) -> str:
        """Keeps `data`, durably, and gives its hash."""
        return self.put_all([data])[0]

    def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """Keeps all of them, and gives their hashes."""
        names = []
        new: dict[str, bytes] = {}
        for data in contents:
            names.append(content_hash(data))
            if not self._holds(self._folder / names[-1], data):  # a torn one of a stopped process is written again
                new[names[-1]] = data
        if new:
            self._disk.make_folder(self._folder)
            together([partial(self._disk.write, self._folder / name, data) for name, data in new.items()])
            self._disk.sync_folder(self._folder)
        return names

    def get(self, name: str) -> bytes:
        """The content of that hash. Raises RunStateWrong where it is gone or damaged, StateUnwritable."""
        path = self._folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise RunStateWrong(f"{path} is gone.") from error
        except OSError as error:
            raise StateUnwritable(f"{path} cannot be read: {error.strerror or error}.") from error
        if content_hash(data) != name:
            raise RunStateWrong(f"{path} is damaged: its content is not the one its name says.")
        return data

    @staticmethod
    def _holds(path: Path, data: bytes) -> bool:
        with contextlib.suppress(OSError):
            return path.stat().st_size == len(data) and path.read_bytes() == data
        return False

"""Contents by their hash, so that each is kept once and damage shows."""

from __future__ import annotations

from pathlib import Path

from infold.durable.files import Disk
from infold.errors import RunStateWrong
from infold.text import content_hash


class Blobs:
    """Contents by their hash, in one folder. What was put is never changed."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk

    def put(self, data: bytes) -> str:
        """Keeps `data`, durably, and gives its hash."""
        name = content_hash(data)
        path = self._folder / name
        if not path.exists():
            self._disk.make_folder(self._folder)
            self._disk.write_whole(path, data)
        return name

    def get(self, name: str) -> bytes:
        """The content of that hash. Raises RunStateWrong where it is gone or damaged."""
        path = self._folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RunStateWrong(f"{path} cannot be read: {error.strerror or error}.") from error
        if content_hash(data) != name:
            raise RunStateWrong(f"{path} is damaged: its content is not the one its name says.")
        return data

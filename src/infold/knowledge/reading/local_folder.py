"""A folder of this machine as a source: which may be one, and what of it is packed.

Who names a folder is the person at the machine; the rules keep a slip from packing keys, the system or infold's own
state. A folder with a Git repository gives its newest commit, so what Git ignores stays out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from infold.errors import FetchFailed, FetchRefused
from infold.knowledge.reading.records import SourceText
from infold.knowledge.reading.repository import clone_folder, read_folder
from infold.text import content_hash

SCHEME: Final = "folder:"
_SYSTEM: Final = ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "usr", "private/etc")


def folder_url(folder: Path) -> str:
    """What a folder is kept as: its name, and a hash by which another of that name is another source."""
    return f"{SCHEME}{folder.name}#{content_hash(str(folder))[:8]}"


def checked_folder(folder: Path, own: Iterable[Path]) -> Path:
    """The folder, absolute and without links. Raises FetchRefused where there is none or a rule forbids it.

    `own` are the vault and its state: neither they nor what lies in or around them is a source from outside.
    """
    try:
        found = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise FetchRefused(f"{folder}: There is no such folder.") from error
    if not found.is_dir():
        raise FetchRefused(f"{folder}: This is no folder.", hint="Name the folder that it lies in.")
    if any(part.startswith(".") for part in found.parts):
        raise FetchRefused(f"{folder}: It lies in a hidden folder, which is never packed.")
    if Path.home().resolve().is_relative_to(found) or _is_system(found):
        raise FetchRefused(f"{folder}: It is a folder of the system, or holds everything.", hint="Name a smaller one.")
    for place in (each.resolve() for each in own):
        if found.is_relative_to(place) or place.is_relative_to(found):
            raise FetchRefused(f"{folder}: It overlaps the vault or its state in {place}, which are not from outside.")
    return found


def read_local(folder: Path, *, timeout_seconds: float, most_bytes: int) -> SourceText:
    """A checked folder as one text: of a Git repository its newest commit, else its files but hidden ones.

    Raises FetchRefused where there is no file, FetchFailed where Git cannot read the repository.
    """
    if not _is_repository(folder):
        return read_folder(folder, folder.name, most_bytes=most_bytes, with_hidden=False)
    with tempfile.TemporaryDirectory(prefix="infold-clone-") as scratch:
        told = clone_folder(folder, Path(scratch), timeout_seconds)
        if told:
            raise FetchFailed(f"{folder}: Git cannot read it: {' '.join(told.split())[-300:]}")
        return read_folder(Path(scratch) / "clone", folder.name.removesuffix(".git"), most_bytes=most_bytes)


def _is_repository(folder: Path) -> bool:
    return (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


def _is_system(folder: Path) -> bool:
    return any(folder.is_relative_to(Path("/") / name) for name in _SYSTEM)

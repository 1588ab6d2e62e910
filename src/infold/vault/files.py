"""The bytes of a note, by its vault-relative path.

Only reads. Which files are notes is decided in `vault.scanning`; what a note says in `vault.note`; writing belongs to
`durable.journal`.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from infold.errors import NoteUnreadable, PathRefused
from infold.vault.names import name_problem, shown_name

_NOT_NAMES: Final = frozenset(("", ".", ".."))  # of a note or a folder
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


def safe_path(root: Path, path: str) -> Path:
    """The file that the vault-relative `path` names, whether it exists or not.

    Raises PathRefused for a path that is empty, absolute, climbs with `..`, holds signs that no note's name may hold,
    or passes a symbolic link.
    """
    return Path(_safe_name(root, path))


def _safe_name(root: Path, path: str, folders: set[str] | None = None) -> str:
    parts = path.split("/")
    if name_problem(path) or not _NOT_NAMES.isdisjoint(parts):
        raise PathRefused(f"{shown_name(path)!r} is not a path within the vault.")
    if os.name == "nt" and ("\\" in path or ":" in path):
        raise PathRefused(f"{path!r} is not a path within the vault.")
    place = str(root).rstrip(os.sep)
    whole = len(place) + 1 + len(path)
    for part in parts:
        place = f"{place}{os.sep}{part}"
        if folders is not None and place in folders:
            continue
        if os.path.islink(place):  # noqa: PTH114 - False, not an error, for a name too long to exist
            inside = os.path.realpath(place).startswith(os.path.realpath(root) + os.sep)
            why = "is a symbolic link; its note is read under its own name" if inside else "leads out of the vault"
            raise PathRefused(f"{path} {why}.")
        if folders is not None and len(place) < whole:
            folders.add(place)
    return place


def read_bytes(root: Path, path: str, max_bytes: int) -> bytes:
    """The bytes of the note at `path`.

    Raises PathRefused, or NoteUnreadable for what is gone, not a regular file, too large or refused by the system.
    """
    return read_with_status(root, path, max_bytes)[0]


def read_with_status(
    root: Path, path: str, max_bytes: int, folders: set[str] | None = None
) -> tuple[bytes, os.stat_result]:
    """As `read_bytes`, and what the system said of the file before it was read.

    `folders` are those that were found to be no links a moment ago; others are added. Without it each is looked at.
    """
    file = _safe_name(root, path, folders)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(file, flags)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NoteUnreadable(f"{path} is not a regular file.")
            if status.st_size > max_bytes:
                raise NoteUnreadable(
                    f"{path} has {status.st_size} bytes, more than vault.max_note_bytes ({max_bytes})."
                )
            data = os.read(descriptor, status.st_size + 1)  # asked for max_bytes, it would make room for them
            if len(data) != status.st_size:  # it is written to, or comes in parts
                data += _rest(descriptor, max_bytes + 1 - len(data))
        finally:
            os.close(descriptor)
    except FileNotFoundError as error:
        raise NoteUnreadable(f"{path} is not there (any more).") from error
    except OSError as error:
        raise NoteUnreadable(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > max_bytes:
        raise NoteUnreadable(f"{path} grew over vault.max_note_bytes ({max_bytes}) while it was read.")
    return data, status


def _rest(descriptor: int, most: int) -> bytes:
    """What there is still to read of a file, at most so many bytes."""
    parts = []
    while most > 0 and (part := os.read(descriptor, most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def decode(data: bytes, path: str) -> str:
    """The text of a note: strict UTF-8, a byte order mark kept.

    Raises NoteUnreadable, saying what the bytes are instead.
    """
    if data.startswith(_UTF16):
        raise NoteUnreadable(f"{path} is UTF-16, not UTF-8.", hint="Save it as UTF-8.")
    nul = data.find(b"\0")
    if nul >= 0:
        raise NoteUnreadable(f"{path} is binary: a NUL byte at {nul}.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NoteUnreadable(
            f"{path} is not UTF-8: byte {error.start}, line {line}.", hint="Save it as UTF-8."
        ) from error

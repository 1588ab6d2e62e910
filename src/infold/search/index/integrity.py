"""Whether the files of the word index are as they were written: the engine would panic over others, or find nonsense.

Sizes and times of the files that the last writer left are noted beside them; a reader trusts those, and looks through
others byte by byte, by the checksum that the engine puts at the end of each.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from infold.errors import IndexFault

META: Final = "meta.json"  # as the engine calls its list of files
_SEAL: Final = "seal.json"  # size and time of the files that the last writer left
_FOOTER_BYTES: Final = 8  # at the end of each file: the length of its footer, and a number
_READ_BYTES: Final = 1 << 20


def seal(folder: Path) -> None:
    """Notes the files as the writer left them: a reader trusts those, and looks through others byte by byte."""
    sealed = {file.name: _size_and_time(file) for file in _segment_files(folder)}
    temporary = folder / f"{_SEAL}.tmp"
    temporary.write_text(json.dumps(sealed), encoding="ascii")
    temporary.replace(folder / _SEAL)


def verify(folder: Path) -> None:
    """Raises IndexFault where a file is not what was written: the engine would panic over it, or find nonsense."""
    sealed: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        sealed = json.loads((folder / _SEAL).read_bytes())
    for file in _segment_files(folder):
        with suppress(FileNotFoundError):  # merged away meanwhile
            if sealed.get(file.name) != _size_and_time(file) and not _is_whole(file):
                raise IndexFault(
                    f"The search index is damaged: {file.name} is not as it was written.",
                    hint="`infold index` makes it anew.",
                )


def _segment_files(folder: Path) -> list[Path]:
    """The files of the index as committed. Deletions of a commit that is only being written are not among them."""
    meta = json.loads((folder / META).read_bytes())
    deletions = {
        segment["segment_id"].replace("-", ""): f"{(segment['deletes'] or {}).get('opstamp')}.del"
        for segment in meta["segments"]
    }
    with os.scandir(folder) as entries:
        return [Path(entry.path) for entry in entries if _is_committed(entry.name, deletions)]


def _is_committed(name: str, deletions: Mapping[str, str]) -> bool:
    segment, _, kind = name.partition(".")
    return segment in deletions and (not kind.endswith("del") or kind == deletions[segment])


def _size_and_time(file: Path) -> list[int]:
    status = file.stat()
    return [status.st_size, status.st_mtime_ns]


def _is_whole(file: Path) -> bool:
    """Whether the checksum in the footer of a file is that of its body."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        try:
            stream.seek(size - _FOOTER_BYTES)
            length = int.from_bytes(stream.read(4), "little")
            body = size - _FOOTER_BYTES - length
            stream.seek(body)
            expected = json.loads(stream.read(length))["crc"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        stream.seek(0)
        found = 0
        while body > 0:
            part = stream.read(min(body, _READ_BYTES))
            if not part:
                return False
            found = zlib.crc32(part, found)
            body -= len(part)
    return bool(found == expected)

"""Some lines of a note, named the way search results name them: `path`, `path:line`, `path:line:count`, `path:3-7`.

Only reads. A note that is not there is an empty portion with the names that come near; what leads out of the vault is
refused (spec 3, section 6, memory_get).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.errors import NoteUnreadable, PathRefused, UsageError
from infold.vault.files import decode, read_bytes, safe_path
from infold.vault.lines import Lines
from infold.vault.names import NOTE_SUFFIXES, folded, is_note_name, shown_name, stem, without_suffix
from infold.vault.scanning import scan

if TYPE_CHECKING:
    from infold.settings import VaultParams

MOST_NEAR: Final = 5
_BACKWARDS: Final = -1  # as a count of lines
_NEAR_SCORE: Final = 70.0
_WHERE: Final = tuple(  # the longest first: a name may end in a colon and a number itself
    re.compile(rf":(?P<line>\d{{1,9}}){rest}\Z") for rest in (r":(?P<count>\d{1,9})", r"-(?P<last>\d{1,9})", "")
)


class Portion(NamedTuple):
    """`lines` lines of a note from line `start` on; `total` is how many it has. `path` is empty where there is none."""

    path: str
    text: str
    start: int
    lines: int
    total: int
    near: tuple[str, ...] = ()


class _WantedLines(NamedTuple):
    path: str
    start: int
    most: int | None


def read_portion(vault: Path, params: VaultParams, asked: str) -> Portion:
    """The lines that `asked` names; all of them where it names none.

    A name that holds a colon is taken whole first. A name without folder or `.md` will do where only one note has it.
    Raises PathRefused, UsageError for a line 0 and lines that run backwards, and NoteUnreadable for a note that is
    there but cannot be read.
    """
    wanted = [_WantedLines(_within(vault, asked), 1, None)]
    for pattern in _WHERE:
        where = pattern.search(asked)
        if where is not None:
            wanted.append(_with_lines(_within(vault, asked[: where.start()]), where.groupdict()))
    for choice in wanted:
        path = _existing(vault, choice.path)
        if path is not None:
            return _cut(vault, params, path, choice)
    return _by_name(vault, params, wanted)


def _by_name(vault: Path, params: VaultParams, wanted: list[_WantedLines]) -> Portion:
    """The one note of that name, wherever it lies; else nothing, and the names that come near."""
    paths = [file.path for file in scan(vault, params).files]
    for choice in wanted:
        name = folded(without_suffix(choice.path.strip("/")))
        named = [path for path in paths if f"/{folded(without_suffix(path))}".endswith(f"/{name}")] if name else []
        if len(named) == 1:
            return _cut(vault, params, named[0], choice)
        if named:
            return Portion("", "", choice.start, 0, 0, tuple(named[:MOST_NEAR]))
    likeliest = min(wanted, key=lambda choice: len(choice.path))
    return Portion("", "", likeliest.start, 0, 0, _near(likeliest.path, paths))


def _near(name: str, paths: list[str]) -> tuple[str, ...]:
    from rapidfuzz import fuzz, process

    names = {path: folded(stem(path)) for path in paths}
    found = process.extract(folded(stem(name)), names, scorer=fuzz.WRatio, limit=MOST_NEAR, score_cutoff=_NEAR_SCORE)
    return tuple(path for _, _, path in found)


def _with_lines(path: str, where: dict[str, str]) -> _WantedLines:
    start = int(where["line"])
    if "last" in where:
        last = int(where["last"])
        return _WantedLines(path, start, last - start + 1 if last >= start else _BACKWARDS)
    return _WantedLines(path, start, int(where.get("count", 1)))


def _within(vault: Path, name: str) -> str:
    """The vault-relative form of `name`; an absolute path within the vault is one too."""
    if name.startswith("/") and Path(name).is_relative_to(vault):
        return Path(name).relative_to(vault).as_posix()
    return name.removeprefix("./")


def _existing(vault: Path, path: str) -> str | None:
    """The note at `path`, or at `path` with a suffix; None where there is none. Raises PathRefused."""
    if not path:
        return None
    if any(part.startswith(".") and part not in (".", "..") for part in path.split("/")):
        raise PathRefused(f"{shown_name(path)} lies in a hidden folder, which holds no notes.")
    file = safe_path(vault, path)
    if is_note_name(path):
        return path if _is_file(file) else None
    return next((path + suffix for suffix in NOTE_SUFFIXES if _is_file(safe_path(vault, path + suffix))), None)


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # a name too long to exist
        return False


def portion_of(path: str, text: str, where: str = "") -> Portion:
    """The lines of `text`, which stands at `path`, that `where` names: '', `3`, `3:5` or `3-7`.

    Raises UsageError for a line 0, lines that run backwards, and what names no lines.
    """
    if not where:
        return _portion(path, text, _WantedLines(path, 1, None))
    found = next((match for pattern in _WHERE if (match := pattern.fullmatch(f":{where}"))), None)
    if found is None:
        raise UsageError(f"{where!r} names no lines.", hint="Such as 3, 3:5 or 3-7.")
    return _portion(path, text, _with_lines(path, found.groupdict()))


def _cut(vault: Path, params: VaultParams, path: str, wanted: _WantedLines) -> Portion:
    try:
        text = decode(read_bytes(vault, path, params.max_note_bytes), path)
    except NoteUnreadable as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return Portion("", "", wanted.start, 0, 0)
        raise
    return _portion(path, text, wanted)


def _portion(path: str, text: str, wanted: _WantedLines) -> Portion:
    if wanted.start < 1:
        raise UsageError("Lines count from 1.", hint="Such as notes.md:1:20 for the first twenty.")
    if wanted.most == _BACKWARDS:
        raise UsageError("The lines run backwards.", hint="The first comes first, such as notes.md:5-11.")
    lines = Lines(text)
    total = len(lines.starts) - (lines.starts[-1] == len(text))
    last = total if wanted.most is None else min(wanted.start + wanted.most - 1, total)
    if wanted.start > total or last < wanted.start:
        return Portion(path, "", wanted.start, 0, total)
    end = lines.starts[last] if last < len(lines.starts) else len(text)
    return Portion(path, text[lines.starts[wanted.start - 1] : end], wanted.start, last - wanted.start + 1, total)

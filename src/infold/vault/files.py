"""The files of a vault: which are notes, which are not and why, and their bytes.

Only reads. Which folders and files are left out by rule is decided in `vault.ignore`; what a note says in `vault.note`;
writing belongs to `durable.journal`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.errors import NoteUnreadable, PathRefused, VaultNotFound
from infold.vault.ignore import FolderRules, obsidian_filters
from infold.vault.names import NOTE_SUFFIXES, folded, is_note_name, name_problem, shown_name

if TYPE_CHECKING:
    from infold.settings import VaultParams

_INLINE_BYTES: Final = 4096  # a file system may keep a file this small without blocks of its own
_DATALESS: Final = 0x40000000  # st_flags of macOS: the contents are with the cloud provider
_RECALL: Final = 0x00401000  # st_file_attributes of Windows: offline, or recalled on access
_TELLS_ABSENT: Final = hasattr(os.stat_result, "st_flags") or hasattr(os.stat_result, "st_file_attributes")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that cannot be a note now. `is_kept`: it is not gone, so what is known of it stays known."""

    path: str
    reason: str
    is_kept: bool = False


class FileStat(NamedTuple):
    """A note's file as the scan saw it. A tuple, because a search looks at tens of thousands before it answers."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Scan:
    """All notes of a vault, sorted by path, and what was passed over. What a rule leaves out is only counted."""

    files: tuple[FileStat, ...]
    skipped: tuple[Skipped, ...]
    ignored: int = 0


def scan(root: Path, params: VaultParams, near: Iterable[str] | None = None) -> Scan:
    """Lists the notes under `root` without reading any; with `near` only those in the folders of these notes and above.

    Two names that differ in case or Unicode form only are both skipped: on another machine they are one file, and which
    one a link means cannot be told. Symbolic links are never followed. Raises VaultNotFound.
    """
    if not root.is_dir():
        raise VaultNotFound(f"There is no vault folder at {root}.", hint="Give the folder of your notes with --vault.")
    walk = _Walk(root, params.max_note_bytes, None if near is None else _folders_above(near))
    walk.vault()
    return walk.result()


def safe_path(root: Path, path: str) -> Path:
    """The file that the vault-relative `path` names, whether it exists or not.

    Raises PathRefused for a path that is empty, absolute, climbs with `..`, holds signs that no note's name may hold,
    or passes a symbolic link.
    """
    return Path(_safe_name(root, path))


def _safe_name(root: Path, path: str) -> str:
    parts = path.split("/")
    if name_problem(path) or any(part in ("", ".", "..") for part in parts):
        raise PathRefused(f"{shown_name(path)!r} is not a path within the vault.")
    if os.name == "nt" and ("\\" in path or ":" in path):
        raise PathRefused(f"{path!r} is not a path within the vault.")
    place = str(root).rstrip(os.sep)
    for part in parts:
        place = f"{place}{os.sep}{part}"
        if os.path.islink(place):  # noqa: PTH114 - False, not an error, for a name too long to exist
            inside = os.path.realpath(place).startswith(os.path.realpath(root) + os.sep)
            why = "is a symbolic link; its note is read under its own name" if inside else "leads out of the vault"
            raise PathRefused(f"{path} {why}.")
    return place


def read_bytes(root: Path, path: str, max_bytes: int) -> bytes:
    """The bytes of the note at `path`.

    Raises PathRefused, or NoteUnreadable for what is gone, not a regular file, too large or refused by the system.
    """
    file = _safe_name(root, path)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(file, flags)
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NoteUnreadable(f"{path} is not a regular file.")
            if status.st_size > max_bytes:
                raise NoteUnreadable(
                    f"{path} has {status.st_size} bytes, more than vault.max_note_bytes ({max_bytes})."
                )
            data = stream.read(status.st_size + 1)  # asked for max_bytes, it would make room for them
            if len(data) > status.st_size:
                data += stream.read(max_bytes + 1 - len(data))
    except FileNotFoundError as error:
        raise NoteUnreadable(f"{path} is not there (any more).") from error
    except OSError as error:
        raise NoteUnreadable(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > max_bytes:
        raise NoteUnreadable(f"{path} grew over vault.max_note_bytes ({max_bytes}) while it was read.")
    return data


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


def _is_plain(name: str) -> bool:
    """Whether it is a note's name of which nothing else has to be asked."""
    return name.endswith(NOTE_SUFFIXES) and name.isascii() and name.isprintable()


def _is_absent(status: os.stat_result) -> bool:
    """Whether the system says that the contents are elsewhere."""
    return bool(getattr(status, "st_flags", 0) & _DATALESS or getattr(status, "st_file_attributes", 0) & _RECALL)


def _folders_above(paths: Iterable[str]) -> frozenset[str]:
    """Every folder on the way to these notes."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


class _Walk:
    """One pass over the vault."""

    def __init__(self, root: Path, max_bytes: int, only: frozenset[str] | None = None) -> None:
        self.root = os.path.realpath(root)
        self.max_bytes = max_bytes
        self.only = only  # the folders to walk; all where it is None
        self.filters, problems = obsidian_filters(root)
        self.files: list[FileStat] = []
        self.skipped = [Skipped(path, reason) for path, reason in problems]
        self.seen: dict[str, str] = {}  # every note by its name, folded
        self.clashes: dict[str, list[str]] = {}  # the folded names that more than one has
        self.without_blocks: list[FileStat] = []
        self.has_blocks = False
        self.ignored = 0

    def vault(self) -> None:
        """Walks every folder. A list of what is ahead, not a call in a call: folders may lie deeper than calls can."""
        ahead = [(self.root, "", FolderRules())]
        while ahead:
            place, prefix, rules = ahead.pop()
            try:
                with os.scandir(place) as listing:
                    entries = list(listing)
            except OSError as error:
                reason = f"the folder cannot be read: {error.strerror or error}"
                self.skipped.append(Skipped(prefix or ".", reason, is_kept=True))
                continue
            rules = rules.within(place, prefix, {entry.name for entry in entries if entry.name.startswith(".")})
            self.skipped += [Skipped(path, reason) for path, reason in rules.problems]
            is_free = not (rules.is_active or self.filters)
            for entry in entries:
                name = entry.name
                if name.startswith("."):
                    self._stub(prefix, name)
                elif is_free and _is_plain(name) and entry.is_file(follow_symlinks=False):  # nearly all there is
                    self._file(entry, prefix + name)
                elif self._entry(entry, prefix + entry.name, rules):
                    ahead.append((entry.path, f"{prefix}{entry.name}/", rules))

    def _entry(self, entry: os.DirEntry[str], path: str, rules: FolderRules) -> bool:
        """Takes in one entry; whether it is a folder to be walked."""
        is_folder = entry.is_dir(follow_symlinks=False)
        is_link = not is_folder and entry.is_symlink()
        if not (is_folder or is_link or is_note_name(entry.name)):
            return False
        if (rules.is_active or self.filters) and self._is_left_out(path, rules, is_folder=is_folder):
            self.ignored += 1
            return False
        problem = name_problem(entry.name)
        if problem:
            self.skipped.append(Skipped(shown_name(path), problem))
            return False
        if is_link:
            self._symlink(entry, path)
        elif not is_folder:
            self._file(entry, path)
        return is_folder and (self.only is None or path in self.only)

    def _is_left_out(self, path: str, rules: FolderRules, *, is_folder: bool) -> bool:
        if rules.is_active and rules.ignores(path, is_folder=is_folder):
            return True
        name = f"{path}/" if is_folder else path
        return any(matches(name) for matches in self.filters)

    def result(self) -> Scan:
        """What was found, clashes and placeholders taken out."""
        for file in self.without_blocks:
            if self.has_blocks:  # else this file system does not tell blocks
                self._skip_absent(file.path)
            else:
                self.files.append(file)
        clashes = {path: paths for paths in self.clashes.values() for path in paths}
        for path, paths in clashes.items():
            others = ", ".join(other for other in paths if other != path)
            self.skipped.append(Skipped(path, f"its name differs from {others} in case or Unicode form only"))
        files = sorted((file for file in self.files if file.path not in clashes), key=itemgetter(0))
        skipped = {item.path: item for item in reversed(self.skipped)}
        return Scan(tuple(files), tuple(sorted(skipped.values(), key=lambda item: item.path)), self.ignored)

    def _file(self, entry: os.DirEntry[str], path: str) -> None:
        name = folded(path)
        first = self.seen.setdefault(name, path)
        if first is not path:
            self.clashes.setdefault(name, [first]).append(path)
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.skipped.append(Skipped(path, f"cannot be read: {error.strerror or error}", is_kept=True))
            return
        if not stat.S_ISREG(status.st_mode):
            self.skipped.append(Skipped(path, "not a regular file"))
        elif status.st_size > self.max_bytes:
            reason = f"{status.st_size} bytes, more than vault.max_note_bytes ({self.max_bytes})"
            self.skipped.append(Skipped(path, reason))
        elif _TELLS_ABSENT and _is_absent(status):
            self._skip_absent(path)
        else:
            file = FileStat(path, status.st_size, status.st_mtime_ns)
            if status.st_size > _INLINE_BYTES:
                if getattr(status, "st_blocks", 1) == 0:
                    self.without_blocks.append(file)
                    return
                self.has_blocks = True
            self.files.append(file)

    def _stub(self, prefix: str, name: str) -> None:
        """A file that iCloud keeps in place of one it has not downloaded: `.Note.md.icloud`."""
        if name.endswith(".icloud") and is_note_name(name[1:-7]):
            self._skip_absent(prefix + name[1:-7])

    def _skip_absent(self, path: str) -> None:
        self.skipped.append(Skipped(path, "a placeholder of cloud sync: the contents are not here", is_kept=True))

    def _symlink(self, entry: os.DirEntry[str], path: str) -> None:
        target = os.path.realpath(entry.path)
        is_folder = Path(target).is_dir()
        if not is_folder and not Path(target).exists():
            reason = "a symbolic link to nothing"
        elif os.path.commonpath([self.root, target]) != self.root:
            reason = "a symbolic link that leads out of the vault"
        else:
            reason = "a symbolic link; what it leads to is read under its own name"
        if is_note_name(entry.name) or is_folder:
            self.skipped.append(Skipped(path, reason))

"""Which files of a vault are notes, which are not and why.

Reads no note. Which folders and files are left out by rule is decided in `vault.ignore`; the bytes of a note belong to
`vault.files`.
"""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.errors import VaultNotFound
from infold.vault.ignore import FolderRules, obsidian_filters
from infold.vault.names import NOTE_SUFFIXES, folded, is_note_name, name_problem, shown_name

if TYPE_CHECKING:
    from infold.settings import VaultParams

_INLINE_BYTES: Final = 4096  # a file system may keep a file this small without blocks of its own
_DATALESS: Final = 0x40000000  # st_flags of macOS: the contents are with the cloud provider
_RECALL: Final = 0x00401000  # st_file_attributes of Windows: offline, or recalled on access
_TELLS_ABSENT: Final = hasattr(os.stat_result, "st_flags") or hasattr(os.stat_result, "st_file_attributes")
_TELLS_BLOCKS: Final = hasattr(os.stat_result, "st_blocks")
_LISTS_OPENED: Final = os.scandir in os.supports_fd
_OPEN_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_DIGEST_BYTES: Final = 16
_ABSENT: Final = "a placeholder of cloud sync: the contents are not here"


class Skipped(NamedTuple):
    """A file or folder that cannot be a note now. `is_kept`: it is not gone, so what is known of it stays known."""

    path: str
    reason: str
    is_kept: bool = False


class FileStat(NamedTuple):
    """A note's file as the scan saw it."""

    path: str
    size: int
    mtime_ns: int


_Seen = tuple[str, int, int]  # as FileStat; a bare tuple, because there are tens of thousands of them


class Scan:
    """All notes of a vault, sorted by path, and what was passed over. What a rule leaves out is only counted.

    The notes are sorted, and their names compared, when they are first asked for: whoever knows the `digest` needs
    none of it.
    """

    def __init__(
        self,
        seen: Sequence[_Seen] = (),
        skipped: Sequence[Skipped] = (),
        ignored: int = 0,
        unusable: Sequence[str] = (),
    ) -> None:
        """`unusable` are those among the `skipped` whose names clash with others all the same."""
        self._seen, self._skipped, self._unusable = seen, skipped, unusable
        self.ignored = ignored

    @cached_property
    def digest(self) -> bytes:
        """What path, size and time of every file and all that was skipped come to: equal where nothing differs.

        The order in which the system lists a folder has a part in it.
        """
        paths, sizes, times = zip(*self._seen, strict=True) if self._seen else ((), (), ())
        told = blake2b("\0".join(paths).encode(), digest_size=_DIGEST_BYTES)
        told.update(array("q", sizes))
        told.update(array("q", times))
        told.update(repr([(item.path, item.reason, item.is_kept) for item in self._skipped]).encode())
        return told.digest()

    @cached_property
    def clashes(self) -> dict[str, str]:
        """The paths of names that clash, and the reason to give. May be set by who knows those of an equal scan."""
        clashing = _clashing([*(seen[0] for seen in self._seen), *self._unusable])
        return {path: f"its name differs from {names} in case or Unicode form only" for path, names in clashing}

    @cached_property
    def files(self) -> tuple[FileStat, ...]:
        """The notes, by path."""
        clashes = self.clashes
        files = sorted((seen for seen in self._seen if seen[0] not in clashes), key=itemgetter(0))
        return tuple(map(FileStat._make, files))

    @cached_property
    def skipped(self) -> tuple[Skipped, ...]:
        """What cannot be a note, by path."""
        clashes = (Skipped(path, reason) for path, reason in self.clashes.items())
        skipped = {item.path: item for item in reversed([*self._skipped, *clashes])}
        return tuple(sorted(skipped.values(), key=lambda item: item.path))


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


def _clashing(paths: Sequence[str]) -> list[tuple[str, str]]:
    """The paths that differ from others in case or Unicode form only, each with these others."""
    names = [folded(path) for path in paths]
    if len(set(names)) == len(names):
        return []
    alike: dict[str, list[str]] = {}
    for name, path in zip(names, paths, strict=True):
        alike.setdefault(name, []).append(path)
    groups = [group for group in alike.values() if len(group) > 1]
    return [(path, ", ".join(other for other in group if other != path)) for group in groups for path in group]


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


@contextmanager
def _entries(place: str) -> Iterator[list[os.DirEntry[str]]]:
    """What lies in a folder. Opened, so that the system finds each file from there and not from the root: a fifth less.

    While it lasts the entries may be asked for what they are.
    """
    if not _LISTS_OPENED:
        with os.scandir(place) as listing:
            yield list(listing)
        return
    folder = os.open(place, _OPEN_FOLDER)
    try:
        with os.scandir(folder) as listing:
            yield list(listing)
    finally:
        os.close(folder)


class _Walk:
    """One pass over the vault."""

    def __init__(self, root: Path, max_bytes: int, only: frozenset[str] | None = None) -> None:
        self.root = os.path.realpath(root)
        self.max_bytes = max_bytes
        self.common_bytes = -1 if _TELLS_ABSENT else min(_INLINE_BYTES, max_bytes)
        self.only = only  # the folders to walk; all where it is None
        self.filters, problems = obsidian_filters(root)
        self.files: list[_Seen] = []
        self.skipped = [Skipped(path, reason) for path, reason in problems]
        self.unusable: list[str] = []
        self.without_blocks: list[_Seen] = []
        self.has_blocks = not _TELLS_BLOCKS
        self.ignored = 0

    def vault(self) -> None:
        """Walks every folder. A list of what is ahead, not a call in a call: folders may lie deeper than calls can."""
        ahead = [(self.root, "", FolderRules())]
        while ahead:
            place, prefix, rules = ahead.pop()
            try:
                with _entries(place) as entries:
                    ahead += self._folder(place, prefix, rules, entries)
            except OSError as error:
                reason = f"the folder cannot be read: {error.strerror or error}"
                self.skipped.append(Skipped(prefix or ".", reason, is_kept=True))

    def _folder(
        self, place: str, prefix: str, rules: FolderRules, entries: Sequence[os.DirEntry[str]]
    ) -> list[tuple[str, str, FolderRules]]:
        """Takes in what lies in one folder; gives the folders to be walked in it."""
        names = {entry.name for entry in entries if entry.name.startswith(".")}
        if names:
            rules = rules.within(place, prefix, names)
            self.skipped += [Skipped(path, reason) for path, reason in rules.problems]
        folders = []
        for entry in entries if rules.is_active or self.filters else self._but_common(prefix, entries):
            name = entry.name
            if name.startswith("."):
                self._stub(prefix, name)
            elif self._entry(entry, place, prefix + name, rules):
                folders.append((f"{place}{os.sep}{name}", f"{prefix}{name}/", rules))
        return folders

    def _but_common(self, prefix: str, entries: Sequence[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
        """Takes in small files of plain names, which most notes are, and gives the other entries.

        All in one loop: calls of our own would take half as long as the system does.
        """
        files, others = self.files, []
        for entry in entries:
            name = entry.name
            if name.endswith(NOTE_SUFFIXES) and name.isascii() and name.isprintable() and not name.startswith("."):
                try:
                    if entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)  # kept by the entry, whoever asks again
                        size = status.st_size
                        if size <= self.common_bytes and stat.S_ISREG(status.st_mode):
                            files.append((prefix + name, size, status.st_mtime_ns))
                            continue
                except OSError:
                    pass  # said by who looks at the others
            others.append(entry)
        return others

    def _entry(self, entry: os.DirEntry[str], place: str, path: str, rules: FolderRules) -> bool:
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
            self._symlink(f"{place}{os.sep}{entry.name}", path)
        elif not is_folder:
            self._file(entry, path)
        return is_folder and (self.only is None or path in self.only)

    def _is_left_out(self, path: str, rules: FolderRules, *, is_folder: bool) -> bool:
        if rules.is_active and rules.ignores(path, is_folder=is_folder):
            return True
        name = f"{path}/" if is_folder else path
        return any(matches(name) for matches in self.filters)

    def result(self) -> Scan:
        """What was found, placeholders taken out."""
        for seen in self.without_blocks:
            if self.has_blocks:  # else this file system does not tell blocks
                self._skip(seen[0], _ABSENT, is_kept=True)
            else:
                self.files.append(seen)
        return Scan(self.files, self.skipped, self.ignored, self.unusable)

    def _file(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._skip(path, f"cannot be read: {error.strerror or error}", is_kept=True)
            return
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, "not a regular file")
        elif size > self.max_bytes:
            self._skip(path, f"{size} bytes, more than vault.max_note_bytes ({self.max_bytes})")
        elif _TELLS_ABSENT and _is_absent(status):
            self._skip(path, _ABSENT, is_kept=True)
        elif size > _INLINE_BYTES and _TELLS_BLOCKS and status.st_blocks == 0:
            self.without_blocks.append((path, size, status.st_mtime_ns))
        else:
            self.has_blocks = self.has_blocks or size > _INLINE_BYTES
            self.files.append((path, size, status.st_mtime_ns))

    def _skip(self, path: str, reason: str, *, is_kept: bool = False) -> None:
        self.skipped.append(Skipped(path, reason, is_kept))
        self.unusable.append(path)

    def _stub(self, prefix: str, name: str) -> None:
        """A file that iCloud keeps in place of one it has not downloaded: `.Note.md.icloud`."""
        if name.endswith(".icloud") and is_note_name(name[1:-7]):
            self.skipped.append(Skipped(prefix + name[1:-7], _ABSENT, is_kept=True))

    def _symlink(self, place: str, path: str) -> None:
        target = os.path.realpath(place)
        is_folder = Path(target).is_dir()
        if not is_folder and not Path(target).exists():
            reason = "a symbolic link to nothing"
        elif os.path.commonpath([self.root, target]) != self.root:
            reason = "a symbolic link that leads out of the vault"
        else:
            reason = "a symbolic link; what it leads to is read under its own name"
        if is_note_name(path) or is_folder:
            self.skipped.append(Skipped(path, reason))

"""Finding out how somebody keeps notes: which note is the root, which file is the inbox. Names and links only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

_CANDIDATES_FOR_ROOT: Final = 40
ROOT_NAMES: Final = ("index", "readme", "home", "root", "start", "map of content", "moc", "_index", "00 index")
INBOX_NAMES: Final = (
    "inbox",
    "00 inbox",
    "0 inbox",
    "00-inbox",
    "0-inbox",
    "_inbox",
    "+inbox",
)


class NameMatch(NamedTuple):
    """A file and why it was taken."""

    path: str
    why: str


def find_root(paths: Sequence[str], vault_name: str, reach: Mapping[str, int]) -> NameMatch | None:
    """The note that exploration should start from. `reach`: how many notes each note reaches by links.

    A name that says so, at the top of the vault, comes first, then the folder's own name, then what reaches most. A
    name without a link that leads on is no root where another note has one.
    """
    by_stem = _by_stem(paths)
    best = max(reach, key=lambda path: (reach[path], -path.count("/")), default=None)
    leads_nowhere = {path for path in reach if not reach[path]} if best is not None and reach[best] else set()
    for name in (*ROOT_NAMES, vault_name.casefold()):
        at_top = [path for path in by_stem.get(name, ()) if "/" not in path and path not in leads_nowhere]
        if at_top:
            return NameMatch(at_top[0], "by its name")
    if best is not None and reach[best] > 0:
        return NameMatch(best, f"it reaches the most notes by links, {reach[best]}")
    for name in ROOT_NAMES:
        if name in by_stem:
            return NameMatch(by_stem[name][0], "by its name")
    return None


def find_inbox(paths: Sequence[str]) -> NameMatch | None:
    """The file that new text is dropped in."""
    by_stem = _by_stem(paths)
    for name in INBOX_NAMES:
        if name in by_stem:
            return NameMatch(by_stem[name][0], "by its name")
    return None


def best_linked(outgoing: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many other notes each of the notes with the most links reaches. `outgoing`: the notes that each links to."""
    by_links = sorted(outgoing, key=lambda path: (-len(outgoing[path]), path))
    return {path: _reach(path, outgoing) for path in by_links[:_CANDIDATES_FOR_ROOT]}


def _reach(start: str, outgoing: Mapping[str, Sequence[str]]) -> int:
    met, edge = {start}, [start]
    while edge:
        edge = [target for path in edge for target in outgoing.get(path, ()) if target not in met]
        edge = list(dict.fromkeys(edge))
        met.update(edge)
    return len(met) - 1


def _by_stem(paths: Sequence[str]) -> dict[str, list[str]]:
    """Paths by case-folded stem, those nearest the top first."""
    stems: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda p: (p.count("/"), p)):
        stems.setdefault(PurePosixPath(path).stem.casefold(), []).append(path)
    return stems

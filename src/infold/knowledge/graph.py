"""The graph of notes: who links to whom, what lies near what, and what holds it together.

Pure, over resolved links. Resolving belongs to `vault.links`, groups of notes to `knowledge.communities`, pictures to
`knowledge.pictures`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from infold.vault.names import folded, stem


@dataclass(frozen=True, slots=True)
class Hub:
    """A note that many others link to, with its counts of linked notes."""

    path: str
    incoming: int
    outgoing: int


@dataclass(frozen=True, slots=True)
class GraphStatistics:
    """The graph in numbers. `components` counts groups of notes joined by links in either direction."""

    notes: int
    links: int  # between two different notes, each pair of source and target once
    dangling: int  # texts of links that lead to no note, each once a source
    orphans: int
    dead_ends: int
    components: int
    largest_component: int
    most_linked: Hub | None


@dataclass(frozen=True, slots=True)
class DanglingLink:
    """A link that leads to no note: what it says, which notes say so, and the note whose name comes nearest."""

    target: str
    sources: tuple[str, ...]
    nearest: str | None


class Graph:
    """Notes and the resolved links between them. Targets that are no notes of the graph are left out.

    `dangling` is what was written where a link leads to no note, by source.
    """

    def __init__(
        self, outgoing: Mapping[str, Sequence[str]], dangling: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._outgoing = {
            path: tuple(dict.fromkeys(target for target in targets if target in outgoing))
            for path, targets in outgoing.items()
        }
        self._incoming: dict[str, list[str]] = {path: [] for path in self._outgoing}
        for path, targets in self._outgoing.items():
            for target in targets:
                self._incoming[target].append(path)
        self._joined: dict[str, tuple[str, ...]] = {}  # as far as it was asked for
        self.dangling: dict[str, tuple[str, ...]] = {
            path: tuple(dict.fromkeys(targets)) for path, targets in sorted((dangling or {}).items()) if targets
        }

    @property
    def notes(self) -> Collection[str]:
        """The paths of all notes."""
        return self._outgoing.keys()

    def outgoing(self, path: str) -> tuple[str, ...]:
        """The notes that `path` links to, in the order of its links."""
        return self._outgoing.get(path, ())

    def backlinks(self, path: str) -> tuple[str, ...]:
        """The notes that link to `path`."""
        return tuple(self._incoming.get(path, ()))

    def joined(self, path: str) -> Sequence[str]:
        """The other notes joined to `path` by a link in either direction, each once."""
        known = self._joined.get(path)
        if known is None:
            others = dict.fromkeys((*self._outgoing.get(path, ()), *self._incoming.get(path, ())))
            others.pop(path, None)
            known = self._joined[path] = tuple(others)
        return known

    def reach(self, root: str, hops: int | None = None) -> dict[str, int]:
        """Every note that links lead to from `root` within `hops` steps (all of them by default), with its distance.

        `root` itself is at 0. A root that is no note reaches nothing.
        """
        return self._walk(root, hops, is_directed=True)

    def neighbours(self, centre: str, hops: int = 1) -> dict[str, int]:
        """As `reach`, links followed in either direction."""
        return self._walk(centre, hops, is_directed=False)

    def path(self, start: str, end: str, *, is_directed: bool = False) -> tuple[str, ...]:
        """A shortest chain of notes from `start` to `end`, both included; empty where there is none.

        Links count in either direction unless `is_directed`. Of several, the one whose links come first.
        """
        if start not in self._outgoing or end not in self._outgoing:
            return ()
        came_from: dict[str, str] = {start: start}
        edge = [start]
        while edge and end not in came_from:
            following: list[str] = []
            for note in edge:
                for other in self._outgoing[note] if is_directed else self.joined(note):
                    if other not in came_from:
                        came_from[other] = note
                        following.append(other)
            edge = following
        if end not in came_from:
            return ()
        chain = [end]
        while chain[-1] != start:
            chain.append(came_from[chain[-1]])
        return tuple(reversed(chain))

    def orphans(self, root: str | None = None) -> list[str]:
        """Notes without a link from or to another note, sorted; `root` is none, because a reader starts there."""
        return [path for path in sorted(self._outgoing) if path != root and not self._has_neighbour(path)]

    def dead_ends(self) -> list[str]:
        """Notes that others link to and that link to no other note, sorted."""
        return [
            path
            for path in sorted(self._outgoing)
            if not any(other != path for other in self._outgoing[path]) and self._has_neighbour(path)
        ]

    def hubs(self, limit: int = 10) -> list[Hub]:
        """The notes that most others link to, most first, then by path; never one without a backlink."""
        found = [self._hub(path) for path in self._outgoing]
        found.sort(key=lambda hub: (-hub.incoming, -hub.outgoing, hub.path))
        return [hub for hub in found[:limit] if hub.incoming]

    def components(self) -> list[list[str]]:
        """Groups of notes joined by links in either direction, largest first, each sorted."""
        seen: set[str] = set()
        found: list[list[str]] = []
        for path in sorted(self._outgoing):
            if path not in seen:
                group = sorted(self._walk(path, None, is_directed=False))
                seen.update(group)
                found.append(group)
        return sorted(found, key=lambda group: (-len(group), group[0]))

    def statistics(self) -> GraphStatistics:
        """The graph in numbers."""
        groups = self.components()
        return GraphStatistics(
            notes=len(self._outgoing),
            links=sum(other != path for path, targets in self._outgoing.items() for other in targets),
            dangling=sum(map(len, self.dangling.values())),
            orphans=len(self.orphans()),
            dead_ends=len(self.dead_ends()),
            components=len(groups),
            largest_component=len(groups[0]) if groups else 0,
            most_linked=next(iter(self.hubs(1)), None),
        )

    def dangling_links(self, limit: int | None = None) -> list[DanglingLink]:
        """What links say that lead to no note, most often said first, each with the real note of the nearest name."""
        sources: dict[str, dict[str, None]] = {}
        shown: dict[str, Counter[str]] = {}
        for path, targets in self.dangling.items():
            for target in targets:
                sources.setdefault(folded(target), {})[path] = None
                shown.setdefault(folded(target), Counter())[target] += 1
        order = sorted(sources, key=lambda form: (-len(sources[form]), form))[:limit]
        names = {folded(stem(path)): path for path in sorted(self._outgoing, reverse=True)}
        return [
            DanglingLink(max(shown[form], key=lambda text: (shown[form][text], text)), tuple(sources[form]), near)
            for form in order
            for near in [_nearest(folded(stem(form)), names)]
        ]

    def _walk(self, root: str, hops: int | None, *, is_directed: bool) -> dict[str, int]:
        if root not in self._outgoing:
            return {}
        reached = {root: 0}
        edge = [root]
        distance = 0
        while edge and (hops is None or distance < hops):
            distance += 1
            following: list[str] = []
            for path in edge:
                for other in self._outgoing[path] if is_directed else self.joined(path):
                    if other not in reached:
                        reached[other] = distance
                        following.append(other)
            edge = following
        return reached

    def _hub(self, path: str) -> Hub:
        incoming, outgoing = self._incoming[path], self._outgoing[path]
        own = path in outgoing  # a link to itself
        return Hub(path, len(incoming) - own, len(outgoing) - own)

    def _has_neighbour(self, path: str) -> bool:
        return any(other != path for other in (*self._incoming[path], *self._outgoing[path]))


def _nearest(name: str, names: Mapping[str, str]) -> str | None:
    """The note whose name comes nearest to `name`, letter by letter; None where none comes near."""
    from rapidfuzz import fuzz, process

    found = process.extractOne(name, names.keys(), scorer=fuzz.ratio, score_cutoff=70)
    return names[found[0]] if found is not None else None

"""The graph of notes: who links to whom, what lies near what, and what holds it together.

Pure, over resolved links; held as arrays of numbers, so that a big one is loaded at once and takes little memory.
Resolving belongs to `vault.links`, groups of notes to `knowledge.communities`, links to nothing to
`knowledge.dangling`, pictures to `knowledge.pictures`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Final, Self

_INT: Final = "i"
_LENGTH: Final = 8  # bytes of the number that a packed graph begins with


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


class _Links:
    """For each note, by number, the notes at the other ends of its links: one run of one array."""

    def __init__(self, starts: array[int], ends: array[int]) -> None:
        self.starts, self.ends = starts, ends

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Self:
        listed = list(rows)
        return cls(array(_INT, accumulate(map(len, listed), initial=0)), array(_INT, chain.from_iterable(listed)))

    def __getitem__(self, note: int) -> array[int]:
        return self.ends[self.starts[note] : self.starts[note + 1]]

    def degree(self, note: int) -> int:
        return self.starts[note + 1] - self.starts[note]

    def turned(self) -> _Links:
        """The same links from their other ends, those of one note in the order of the notes they are of."""
        count = len(self.starts) - 1
        places = array(_INT, bytes(4 * (count + 1)))
        for end in self.ends:
            places[end + 1] += 1
        places = array(_INT, accumulate(places))
        starts = places[:]
        found = array(_INT, bytes(4 * len(self.ends)))
        for note in range(count):
            for end in self[note]:
                found[places[end]] = note
                places[end] += 1
        return _Links(starts, found)


class Graph:
    """Notes and the resolved links between them. Targets that are no notes of the graph are left out."""

    def __init__(self, outgoing: Mapping[str, Iterable[str]]) -> None:
        """`outgoing` has every note, with the notes that it links to."""
        numbers = {path: number for number, path in enumerate(outgoing)}
        out = _Links.of(
            [numbers[target] for target in dict.fromkeys(targets) if target in numbers] for targets in outgoing.values()
        )
        self._take(list(outgoing), out, out.turned())

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """The graph that `packed` was of."""
        end = int.from_bytes(packed[:_LENGTH], "little")
        names = packed[_LENGTH:end].decode("utf-8", "surrogatepass")
        paths = names.split("\0") if names else []
        numbers = array(_INT)
        numbers.frombytes(packed[end:])
        count = len(paths) + 1
        half = len(numbers) // 2
        self = cls.__new__(cls)
        self._take(
            paths,
            _Links(numbers[:count], numbers[count:half]),
            _Links(numbers[half : half + count], numbers[half + count :]),
        )
        return self

    def packed(self) -> bytes:
        """All of it as bytes, for `unpacked` on the same machine."""
        names = "\0".join(self._paths).encode("utf-8", "surrogatepass")
        parts = (part.tobytes() for links in (self._out, self._in) for part in (links.starts, links.ends))
        return b"".join(((len(names) + _LENGTH).to_bytes(_LENGTH, "little"), names, *parts))

    def _take(self, paths: Sequence[str], out: _Links, incoming: _Links) -> None:
        self._paths, self._out, self._in = paths, out, incoming
        self._numbers = {path: number for number, path in enumerate(paths)}

    @cached_property
    def _loops(self) -> frozenset[int]:
        """The notes that link to themselves."""
        out = self._out
        return frozenset(note for note in range(len(self._paths)) if out.degree(note) and note in out[note])

    @property
    def notes(self) -> Collection[str]:
        """The paths of all notes."""
        return self._numbers.keys()

    def outgoing(self, path: str) -> tuple[str, ...]:
        """The notes that `path` links to, in the order of its links."""
        return self._named(self._out, path)

    def backlinks(self, path: str) -> tuple[str, ...]:
        """The notes that link to `path`."""
        return self._named(self._in, path)

    def joined(self, path: str) -> Sequence[str]:
        """The other notes joined to `path` by a link in either direction, each once."""
        number = self._numbers.get(path)
        return [] if number is None else [self._paths[other] for other in self._joined(number)]

    def reach(self, root: str) -> dict[str, int]:
        """Every note that links lead to from `root`, with its distance; `root` itself is at 0.

        A root that is no note reaches nothing.
        """
        return self._walk(root, len(self._paths), self._out.__getitem__)

    def neighbours(self, centre: str, hops: int = 1) -> dict[str, int]:
        """The notes within `hops` steps, links followed in either direction, with their distances; `centre` is at 0."""
        return self._walk(centre, hops, self._joined)

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """A shortest chain of notes from `start` to `end`, both included; empty where there is none.

        Links count in either direction. Of several, the one whose links come first.
        """
        first, last = self._numbers.get(start), self._numbers.get(end)
        if first is None or last is None:
            return ()
        came_from = {first: first}
        edge = [first]
        while edge and last not in came_from:
            following: list[int] = []
            for note in edge:
                for other in self._joined(note):
                    if other not in came_from:
                        came_from[other] = note
                        following.append(other)
            edge = following
        if last not in came_from:
            return ()
        found = [last]
        while found[-1] != first:
            found.append(came_from[found[-1]])
        return tuple(self._paths[note] for note in reversed(found))

    def orphans(self, root: str | None = None) -> list[str]:
        """Notes without a link from or to another note, sorted; `root` is none, because a reader starts there."""
        alone = (self._paths[note] for note in range(len(self._paths)) if not self._is_joined(note))
        return sorted(path for path in alone if path != root)

    def dead_ends(self) -> list[str]:
        """Notes that others link to and that link to no other note, sorted."""
        return sorted(
            self._paths[note]
            for note in range(len(self._paths))
            if self._leads_out(self._in, note) and not self._leads_out(self._out, note)
        )

    def hubs(self, limit: int | None = 10) -> list[Hub]:
        """The notes that most others link to, most first, then by path; never one without a backlink."""
        found = [(-self._others(self._in, note), note) for note in range(len(self._paths)) if self._in.degree(note)]
        hubs = [Hub(self._paths[note], -count, self._others(self._out, note)) for count, note in found if count]
        return sorted(hubs, key=lambda hub: (-hub.incoming, -hub.outgoing, hub.path))[:limit]

    def hub(self, path: str) -> Hub:
        """How much a note of the graph is linked."""
        note = self._numbers[path]
        return Hub(path, self._others(self._in, note), self._others(self._out, note))

    def links_among(self, paths: Iterable[str]) -> Iterator[tuple[int, int]]:
        """The pairs of these notes of the graph that are joined by a link, each once, by their places."""
        places = {self._numbers[path]: place for place, path in enumerate(paths)}
        for note, place in places.items():
            others = (places.get(other, -1) for other in self._joined(note))
            yield from ((place, other) for other in others if other > place)

    def components(self) -> list[list[str]]:
        """Groups of notes joined by links in either direction, largest first, each sorted."""
        groups: dict[int, list[str]] = {}
        for note, group in enumerate(self._component_of_each()):
            groups.setdefault(group, []).append(self._paths[note])
        return sorted(map(sorted, groups.values()), key=lambda group: (-len(group), group[0]))

    def statistics(self, dangling: int = 0) -> GraphStatistics:
        """The graph in numbers, so many links to nothing beside it."""
        groups = self.components()
        return GraphStatistics(
            notes=len(self._paths),
            links=sum(self._others(self._out, note) for note in range(len(self._paths))),
            dangling=dangling,
            orphans=len(self.orphans()),
            dead_ends=len(self.dead_ends()),
            components=len(groups),
            largest_component=len(groups[0]) if groups else 0,
        )

    def _named(self, links: _Links, path: str) -> tuple[str, ...]:
        number = self._numbers.get(path)
        return () if number is None else tuple(self._paths[other] for other in links[number])

    def _joined(self, note: int) -> Iterable[int]:
        others = dict.fromkeys(chain(self._out[note], self._in[note]))
        others.pop(note, None)
        return others

    def _walk(self, root: str, hops: int, ends: Callable[[int], Iterable[int]]) -> dict[str, int]:
        start = self._numbers.get(root)
        if start is None:
            return {}
        reached = {start: 0}
        edge = [start]
        distance = 0
        while edge and distance < hops:
            distance += 1
            following: list[int] = []
            for note in edge:
                for other in ends(note):
                    if other not in reached:
                        reached[other] = distance
                        following.append(other)
            edge = following
        return {self._paths[note]: distance for note, distance in reached.items()}

    def _component_of_each(self) -> list[int]:
        group = [-1] * len(self._paths)
        for first in range(len(group)):
            if group[first] >= 0:
                continue
            group[first] = first
            open_notes = [first]
            while open_notes:
                note = open_notes.pop()
                for other in chain(self._out[note], self._in[note]):
                    if group[other] < 0:
                        group[other] = first
                        open_notes.append(other)
        return group

    def _others(self, links: _Links, note: int) -> int:
        """How many other notes are at the ends of its links."""
        return links.degree(note) - (note in self._loops)

    def _leads_out(self, links: _Links, note: int) -> bool:
        degree = links.degree(note)
        return degree > 1 or (degree == 1 and links.ends[links.starts[note]] != note)

    def _is_joined(self, note: int) -> bool:
        return self._leads_out(self._out, note) or self._leads_out(self._in, note)

"""The graph of notes: who links to whom, and what can be reached from where.

Pure, over resolved links. Resolving belongs to `vault.links`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


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

    def reach(self, root: str, hops: int | None = None) -> dict[str, int]:
        """Every note that links lead to from `root` within `hops` steps (all of them by default), with its distance.

        `root` itself is at 0. A root that is no note reaches nothing.
        """
        if root not in self._outgoing:
            return {}
        reached = {root: 0}
        edge = [root]
        distance = 0
        while edge and (hops is None or distance < hops):
            distance += 1
            following: list[str] = []
            for path in edge:
                for target in self._outgoing[path]:
                    if target not in reached:
                        reached[target] = distance
                        following.append(target)
            edge = following
        return reached

    def orphans(self, root: str | None = None) -> list[str]:
        """Notes without a link from or to another note, sorted; `root` is none, because a reader starts there."""
        return [path for path in sorted(self._outgoing) if path != root and not self._has_neighbour(path)]

    def _has_neighbour(self, path: str) -> bool:
        return any(other != path for other in (*self._incoming[path], *self._outgoing[path]))

"""Where a caller is: the centre, the lens, the way that led there. Each caller has a place of their own (spec 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

_LONGEST: Final = 100  # steps of a way that are remembered

HERE: Final = frozenset(("", "this", "this one", "this idea", "here", "it", "centre", "center"))


@dataclass(frozen=True, slots=True)
class NavigatorPlace:
    """The centre (a node's id, or None), the name of the lens (or None), and the centres before, oldest first."""

    centre: str | None = None
    lens: str | None = None
    way: tuple[str, ...] = ()

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> NavigatorPlace:
        """The place that was kept; one that cannot be read is the beginning."""
        centre, lens, way = kept.get("centre"), kept.get("lens"), kept.get("way", ())
        return cls(
            centre if isinstance(centre, str) else None,
            lens if isinstance(lens, str) else None,
            tuple(step for step in way if isinstance(step, str)) if isinstance(way, list | tuple) else (),
        )

    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {"centre": self.centre, "lens": self.lens, "way": self.way}

    def at(self, node_id: str) -> NavigatorPlace:
        """The place after a step to a node."""
        if node_id == self.centre:
            return self
        way = (*self.way, self.centre) if self.centre is not None else self.way
        return replace(self, centre=node_id, way=way[-_LONGEST:])

    def back(self) -> NavigatorPlace:
        """The place before the last step; the same where there was none."""
        if not self.way:
            return self
        return replace(self, centre=self.way[-1], way=self.way[:-1])

    def through(self, lens: str | None) -> NavigatorPlace:
        """The place seen through a lens, or through none."""
        return replace(self, lens=lens)


def means_centre(node_id: str | None) -> bool:
    """Whether a caller says "this one" instead of an id."""
    return node_id is None or node_id.strip().casefold() in HERE

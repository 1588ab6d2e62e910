"""What a search gives: results in groups, each with where it stands, why, and the text that matched.

Records only. Finding them belongs to `search.query.searcher`, showing them to the faces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from infold.search.index.contract import PointGroup
from infold.search.query.fusion import Evidence

# As groups, empty or not (spec 3, section 6).
ALWAYS_SHOWN: Final = (PointGroup.NOTEBOOK, PointGroup.DAILY, PointGroup.SESSIONS)


class Result(NamedTuple):
    """The best place of a note that answers; `more` are others of it, best first.

    Lines count from 1, both included; `heading` is the nearest one, as written.

    `marks` are the matches in `snippet`; `words` are what matched in the whole passage, as written there. `trust` says
    where the text is from: what came from outside the vault keeps that label.
    """

    path: str
    start_line: int
    end_line: int
    heading: str | None
    trail: tuple[str, ...]
    title: str
    group: str
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    starts_inside: bool = False
    ends_inside: bool = False
    kind: str = ""
    id: str = ""
    words: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    more: tuple[Result, ...] = ()
    date: str | None = None
    tags: tuple[str, ...] = ()
    level: str = "passage"
    trust: str = "vault"
    parent: str = ""


class Timing(NamedTuple):
    """Where the time of a search went, in milliseconds."""

    sync_ms: float = 0.0
    keyword_ms: float = 0.0
    dense_ms: float = 0.0
    total_ms: float = 0.0


class SearchResult(NamedTuple):
    """Results by source, in the order in which sources are looked at (spec 3, section 6); within a group best first.

    `left_out` counts what the index found but the files no longer say. `notices` are what a person should know about
    how far the answer can be relied on. Where there are no results, `searched` counts the passages that were looked
    through, and `hint` is one thing to try.
    """

    query: str
    groups: Mapping[str, tuple[Result, ...]]
    left_out: int = 0
    notices: tuple[str, ...] = ()
    timing: Timing = Timing()
    searched: int | None = None
    hint: str = ""

    @property
    def results(self) -> tuple[Result, ...]:
        """Every result, one a note, group after group."""
        return tuple(result for group in self.groups.values() for result in group)

    @property
    def places(self) -> tuple[Result, ...]:
        """Every place, those of one note together."""
        return tuple(place for result in self.results for place in (result._replace(more=()), *result.more))


def grouped(results: list[Result]) -> dict[str, tuple[Result, ...]]:
    """The results by source; a source of which there is nothing shows where the specification has it."""
    groups: dict[str, tuple[Result, ...]] = {}
    for group in PointGroup:
        found = tuple(result for result in results if result.group == group)
        if found or group in ALWAYS_SHOWN:
            groups[str(group)] = found
    return groups

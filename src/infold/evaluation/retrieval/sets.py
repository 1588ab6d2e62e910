"""What a retrieval set is: notes or transcripts to search, and questions whose answers are known.

Frozen records. Drawing sets out of a vault belongs to `retrieval.generated`, reading them from files to
`retrieval.provided`, asking to `retrieval.asking`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple


class RelevantLines(NamedTuple):
    """A stretch of a note: its path, first and last line (from 1, both included)."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class RetrievalQuestion:
    """What is asked, and what answers it.

    `relevant` are the answers with their grades (1 and up): paths, or, where `section` is given, the one name that
    stands for it. `among` limits the search to these paths; empty is everything.
    """

    id: str
    text: str
    relevant: Mapping[str, int]
    section: RelevantLines | None = None  # a passage that overlaps it is the answer
    among: tuple[str, ...] = ()
    asked_on: date | None = None  # what "yesterday" is counted from; None is today


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Questions over one collection. `notes` and `sessions` are texts by path, as they are indexed.

    `is_circular`: the question stands word for word in what is indexed, so that finding it shows little.
    """

    name: str
    title: str
    meaning: str
    questions: tuple[RetrievalQuestion, ...]
    notes: Mapping[str, str] = field(default_factory=dict)
    sessions: Mapping[str, str] = field(default_factory=dict)
    is_circular: bool = False
    called: Mapping[str, str] = field(default_factory=dict)  # what a path is called in the set's own files

"""The figures of an evaluation: shares of verdicts, pairs of paragraphs, sums; each with how sure it is.

What a figure means is said once, here, and read by every report. Intervals belong to `evaluation.intervals`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from infold.evaluation.baselines import NAMES, TITLES
from infold.evaluation.intervals import Interval, PairSets, Resampling
from infold.evaluation.records import Arm, CaseResult, Verdict

_Test = Callable[[Verdict], bool]
Truth = Literal["section", "note"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A share: of the verdicts that `of` holds, those that `hit` holds."""

    name: str
    title: str
    meaning: str
    of: _Test
    hit: _Test
    is_better_high: bool = True


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its 95 % interval. `value` is None where there is nothing to take a share of."""

    name: str
    title: str
    meaning: str
    value: float | None
    interval: Interval
    count: int  # what it is a share of
    is_better_high: bool = True


@dataclass(frozen=True, slots=True)
class Lead:
    """How far `home` stands above a baseline, on the same paragraphs."""

    name: str
    title: str
    value: float | None
    interval: Interval


def _is_cut(verdict: Verdict) -> bool:
    return verdict.kind == "cut"


def _of(kind: str) -> _Test:
    return lambda verdict: verdict.kind == kind


def _ends(*endings: str) -> _Test:
    return lambda verdict: verdict.ending in endings


def _guess(name: str) -> _Test:
    return lambda verdict: verdict.guesses.get(name) == verdict.path


HOME: Final = Measure(
    "home", "home", "cut paragraphs that are back in the note they came from", _is_cut, lambda v: v.is_home
)
FOUND: Final = (
    HOME,
    Measure("section", "section", "of those at home, under their own heading", lambda v: v.is_home, _ends("home")),
    Measure(
        "place",
        "place",
        "of those at home, between the neighbours they were cut from",
        lambda v: v.is_home and v.is_placed is not None,
        lambda v: bool(v.is_placed),
    ),
    Measure("viewed", "viewed", "cut paragraphs whose note was looked at", _is_cut, lambda v: v.path in v.viewed),
    Measure("opened", "opened", "cut paragraphs whose note was opened", _is_cut, lambda v: v.path in v.checked_out),
    Measure(
        "short", "short jottings", "jottings of 6 to 24 words, back in their note", _of("short"), lambda v: v.is_back
    ),
    Measure("items", "list items", "items cut out of lists, back in their note", _of("item"), lambda v: v.is_back),
    Measure(
        "items_place",
        "their place",
        "of those, among the items they stood with",
        lambda v: v.kind == "item" and v.is_back and v.is_placed is not None,
        lambda v: bool(v.is_placed),
    ),
    Measure("lists", "whole lists", "lists with their lead-in, back in their note", _of("list"), lambda v: v.is_back),
    Measure("copies", "copies caught", "verbatim copies recognised as duplicates", _of("copy"), _ends("duplicate")),
    Measure("reworded", "reworded caught", "the same for copies in other words", _of("reworded"), _ends("duplicate")),
)
WRONG: Final = (
    Measure("elsewhere", "elsewhere", "cut paragraphs put into another note", _is_cut, _ends("elsewhere"), False),
    Measure("left", "left", "cut paragraphs that stayed in the inbox", _is_cut, _ends("left", "missing"), False),
    Measure(
        "false_duplicates",
        "false duplicates",
        "cut paragraphs taken for duplicates of what does not say the same",
        _is_cut,
        _ends("false duplicate"),
        False,
    ),
    Measure(
        "repeats",
        "repeats",
        "cut paragraphs that another note holds word for word, marked as its duplicates",
        _is_cut,
        _ends("repeat"),
        False,
    ),
)
BASELINES: Final = tuple(
    Measure(name, TITLES[name], f"{TITLES[name]}, top one, is the right note", _is_cut, _guess(name)) for name in NAMES
)
MEASURES: Final = (*FOUND, *WRONG, *BASELINES)
GROUPING: Final[tuple[tuple[Truth, str, str], ...]] = (
    ("section", "grouping by section", "F1 of pairs in one chunk against pairs out of one section"),
    ("note", "grouping by note", "the same against pairs out of one note"),
)


def figures(arm: Arm, resampling: Resampling) -> dict[str, Figure]:
    """Every share and both F1 of an arm, by name."""
    found = {}
    for measure in MEASURES:
        of, hit = tallies(arm.cases, measure)
        interval = resampling.share(hit, of)
        value = sum(hit) / sum(of) if sum(of) else None
        found[measure.name] = Figure(
            measure.name, measure.title, measure.meaning, value, interval, sum(of), measure.is_better_high
        )
    for truth, title, meaning in GROUPING:
        name = f"grouping_{truth}"
        pairs = sum((pair_counts(case, truth) for case in arm.cases), Counter[str]())
        interval = resampling.f1([pair_sets(case, truth) for case in arm.cases])
        found[name] = Figure(name, title, meaning, f1(pairs), interval, pairs["true"])
    return found


def leads(arm: Arm, resampling: Resampling) -> tuple[Lead, ...]:
    """`home` against each baseline, paragraph by paragraph."""
    of, home = tallies(arm.cases, HOME)
    found = []
    for measure in BASELINES:
        _, hit = tallies(arm.cases, measure)
        value = (sum(home) - sum(hit)) / sum(of) if sum(of) else None
        found.append(Lead(measure.name, measure.title, value, resampling.difference((home, of), (hit, of))))
    return tuple(found)


def tallies(cases: Sequence[CaseResult], measure: Measure) -> tuple[list[int], list[int]]:
    """For each verdict, in order: whether it counts, and whether it hits."""
    verdicts = [verdict for case in cases for verdict in case.verdicts]
    of = [int(measure.of(verdict)) for verdict in verdicts]
    return of, [int(counts and measure.hit(verdict)) for counts, verdict in zip(of, verdicts, strict=True)]


def lost(arm: Arm) -> int:
    """Paragraphs that are nowhere: neither in a note, nor covered by a quote, nor in the inbox."""
    return sum(verdict.is_lost for case in arm.cases for verdict in case.verdicts)


def broken(arm: Arm) -> int:
    """Places of notes where something that belongs together was parted."""
    return sum(len(case.broken) for case in arm.cases)


def damaged(arm: Arm) -> int:
    """Notes that lost something of their own."""
    return sum(len(case.damaged) for case in arm.cases)


def pair_sets(case: CaseResult, truth: Truth) -> PairSets:
    """The pairs of a case, of prose. Reworded copies are left out: their like is in the inbox by intent."""
    entries = [(n, v) for n, v in enumerate(case.verdicts) if v.kind in ("cut", "copy")]
    grouped, true = set(), set()
    for (i, one), (j, other) in combinations(entries, 2):
        if one.chunk is not None and one.chunk == other.chunk:
            grouped.add((i, j))
        if one.path == other.path and (truth == "note" or one.trail == other.trail):
            true.add((i, j))
    return PairSets(len(case.verdicts), frozenset(grouped), frozenset(true))


def pair_counts(case: CaseResult, truth: Truth) -> Counter[str]:
    """How many pairs are grouped, true, both."""
    pairs = pair_sets(case, truth)
    both = pairs.grouped & pairs.true
    return Counter({"grouped": len(pairs.grouped), "true": len(pairs.true), "both": len(both)})


def f1(pairs: Counter[str]) -> float | None:
    """The harmonic mean of precision and recall; None where no pair is grouped nor belongs together."""
    total = pairs["grouped"] + pairs["true"]
    return 2 * pairs["both"] / total if total else None

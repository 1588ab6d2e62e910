"""Two arms on the same paragraphs: the difference of each figure with its interval, and which paragraphs changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from infold.errors import UsageError
from infold.evaluation.figures import FOUND, GROUPING, WRONG, f1, pair_counts, pair_sets, tallies
from infold.evaluation.intervals import Interval, Resampling
from infold.evaluation.records import Arm, CaseResult, Verdict
from infold.librarian.spend import Usage


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of both arms. `value` is the other's less the base's; `interval` is of that difference."""

    name: str
    title: str
    base: float | None
    other: float | None
    value: float | None
    interval: Interval
    is_better_high: bool

    @property
    def is_clear(self) -> bool:
        """The interval does not hold zero: with other paragraphs of this vault it would hardly turn round."""
        low, high = self.interval
        return low is not None and high is not None and (low > 0 or high < 0)

    @property
    def is_gain(self) -> bool:
        """The other arm is better, for certain or not."""
        return self.value is not None and (self.value > 0) == self.is_better_high and self.value != 0


@dataclass(frozen=True, slots=True)
class FigureShift:
    """One paragraph that the arms do not file alike, one rightly and one not."""

    seed: int
    base: Verdict
    other: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """`other` beside `base`, on the runs that both have."""

    base: Arm
    other: Arm
    paragraphs: int
    differences: tuple[Difference, ...]
    gained: tuple[FigureShift, ...]
    lost: tuple[FigureShift, ...]

    @property
    def usage(self) -> tuple[Usage, Usage]:
        """What each took."""
        return self.base.usage, self.other.usage


def compare(base: Arm, other: Arm, resamples: int) -> Comparison:
    """Paired by run and paragraph. Raises UsageError where the arms have no run in common."""
    pairs = _common(base, other)
    if not pairs:
        raise UsageError(
            f"{base.name!r} and {other.name!r} have no case in common.",
            hint="An earlier evaluation can be compared where vault, seeds and number of paragraphs are the same.",
        )
    one = base.model_copy(update={"cases": tuple(pair[0] for pair in pairs)})
    two = other.model_copy(update={"cases": tuple(pair[1] for pair in pairs)})
    resampling = Resampling([len(case.verdicts) for case in one.cases], resamples)
    changes = [
        FigureShift(a.seed, v, w)
        for a, b in pairs
        for v, w in zip(a.verdicts, b.verdicts, strict=True)
        if v.is_right != w.is_right
    ]
    return Comparison(
        base=one,
        other=two,
        paragraphs=sum(len(case.verdicts) for case in one.cases),
        differences=(*_shares(one, two, resampling), *_groupings(one, two, resampling)),
        gained=tuple(change for change in changes if change.other.is_right),
        lost=tuple(change for change in changes if change.base.is_right),
    )


def _common(base: Arm, other: Arm) -> list[tuple[CaseResult, CaseResult]]:
    """The runs with the same paragraphs in both, whatever folder the vault was in."""
    known = {_inbox(case): case for case in other.cases}
    return [(case, known[_inbox(case)]) for case in base.cases if _inbox(case) in known]


def _inbox(case: CaseResult) -> tuple[int, tuple[tuple[str, str, str], ...]]:
    return case.seed, tuple((verdict.path, verdict.kind, verdict.text) for verdict in case.verdicts)


def _shares(one: Arm, two: Arm, resampling: Resampling) -> list[Difference]:
    found = []
    for measure in (*FOUND, *WRONG):
        of, hit = tallies(one.cases, measure)
        other_of, other_hit = tallies(two.cases, measure)
        base, other = _ratio(hit, of), _ratio(other_hit, other_of)
        interval = resampling.difference((other_hit, other_of), (hit, of))
        found.append(_difference(measure.name, measure.title, base, other, interval, measure.is_better_high))
    return found


def _groupings(one: Arm, two: Arm, resampling: Resampling) -> list[Difference]:
    found = []
    for truth, title, _ in GROUPING:
        base, other = (f1(sum((pair_counts(case, truth) for case in arm.cases), Counter[str]())) for arm in (one, two))
        sets = [[pair_sets(case, truth) for case in arm.cases] for arm in (two, one)]
        found.append(_difference(f"grouping_{truth}", title, base, other, resampling.f1_difference(*sets), True))
    return found


def _difference(
    name: str, title: str, base: float | None, other: float | None, interval: Interval, is_better_high: bool
) -> Difference:
    value = None if base is None or other is None else other - base
    return Difference(name, title, base, other, value, interval, is_better_high)


def _ratio(hit: Sequence[int], of: Sequence[int]) -> float | None:
    return sum(hit) / sum(of) if sum(of) else None

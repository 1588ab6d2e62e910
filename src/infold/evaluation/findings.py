"""An evaluation, added up: what every form of its report reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from infold.evaluation.committed import resampling_of
from infold.evaluation.comparing import Comparison, compare
from infold.evaluation.error_analysis import MissKind, grouping_trials, misses
from infold.evaluation.figures import Figure, Lead, broken, damaged, figures, leads, lost
from infold.evaluation.records import Arm, Evaluation


@dataclass(frozen=True, slots=True)
class Findings:
    """What an evaluation adds up to."""

    evaluation: Evaluation
    figures: dict[str, Figure]
    leads: tuple[Lead, ...]
    misses: tuple[MissKind, ...]
    strangers: int  # misses that shared a chunk with paragraphs of other notes alone
    grouping_trials: tuple[str, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def arm(self) -> Arm:
        """What was asked about."""
        return self.evaluation.arms[0]

    @property
    def paragraphs(self) -> int:
        """In all runs together."""
        return sum(len(case.verdicts) for case in self.arm.cases)

    @property
    def lost(self) -> int:
        """Paragraphs that are nowhere."""
        return lost(self.arm)

    @property
    def damaged(self) -> int:
        """Notes that lost something of their own."""
        return damaged(self.arm)

    @property
    def broken(self) -> int:
        """Places where something that belongs together was parted."""
        return broken(self.arm)

    @property
    def stops(self) -> dict[str, int]:
        """How often which rule ended an exploration, the most frequent first."""
        counted = sum((Counter(case.stops) for case in self.arm.cases), Counter[str]())
        return dict(counted.most_common())

    @property
    def seconds(self) -> float:
        """Of all runs together, as they took when they were carried out."""
        return sum(case.seconds for case in self.arm.cases)


def find(evaluation: Evaluation) -> Findings:
    """Adds an evaluation up. Raises UsageError where no case is finished."""
    arm = evaluation.arms[0]
    resampling = resampling_of(arm, evaluation.resamples)
    measured = [setting for other in evaluation.arms[1:] for setting in other.settings]
    kinds = misses(arm, evaluation.settings, measured)
    strangers, trials = grouping_trials(kinds, evaluation.settings, measured)
    others = [compare(arm, other, evaluation.resamples) for other in evaluation.arms[1:]]
    return Findings(
        evaluation, figures(arm, resampling), leads(arm, resampling), kinds, strangers, trials, tuple(others)
    )

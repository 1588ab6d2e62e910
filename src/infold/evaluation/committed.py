"""The figures that were accepted on purpose, in a small file for git, and whether an evaluation has fallen below them.

The file holds nothing that differs from machine to machine or from day to day: no clock, no path, no version.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.errors import UsageError
from infold.evaluation.figures import BASELINES, broken, damaged, figures, leads, lost
from infold.evaluation.intervals import Interval, Resampling
from infold.evaluation.records import Arm, Evaluation

_DIGITS: Final = 4
_COUNTS: Final = ("lost", "damaged", "structure_broken")  # of these none more is tolerated


@dataclass(frozen=True, slots=True)
class Fall:
    """A figure that is worse than accepted by more than the tolerance."""

    name: str
    accepted: float
    now: float | None

    def __str__(self) -> str:
        now = "not there" if self.now is None else f"{self.now:g}"
        return f"{self.name}: {now}, accepted {self.accepted:g}"


def metrics(evaluation: Evaluation) -> dict[str, Any]:
    """The figures of the first arm, their intervals, and what they were measured on."""
    arm = evaluation.arms[0]
    resampling = resampling_of(arm, evaluation.resamples)
    found = figures(arm, resampling)
    return {
        "measured_on": {
            "vault": evaluation.vault,
            "notes": evaluation.notes,
            "seeds": ",".join(map(str, evaluation.seeds)),
            "paragraphs": evaluation.paragraphs,
            "librarian": arm.librarian,
        },
        "figures": {name: _rounded(figure.value) for name, figure in found.items()},
        "lead_over": {lead.name: _rounded(lead.value) for lead in leads(arm, resampling)},
        "counts": {"lost": lost(arm), "damaged": damaged(arm), "structure_broken": broken(arm)},
        "intervals": {name: _as_dict(figure.interval) for name, figure in found.items()}
        | {f"lead_over_{lead.name}": _as_dict(lead.interval) for lead in leads(arm, resampling)},
    }


def resampling_of(arm: Arm, resamples: int) -> Resampling:
    """The draws for the runs of an arm. Raises UsageError where no case is finished."""
    if not arm.cases:
        raise UsageError("No case is finished, so there is nothing to report.", hint="Raise the cap and run it again.")
    return Resampling([len(case.verdicts) for case in arm.cases], resamples)


def as_file(values: dict[str, Any]) -> bytes:
    """The metrics as they are kept."""
    return (json.dumps(values, indent=2, sort_keys=True) + "\n").encode()


def falls(evaluation: Evaluation, accepted: Path, tolerance: float) -> list[Fall]:
    """The figures that fell by more than `tolerance` since they were accepted. Baselines are not judged.

    Raises UsageError where the file cannot be read or was measured on something else: that says nothing.
    """
    before, now = read_accepted(accepted), metrics(evaluation)
    if comparable(before["measured_on"]) != comparable(now["measured_on"]):
        raise UsageError(
            f"{accepted} was measured on {_in_words(before['measured_on'])}, this on {_in_words(now['measured_on'])}.",
            hint="Evaluate the same again, or accept this one with --accept.",
        )
    found = figures(evaluation.arms[0], resampling_of(evaluation.arms[0], evaluation.resamples))
    judged = {name: figure for name, figure in found.items() if name not in {measure.name for measure in BASELINES}}
    fallen = []
    for name, figure in judged.items():
        was, value = before["figures"].get(name), _rounded(figure.value)
        if was is None:
            continue
        loss = None if value is None else (was - value if figure.is_better_high else value - was)
        if loss is None or loss > tolerance + 10**-_DIGITS:
            fallen.append(Fall(name, was, value))
    counts = ((name, before["counts"].get(name, 0), now["counts"][name]) for name in _COUNTS)
    return fallen + [Fall(name, was, value) for name, was, value in counts if value > was]


def comparable(measured_on: dict[str, Any]) -> dict[str, Any]:
    """What must be the same for two evaluations to be compared: all but the name of the folder that held the notes."""
    return {name: value for name, value in measured_on.items() if name != "vault"}


def read_accepted(path: Path) -> dict[str, Any]:
    """The accepted figures in a file. Raises UsageError where it cannot be read or holds none."""
    try:
        values = json.loads(path.read_bytes())
        if {"measured_on", "figures", "counts"} <= set(values):
            return dict(values)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="Write it with --accept.") from error
    raise UsageError(f"{path} holds no accepted figures.", hint="Write it with --accept.")


def _in_words(measured_on: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(measured_on.items()))


def _as_dict(interval: Interval) -> dict[str, float | None]:
    return {"low": _rounded(interval.low), "high": _rounded(interval.high)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)

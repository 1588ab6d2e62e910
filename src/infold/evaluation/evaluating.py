"""An evaluation from start to end: every case of every arm, what is finished kept, stopped at the cap.

How one case is carried out belongs to `evaluation.trial`; what the results add up to, to `evaluation.figures`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from pydantic import ValidationError

from infold import __version__
from infold.environment import Environment
from infold.errors import CapReached, CapTooSmall
from infold.evaluation.arms import ArmPlan
from infold.evaluation.cases import Case, Sizes, load_notes, make_case
from infold.evaluation.records import Arm, CaseResult, Evaluation
from infold.evaluation.trial import case_key
from infold.librarian.decisions import DecisionStore
from infold.librarian.spend import Usage
from infold.progress import Progress, silent
from infold.settings import Params
from infold.vault.records import Note
from infold.workspace import Workspace


class Carrier(Protocol):
    """Carries one case out: plainly, or as a cached task."""

    def __call__(self, case: Case, workspace: Workspace, environment: Environment) -> Awaitable[CaseResult]:
        """The judged result; raises what `trial.carry_out` raises."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is to be carried out. `name` seeds the draws: equal names, seeds and notes give equal cases."""

    name: str
    seeds: tuple[int, ...]
    paragraphs: int
    arms: tuple[ArmPlan, ...]
    resamples: int
    earlier: tuple[Arm, ...] = ()


def finished_cases(workspace: Workspace) -> DecisionStore:
    """Where finished cases are kept, by all that their results depend on."""
    return DecisionStore(workspace.state / "kept" / "evaluations" / "cases")


def draw_cases(workspace: Workspace, plan: EvaluationPlan) -> tuple[dict[str, Note], list[Case]]:
    """The notes of the vault and a case for each seed. Raises TooFewParagraphs, VaultNotFound."""
    notes = load_notes(workspace.vault, workspace.params.vault)
    sizes = Sizes.of(plan.paragraphs)
    return notes, [make_case(plan.name, notes, seed, sizes) for seed in plan.seeds]


async def _passed(_result: CaseResult) -> None:
    """Nobody asks."""


async def evaluate(
    workspace: Workspace,
    plan: EvaluationPlan,
    environment: Environment,
    carrier: Carrier,
    progress: Progress = silent,
    on_kept: Callable[[CaseResult], Awaitable[None]] = _passed,
) -> Evaluation:
    """Carries out what is not finished yet, and gives all of it; `on_kept` is told of each case that was finished.

    Where a cap is reached the evaluation ends there: `stopped` says why, and only cases that every arm finished are in
    it, so that arms stay comparable. Raises what a run raises; finished cases are kept then too.
    """
    notes, cases = draw_cases(workspace, plan)
    kept = finished_cases(workspace)
    results: dict[str, list[CaseResult]] = {arm.name: [] for arm in plan.arms}
    stopped = None
    spent: dict[str, Usage] = {}
    done, total = 0, len(cases) * len(plan.arms)
    progress("cases", 0, total)
    try:
        for case in cases:
            for arm in plan.arms:
                place = replace(workspace, params=_with_the_rest(arm.params, spent.values()))
                result = _kept_result(kept, case_key(case, arm.params))
                if result is not None:
                    await on_kept(result)
                else:
                    result = await carrier(case, place, environment)
                    kept.put(result.key, result.model_dump(mode="json"))
                    spent[result.key] = result.usage
                results[arm.name].append(result)
                done += 1
                progress("cases", done, total)
    except (CapReached, CapTooSmall) as reached:
        if not done and isinstance(reached, CapTooSmall):
            raise  # the cap itself, and not what is left of it
        stopped = f"{done} of {total} cases are finished. {reached} {reached.hint}".strip()
    whole = min(len(found) for found in results.values())
    arms = [_arm(arm, results[arm.name][:whole]) for arm in plan.arms] + list(plan.earlier)
    return Evaluation(
        vault=plan.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        seeds=plan.seeds,
        paragraphs=plan.paragraphs,
        resamples=plan.resamples,
        notes=len(notes),
        arms=tuple(arms),
        settings=_settings(plan.arms[0].params),
        warnings=tuple(_warnings(notes, cases, plan)),
        stopped=stopped,
    )


def _arm(plan: ArmPlan, cases: Sequence[CaseResult]) -> Arm:
    librarian = cases[0].librarian if cases else plan.params.librarian.kind
    return Arm(name=plan.name, settings=plan.settings, librarian=librarian, cases=tuple(cases))


def _kept_result(kept: DecisionStore, key: str) -> CaseResult | None:
    payload = kept.get(key)
    if payload is None:
        return None
    try:
        return CaseResult.model_validate(payload)
    except ValidationError:
        return None  # written in another shape: the case is carried out again


def _with_the_rest(params: Params, spent: Iterable[Usage]) -> Params:
    """The caps less what this evaluation has spent: they hold for all its cases together."""
    used = sum(spent, Usage())
    librarian = params.librarian
    usd = None if librarian.max_usd is None else max(0.0, librarian.max_usd - (used.usd or 0.0))
    tokens = None if librarian.max_tokens is None else max(0, librarian.max_tokens - used.tokens)
    rest = librarian.model_copy(update={"max_usd": usd, "max_tokens": tokens})
    return params.model_copy(update={"librarian": rest})


def _warnings(notes: Mapping[str, Note], cases: Sequence[Case], plan: EvaluationPlan) -> list[str]:
    sizes = Sizes.of(plan.paragraphs)
    said = [sentence for case in cases if (sentence := case.shortfall(sizes))]
    if len(notes) == 1:
        said.append("The vault has one note: every paragraph that is placed at all is at home, so `home` says nothing.")
    return said


def _settings(params: Params) -> dict[str, Any]:
    return params.model_dump(mode="json", exclude={"watch", "notebook", "schedules"})

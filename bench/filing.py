"""How well text is filed in real vaults, with intervals; and what exploration is worth.

    python -m bench.filing [--seeds 0-2] [--vaults foam-docs,...] [--set SECTION.NAME=VALUE] [--report DIR]
    python -m bench.filing --exploration [--seeds 0,1]

The first table is `infold evaluate` on each vault; `NAME+collected` and `NAME+quotes` are the vault with long notes
that hold a bit of everything (`bench.collected`). The second sets the search candidates on and off, and the rounds and
files a round of exploration, on the same paragraphs. Finished cases are kept in the temporary folder, for a next time.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Final

from bench.collected import collected, quoted, write_collected
from infold.environment import Environment
from infold.evaluation.arms import plan_arms
from infold.evaluation.evaluating import EvaluationPlan, evaluate
from infold.evaluation.figures import Figure, figures
from infold.evaluation.findings import Findings, find
from infold.evaluation.intervals import Resampling
from infold.evaluation.records import Arm, Evaluation
from infold.evaluation.report import write_report
from infold.settings import load_params, seeds_of
from infold.vault_evaluation import carry_out_case
from infold.workspace import Workspace

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "vaults"
ENGLISH: Final = ("foam-docs", "forgetful-notes", "dendron-site", "quartz-docs")
OTHERS: Final = ("obsidian-help-zh", "obsidian-help-ja", "obsidian-help-de", "obsidian-help-ar")
MADE: Final = {"collected": collected, "quotes": quoted}
VAULTS: Final = tuple(f"{vault}{made}" for made in ("", "+collected", "+quotes") for vault in (*ENGLISH, *OTHERS))
KEPT: Final = Path(tempfile.gettempdir()) / "infold-bench"
_SHOWN: Final = ("home", "bm25", "dense", "section", "place", "opened", "copies", "reworded")
_FORMS: Final = ("short", "items", "items_place", "lists")
_ALSO: Final = ("false_duplicates", "repeats", "left", "grouping_section", "grouping_note")
_LIMITS: Final = ((3, 4), (1, 4), (3, 1), (3, 8))  # rounds, files viewed a round


def main() -> None:
    """Evaluates and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the vaults")
    parser.add_argument("--vaults", default=",".join(VAULTS))
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--set", action="append", default=["search.embedding=static"], metavar="SECTION.NAME=VALUE")
    parser.add_argument("--report", type=Path, help="a report of each vault goes here")
    parser.add_argument("--exploration", action="store_true", help="what exploration is worth")
    options = parser.parse_args()
    found = {}
    for vault in options.vaults.split(","):
        compared = _explorations() if options.exploration else []
        found[vault] = evaluated(vault_at(options.data, vault), seeds_of(options.seeds), options.set, compared)
        if options.report:
            write_report(options.report / vault, find(found[vault]))
    _print_exploration(found) if options.exploration else _print_figures(found)


def vault_at(data: Path, name: str) -> Path:
    """The folder of a vault; one with collections is written anew."""
    plain, _, made = name.partition("+")
    if not made:
        return data / name
    folder = KEPT / "vaults" / name
    shutil.rmtree(folder, ignore_errors=True)
    write_collected(data / plain, folder, MADE[made])
    return folder


def evaluated(vault: Path, seeds: Sequence[int], changes: Sequence[str], compared: Sequence[str]) -> Evaluation:
    """The evaluation of one vault."""
    params = load_params(None, list(changes))
    place = Workspace(vault, KEPT / vault.name, vault / params.vault.inbox_file, params)
    arms, _ = plan_arms(params, compared)
    plan = EvaluationPlan(vault.name, tuple(seeds), params.evaluate.paragraphs, tuple(arms), params.evaluate.resamples)
    return asyncio.run(evaluate(place, plan, Environment(), carry_out_case, _say(vault.name)))


def _say(vault: str) -> Callable[[str, int, int], None]:
    return lambda stage, done, total: print(f"{vault}: {done} of {total} {stage}", file=sys.stderr, flush=True)


def _explorations() -> list[str]:
    settings = [
        f"exploration.search_candidates={candidates} exploration.max_exploration_rounds={rounds} "
        f"exploration.max_files_viewed_per_round={files}"
        for candidates in (8, 0)
        for rounds, files in _LIMITS
    ]
    return settings[1:]  # the first is the default


def _print_figures(found: dict[str, Evaluation]) -> None:
    findings = {vault: find(evaluation) for vault, evaluation in found.items()}
    print(f"| vault | {' | '.join(_SHOWN)} | home − BM25 |")
    print("|---" * (len(_SHOWN) + 2) + "|")
    for vault, each in findings.items():
        cells = " | ".join(_with_interval(each.figures[name]) for name in _SHOWN)
        lead = each.leads[0]
        print(f"| {vault} | {cells} | {lead.value or 0:+.3f} ({lead.interval.low:+.2f} to {lead.interval.high:+.2f}) |")
    print(f"| mean | {' | '.join(_mean(findings.values(), name) for name in _SHOWN)} | {_mean_lead(findings)} |")
    print(f"\n| vault | {' | '.join((*_ALSO, *_FORMS))} | lost | damaged | broken | s a run |")
    print("|---" * (len(_ALSO) + len(_FORMS) + 5) + "|")
    for vault, each in findings.items():
        cells = " | ".join(f"{each.figures[name].value or 0:.3f}" for name in (*_ALSO, *_FORMS))
        counts = f"{each.lost} | {each.damaged} | {each.broken}"
        print(f"| {vault} | {cells} | {counts} | {each.seconds / len(each.arm.cases):.1f} |")


def _with_interval(figure: Figure) -> str:
    low, high = figure.interval
    return "–" if figure.value is None or low is None else f"{figure.value:.3f} ({low:.2f} to {high:.2f})"


def _mean(findings: Iterable[Findings], name: str) -> str:
    values = [each.figures[name].value for each in findings]
    return f"{mean(value for value in values if value is not None):.3f}"


def _mean_lead(findings: dict[str, Findings]) -> str:
    """The mean lead over BM25; its interval draws runs and paragraphs within each vault, and takes the mean."""
    import numpy as np

    from infold.evaluation.figures import BASELINES, HOME, tallies

    draws = []
    for each in findings.values():
        cases = each.arm.cases
        of, home = tallies(cases, HOME)
        _, hit = tallies(cases, BASELINES[0])
        resampling = Resampling([len(case.verdicts) for case in cases], each.evaluation.resamples)
        draws.append(resampling.differences((home, of), (hit, of)))
    low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
    return f"{mean(each.leads[0].value or 0 for each in findings.values()):+.3f} ({low:+.2f} to {high:+.2f})"


def _print_exploration(found: dict[str, Evaluation]) -> None:
    print(
        f"| candidates | rounds | files a round | {' | '.join(f'home {vault}' for vault in found)} "
        "| home, mean | viewed | opened | notes viewed a chunk |"
    )
    print("|---" * (len(found) + 7) + "|")
    limits = [(candidates, *limit) for candidates in (8, 0) for limit in _LIMITS]
    for number, limit in enumerate(limits):
        arms = [evaluation.arms[number] for evaluation in found.values()]
        homes = [_value(arm, "home") for arm in arms]
        rest = (mean(homes), mean(_value(arm, "viewed") for arm in arms), mean(_value(arm, "opened") for arm in arms))
        cells = " | ".join(f"{value:.3f}" for value in (*homes, *rest))
        print(f"| {' | '.join(map(str, limit))} | {cells} | {mean(map(_viewed_a_chunk, arms)):.1f} |")


def _value(arm: Arm, name: str) -> float:
    return figures(arm, Resampling([len(case.verdicts) for case in arm.cases], 100))[name].value or 0.0


def _viewed_a_chunk(arm: Arm) -> float:
    chunks = {
        (case.seed, verdict.chunk): len(verdict.viewed)
        for case in arm.cases
        for verdict in case.verdicts
        if verdict.chunk is not None
    }
    return mean(chunks.values())


if __name__ == "__main__":
    main()

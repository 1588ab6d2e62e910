"""Stage `retrieval`: how well the snapshot is searched, as metrics for `dvc metrics diff` and bars for `dvc plots`."""

from __future__ import annotations

import json

from infold.evaluation.committed import as_file
from infold.evaluation.retrieval.evaluating import evaluate_retrieval
from infold.evaluation.retrieval.figures import MAIN, TITLES, WAYS
from infold.evaluation.retrieval.report import Found, add_up, metrics
from infold.stages.repository import Repository, replace_file, run_stage


def main(repository: Repository) -> str:
    """The stage."""
    found = add_up(evaluate_retrieval(repository.snapshot, name=repository.vault.name))
    replace_file(repository.metrics / "retrieval.json", as_file(metrics(found)))
    rows = (json.dumps(plot(found), indent=1) + "\n").encode()
    replace_file(repository.metrics / "retrieval_ndcg.json", rows)
    told = ", ".join(f"{each.result.title} {each.values['hybrid'][MAIN]:.3f}" for each in found.sets)
    return f"retrieval: nDCG@10 of hybrid: {told}"


def plot(found: Found) -> list[dict[str, str | float]]:
    """One row a set and way."""
    return [
        {"what": f"{each.result.title}: {TITLES[way]}", "ndcg": round(each.values[way][MAIN], 4)}
        for each in found.sets
        for way in WAYS
    ]


if __name__ == "__main__":
    run_stage(main)

"""Stage `retrieval`: how well the snapshot is searched, as metrics for `dvc metrics diff` and bars for `dvc plots`."""

from __future__ import annotations

from infold.app import open_workspace
from infold.evaluation.metric_files import retrieval_files, write_files
from infold.evaluation.retrieval.figures import MAIN
from infold.stages.repository import Repository, run_stage
from infold.vault_evaluation import measure_retrieval


def main(repository: Repository) -> str:
    """The stage."""
    with open_workspace(repository.snapshot) as vault:
        found = measure_retrieval(vault, name=repository.vault.name)
    write_files(repository.metrics / "retrieval.json", retrieval_files(found))
    told = ", ".join(f"{each.result.title} {each.values['hybrid'][MAIN]:.3f}" for each in found.sets)
    return f"retrieval: nDCG@10 of hybrid: {told}"


if __name__ == "__main__":
    run_stage(main)

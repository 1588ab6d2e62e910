"""How well search finds, in real vaults and a judged collection: grep, BM25, embeddings, hybrid; old and new fusion.

    python -m bench.retrieval [--vaults foam-docs,...] [--model FOLDER] [--seed 0] [--fusion ranks]

Without a model the bundled embeddings are measured. A model's vectors are kept in the temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Final

from infold.app import open_workspace
from infold.evaluation.retrieval.figures import MAIN, SetFigures, set_figures
from infold.settings import load_params
from infold.vault_evaluation import measure_retrieval
from infold.workspace import Workspace

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
VAULTS: Final = ("foam-docs", "forgetful-notes", "quartz-docs", "dendron-site")
KEPT: Final = Path(tempfile.gettempdir()) / "infold-bench-retrieval"


def main() -> None:
    """Evaluates and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the vaults and the collection")
    parser.add_argument("--vaults", default=",".join(VAULTS))
    parser.add_argument("--model", help="folder of an ONNX model")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--fusion", default="strength", choices=("strength", "ranks"))
    options = parser.parse_args()
    embedding = [f"search.embedding_model={options.model}"] if options.model else []
    kind = "onnx" if options.model else "static"
    params = load_params(
        None,
        [f"search.embedding={kind}", *embedding, f"search.fusion={options.fusion}", f"evaluate.seeds={options.seed}"],
    )
    print(
        "| set | questions | grep | BM25 | embeddings | hybrid | hybrid - better half |\n|---|---|---|---|---|---|---|"
    )
    for vault in options.vaults.split(","):
        folder = options.data / "vaults" / vault
        place = Workspace(folder, KEPT, folder / params.vault.inbox_file, params)
        with open_workspace(place) as opened:
            found = measure_retrieval(opened).evaluation
        for result in found.sets:
            print_row(vault, set_figures(result, params.evaluate.resamples))
    place = Workspace(options.data, KEPT, options.data / "inbox.md", params)
    collection = ("cranfield", options.data / "retrieval" / "cranfield-1-110.json")
    with open_workspace(place) as opened:
        found = measure_retrieval(opened, [collection], own=False).evaluation
    for result in found.sets:
        print_row("", set_figures(result, params.evaluate.resamples))


def print_row(vault: str, found: SetFigures) -> None:
    """One row of the table, as soon as it is known."""
    ways = " | ".join(f"{found.values[way][MAIN]:.3f}" for way in found.values)
    low, high = found.lead_interval
    lead = f"{found.lead:+.3f} ({low or 0:+.3f} to {high or 0:+.3f})"
    print(f"| {vault} {found.result.title} | {len(found.result.asked)} | {ways} | {lead} |", flush=True)


if __name__ == "__main__":
    main()

"""A retrieval evaluation from start to end: the vault's own sets and those that are given, each asked in every way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from infold import __version__
from infold.errors import UsageError
from infold.evaluation.cases import load_notes
from infold.evaluation.retrieval.asking import ask
from infold.evaluation.retrieval.generated import generated_sets
from infold.evaluation.retrieval.provided import provided_set
from infold.evaluation.retrieval.records import RetrievalEvaluation
from infold.evaluation.retrieval.sets import RetrievalSet
from infold.progress import Progress, silent
from infold.search.embed.embedder import Embedder
from infold.workspace import Workspace

FEW: Final = 30  # questions below which a figure is hardly more than an impression
Given = tuple[str, Path]


def evaluate_retrieval(
    workspace: Workspace,
    embedder: Embedder,
    given: Sequence[Given] = (),
    progress: Progress = silent,
    *,
    own: bool = True,
    name: str | None = None,
) -> RetrievalEvaluation:
    """Asks the sets of the vault (`own`) and the `given` ones (name, path). The vault itself is only read.

    `name` is what the vault is called in the result, by default its folder's. It changes no draw.
    Raises UsageError where there is nothing to ask or a given set cannot be read, and what a sync raises.
    """
    wanted = workspace.params.evaluate
    seed = int(wanted.seeds.replace("-", ",").split(",")[0])
    notes = load_notes(workspace.vault, workspace.params.vault) if own else {}
    found = generated_sets(notes, seed, wanted.questions) if own else []
    found += [provided_set(name, path, seed, wanted.questions) for name, path in given]
    sets = [each for each in found if each.questions]
    if not sets:
        raise UsageError(
            f"Nothing can be asked of {workspace.vault.name}: its {len(notes)} notes have no link with a text of its "
            "own, no heading of two words and no longer paragraph.",
            hint="Evaluate a vault with longer notes, or name a set with --set.",
        )
    vectors = _kept_vectors(workspace, embedder)
    results = [ask(each, workspace.params, embedder, vectors, _part(progress, each)) for each in sets]
    return RetrievalEvaluation(
        vault=name or workspace.vault.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        seed=seed,
        resamples=wanted.resamples,
        embeddings=embedder.name,
        notes=len(notes),
        sets=tuple(results),
        settings=workspace.params.model_dump(mode="json", include={"search", "evaluate"}),
        warnings=tuple(_warnings(found)),
    )


def _warnings(sets: Sequence[RetrievalSet]) -> list[str]:
    few = [f"{each.title} ({len(each.questions)})" for each in sets if 0 < len(each.questions) < FEW]
    none = [each.title for each in sets if not each.questions]
    said = [f"Few questions, so wide intervals: {', '.join(few)}."] if few else []
    return said + ([f"Nothing to ask: {', '.join(none)}."] if none else [])


def _kept_vectors(workspace: Workspace, embedder: Embedder) -> Path | None:
    """Where vectors that took long are kept for a next time; the bundled model's are computed again."""
    if embedder.traits.is_bundled:
        return None
    return workspace.state / "derived" / "evaluation" / "embeddings"


def _part(progress: Progress, each: RetrievalSet) -> Callable[[int, int], None]:
    return lambda done, total: progress(each.title, done, total)

"""One case carried out: a copy of the vault in a temporary folder, the whole product on it, the verdicts.

The vault itself is only read. Answers that a model was paid for are kept with the vault's own, so that a case that was
stopped pays nothing twice; everything else of a case is gone when it ends.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import infold
from infold.environment import Environment
from infold.errors import CapReached, VaultFault
from infold.evaluation.baselines import guesses
from infold.evaluation.cases import Case
from infold.evaluation.judging import CaseOutcome, broken_structure, damaged_notes, judge
from infold.evaluation.records import CaseResult
from infold.inbox.integration import integrate
from infold.inbox.run import Run
from infold.inbox.steps import DirectSteps
from infold.librarian.decisions import content_key
from infold.search.embed.embedder import Embedder
from infold.search.embed.providers import open_embedder
from infold.search.embed.static_embedder import StaticEmbedder
from infold.settings import Params, SearchParams
from infold.text import content_hash
from infold.vault.files import read_bytes, safe_path
from infold.vault.scanning import scan
from infold.workspace import Workspace

VERSION: Final = "evaluation/1"
_NOT_OF_THE_RESULT: Final[dict[str, Any]] = {
    "vault": {"path"},
    "integrate": {"quiet_seconds", "concurrency", "approval", "approval_hours"},
    "librarian": {"max_usd", "max_tokens", "max_retries", "timeout_seconds"},
    "watch": True,
    "notebook": True,
    "evaluate": True,
    "schedules": True,
}
_DECIDES: Final = ("evaluation", "inbox", "librarian", "search", "tables", "vault", "text.py")

OpenSteps = Callable[[Workspace, Environment], AbstractAsyncContextManager[DirectSteps]]


@dataclass(frozen=True, slots=True)
class TrialWorkspace(Workspace):
    """A workspace in a temporary folder whose paid answers are kept with those of the real one."""

    kept_with: Workspace

    @property
    def decisions(self) -> Path:
        """The real one's."""
        return self.kept_with.decisions

    @property
    def embeddings(self) -> Path:
        """The real one's where they were paid for or took long; those of the case otherwise."""
        with closing(open_embedder(self.params.search)) as embedder:
            is_quick = embedder.traits.is_bundled
        if is_quick:  # and kept at half precision: a case computes its own
            return self.state / "derived" / "embeddings"
        return self.kept_with.state / "derived" / "evaluation" / "embeddings"


def case_key(case: Case, params: Params) -> str:
    """What a case's result is kept under: all that it depends on, the program's own code included."""
    values = params.model_dump(mode="json", exclude=_NOT_OF_THE_RESULT)
    made_by = (VERSION, code_fingerprint(), embeddings_of(params.search))
    return content_key("evaluation", VERSION, made_by, case.vault, case.seed, case.identity, values)


def embeddings_of(search: SearchParams) -> str:
    """The name of the embeddings in force; `auto` and `onnx` depend on what is at hand on this machine."""
    with closing(open_embedder(search)) as embedder:
        return embedder.name


@cache
def code_fingerprint() -> str:
    """A hash of the code that files text: another version of it has to be measured anew."""
    package = Path(infold.__file__).parent
    files = sorted(
        path
        for name in _DECIDES
        for path in ([package / name] if name.endswith(".py") else (package / name).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    )
    return content_hash("\n".join(f"{path.relative_to(package)}\t{content_hash(path.read_bytes())}" for path in files))


async def carry_out(case: Case, workspace: Workspace, environment: Environment, open_steps: OpenSteps) -> CaseResult:
    """The judged result of a case on a copy of the vault of `workspace`, by the steps that are opened for it.

    Raises CapReached where the cap was reached in the midst of it, so that no half case counts; EnvironmentFault and
    EndpointUnreachable as a run does. A model's answers up to then are kept.
    """
    folder = Path(tempfile.mkdtemp(prefix="infold-evaluation-"))
    try:
        trial = write_case(case, workspace, folder)
        async with open_steps(trial, environment) as steps:
            run = await integrate(trial, steps)
            _check_caps(steps)
            name = steps.librarian.name
            guessed = _guesses(case, steps.embedder)
        outcome = _outcome(case, trial, run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    editing = workspace.params.editing
    return CaseResult(
        key=case_key(case, workspace.params),
        vault=case.vault,
        seed=case.seed,
        librarian=name,
        verdicts=judge(case, outcome, editing, guessed),
        damaged=damaged_notes(case, outcome, editing),
        broken=broken_structure(case, outcome),
        stops=dict(Counter(chunk.stopped.value for chunk in run.chunks if chunk.stopped)),
        skipped=run.skipped,
        warnings=run.warnings,
        usage=run.usage,
        seconds=run.seconds,
    )


def write_case(case: Case, workspace: Workspace, folder: Path) -> TrialWorkspace:
    """The vault of a case on disk, below `folder`: its notes and nothing else of the real vault, and its inbox."""
    vault = folder / "vault"
    vault.mkdir(parents=True)
    texts = {path: text.encode() for path, text in case.notes.items()}
    for path, data in (_unread(workspace, texts) | texts).items():
        target = safe_path(vault, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    inbox = vault / workspace.params.vault.inbox_file
    inbox.parent.mkdir(parents=True, exist_ok=True)
    inbox.write_bytes(case.inbox_text.encode())
    integration = workspace.params.integrate.model_copy(update={"quiet_seconds": 0.0})
    params = workspace.params.model_copy(update={"integrate": integration})
    return TrialWorkspace(vault, folder / "state", inbox, params, replace(workspace))


def _unread(workspace: Workspace, known: Collection[str]) -> dict[str, bytes]:
    """The notes that are no text: the product shall meet them too, and name them."""
    params = workspace.params.vault
    found = {}
    for file in scan(workspace.vault, params).files:
        if file.path not in known and file.path != params.inbox_file:
            with contextlib.suppress(VaultFault):  # one that vanished meanwhile is not there for a run either
                found[file.path] = read_bytes(workspace.vault, file.path, params.max_note_bytes)
    return found


def _outcome(case: Case, trial: Workspace, run: Run) -> CaseOutcome:
    notes = {path: (trial.vault / path).read_bytes().decode() for path in case.notes}
    return CaseOutcome(run, notes, trial.inbox.read_bytes().decode())


def _guesses(case: Case, embedder: Embedder) -> list[dict[str, str | None]]:
    """The baselines' guesses, with the embeddings in force; with the bundled ones where those cost or are off."""
    is_usable = not (embedder.traits.is_paid or embedder.traits.is_empty)
    return guesses(case.notes, [item.text for item in case.inbox], embedder if is_usable else StaticEmbedder())


def _check_caps(steps: DirectSteps) -> None:
    stopped = steps.librarian.spend.refusal
    if stopped is not None:
        raise CapReached(str(stopped), hint="Raise the cap and run again: finished cases and paid answers are kept.")

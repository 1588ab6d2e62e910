"""Small vaults whose paragraphs are worth leaving out, and verdicts made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infold.evaluation.arms import plan_arms
from infold.evaluation.evaluating import EvaluationPlan
from infold.evaluation.records import Arm, CaseResult, Verdict
from infold.settings import Params, load_params
from infold.workspace import Workspace

SUBJECTS = {
    "bees": "hive comb brood swarm queen drone nectar pollen smoker frame wax foundation",
    "bread": "flour levain crumb crust hydration proof oven steam bulk fold score banneton",
    "boats": "keel mast halyard tiller jib mainsail anchor mooring tide fender bilge shackle",
    "birds": "plumage nest fledgling migration warbler thrush beak talon roost flock perch moult",
    "bikes": "spoke rim derailleur cassette chainring saddle stem headset bottom bracket tyre valve",
}


def note_text(subject: str, paragraphs: int = 4) -> str:
    """A note of prose in its own words: each paragraph has a heading and speaks of three of the subject's words."""
    words = SUBJECTS[subject].split()
    parts = [f"# {subject.capitalize()}"]
    for n in range(paragraphs):
        one, two, three = (words[(3 * n + i) % len(words)] for i in range(3))
        said = (
            f"Whoever keeps {subject} for long looks at the {one} first, then at the {two}, and last at the {three}. "
            f"A {one} that is neglected, as happens in a busy year, spoils the {two} before anybody sees it. "
            f"So the {three} is checked every week, and the {one} of the {subject} is written down with its date "
            f"and with what was done about the {two}."
        )
        parts += [f"## The {one}", said]
    return "\n\n".join(parts) + "\n"


def write_vault(folder: Path, notes: dict[str, str | bytes] | None = None) -> Path:
    """The five subjects and an index, or the notes given."""
    made: dict[str, str | bytes] = notes or {
        "index.md": "# Index\n\n" + "".join(f"- [[{name}]]\n" for name in SUBJECTS),
        **{f"{name}.md": note_text(name) for name in SUBJECTS},
    }
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture
def vault(tmp_path) -> Path:
    return write_vault(tmp_path / "vault")


@pytest.fixture
def place(tmp_path) -> Callable[..., Workspace]:
    """A workspace over a vault, offline and with the bundled embeddings."""

    def make(vault: Path, *changes: str) -> Workspace:
        params = load_params(None, ["search.embedding=static", *changes])
        return Workspace(vault, tmp_path / "state", vault / params.vault.inbox_file, params)

    return make


def plan(params: Params, *compared: str, seeds: tuple[int, ...] = (0,), paragraphs: int = 6) -> EvaluationPlan:
    """What `infold evaluate` would carry out."""
    arms, earlier = plan_arms(params, compared)
    return EvaluationPlan("vault", seeds, paragraphs, tuple(arms), 200, tuple(earlier))


def verdict(n: int, ending: str = "home", **more: Any) -> Verdict:
    """A verdict by hand: paragraph `n` of a.md."""
    values = {"kind": "cut", "path": "a.md", "trail": ("A",), "text": f"Text {n}.", "chunk": n, **more}
    return Verdict(n=n, ending=ending, **values)


def result(*verdicts: Verdict, seed: int = 0, **more: Any) -> CaseResult:
    """One run by hand."""
    return CaseResult(key=f"evaluation/{seed}", vault="v", seed=seed, librarian="by hand", verdicts=verdicts, **more)


def arm(*cases: CaseResult, name: str = "by hand") -> Arm:
    """An arm by hand."""
    return Arm(name=name, librarian="by hand", cases=cases)

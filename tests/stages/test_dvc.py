"""`dvc repro` in a fresh checkout: everything from the vault, nothing twice, nothing lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.dvc, pytest.mark.slow, pytest.mark.xdist_group("dvc")]

REPOSITORY = Path(__file__).resolve().parents[2]
CHECKED_OUT = (
    ".dvc/config",
    ".dvc/.gitignore",
    ".dvcignore",
    ".gitignore",
    "dvc.yaml",
    "params.yaml",
    "src",
    "data/vault",
)

LEAF = "data/vault/a leaf.md"  # long enough to be summarised; no index note, whose summary would follow, links to it


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of what git holds, as a repository of its own."""
    folder = tmp_path_factory.mktemp("checkout") / "infold"
    for name in CHECKED_OUT:
        source, target = REPOSITORY / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    params = folder / "params.yaml"
    params.write_text(params.read_text().replace("seeds: 0-2", "seeds: 0"))  # one case is enough here
    (folder / LEAF).write_text(
        "# A leaf\n\n" + " ".join(f"Sentence {n} says what {n} is about." for n in range(30)) + "\n"
    )
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Checkout"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return folder


def dvc(folder: Path, *arguments: str, succeeds: bool = True) -> str:
    """What `dvc` prints, run with this interpreter's environment first in PATH and without any Prefect setting."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    environment |= {"PATH": path, "DVC_NO_ANALYTICS": "1", "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(["dvc", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
    return done.stdout + done.stderr


def made(output: str) -> int:
    """How many summaries the stage says it made."""
    return int(re.search(r"summaries: (\d+) made", output).group(1))


@pytest.fixture(scope="module")
def built(checkout) -> tuple[Path, str]:
    """The checkout after its first `dvc repro`, and what that printed."""
    return checkout, dvc(checkout, "repro")


def test_a_fresh_checkout_is_built_whole(built):
    """One command makes snapshot, tables, summaries, metrics and plots; nothing but the metrics is for git."""
    folder, output = built
    notes = list((folder / "data" / "vault").rglob("*.md"))
    assert len(list((folder / "data" / "snapshot").rglob("*.md"))) == len(notes)
    metrics = json.loads((folder / "data" / "metrics" / "summaries.json").read_text())
    assert metrics["notes"] == len(notes) - 1  # the inbox is no note
    assert made(output) >= metrics["notes"]
    evaluation = json.loads((folder / "data" / "metrics" / "evaluation.json").read_text())
    assert evaluation["measured_on"]["notes"] == len(notes) - 1
    assert evaluation["counts"] == {"lost": 0, "damaged": 0}
    assert "home" in dvc(folder, "metrics", "show")
    status = subprocess.run(["git", "status", "--short"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert {line[3:] for line in status.splitlines()} <= {"dvc.lock", "data/metrics/", "data/.gitignore"}


def test_a_second_repro_does_nothing(built):
    """Nothing changed, so no stage runs."""
    folder, _ = built
    assert "Running stage" not in dvc(folder, "repro")
    assert "up to date" in dvc(folder, "status")


def test_a_parameter_is_tried_as_an_experiment(built):
    """`dvc exp run -S` over a parameter runs the evaluation anew, and `dvc metrics diff` says what it changed."""
    folder, _ = built
    before = (folder / "params.yaml").read_text(), (folder / "data" / "metrics" / "evaluation.json").read_text()
    output = dvc(folder, "exp", "run", "-n", "other-seed", "-S", "evaluate.seeds=5", "evaluate")
    assert "evaluate: 1 runs" in output
    assert "Running stage 'summaries'" not in output
    after = json.loads((folder / "data" / "metrics" / "evaluation.json").read_text())
    assert after["measured_on"]["seeds"] == "5"
    assert "figures.home" in dvc(folder, "metrics", "diff") or after["figures"] == json.loads(before[1])["figures"]
    (folder / "params.yaml").write_text(before[0])
    dvc(folder, "repro", "evaluate")
    assert (folder / "data" / "metrics" / "evaluation.json").read_text() == before[1]


def test_a_changed_note_recomputes_only_its_own_summary(built):
    """One note changed: one summary is made; the others are taken over."""
    folder, _ = built
    (folder / LEAF).write_text((folder / LEAF).read_text() + "\nOne more sentence stands here now.\n")
    output = dvc(folder, "repro", "summaries")
    assert "snapshot: 1 copied, 0 removed" in output
    assert "0 added, 1 changed, 0 removed" in output
    assert made(output) == 1


async def test_what_a_flow_brought_up_to_date_is_no_work_for_dvc(built):
    """A flow that changed derived data ends by recording it: `dvc repro` then finds nothing to do."""
    from infold.environment import Environment
    from infold.inbox.steps import open_steps
    from infold.stages.repository import open_repository
    from infold.workspace import Workspace
    from tasks.versioning import dvc_repository, record

    folder, _ = built
    params = open_repository(folder).snapshot.params
    vault = folder / "data" / "vault"
    place = Workspace(vault, folder / "data" / "state", vault / "inbox.md", params)
    (folder / LEAF).write_text((folder / LEAF).read_text() + "\nAnd yet another one.\n")
    async with open_steps(place, Environment()) as steps:
        steps.sync_tables()
        summaries = await steps.sync_summaries()
    assert summaries.made == 1
    await record(dvc_repository(place), summaries)
    assert "Running stage" not in dvc(folder, "repro", "summaries")
    elsewhere = Workspace(vault, folder / "other" / "state", vault / "inbox.md", params)
    assert dvc_repository(elsewhere) is None


def test_a_missing_vault_deletes_nothing(built):
    """The vault is on a drive that is not there: the command fails, the last snapshot and tables stay."""
    folder, _ = built
    vault, away = folder / "data" / "vault", folder / "data" / "elsewhere"
    before = sorted(path.name for path in (folder / "data" / "snapshot").rglob("*.md"))
    vault.rename(away)
    try:
        dvc(folder, "repro", "summaries", succeeds=False)
    finally:
        away.rename(vault)
    assert sorted(path.name for path in (folder / "data" / "snapshot").rglob("*.md")) == before


def test_a_suddenly_empty_vault_deletes_nothing(built):
    """The vault folder is there but holds no note: the stage refuses, with what to do if it is meant."""
    folder, _ = built
    vault, away = folder / "data" / "vault", folder / "data" / "elsewhere"
    before = sorted(path.name for path in (folder / "data" / "snapshot").rglob("*.md"))
    vault.rename(away)
    vault.mkdir()
    try:
        assert "holds no note" in dvc(folder, "repro", "summaries", succeeds=False)
    finally:
        vault.rmdir()
        away.rename(vault)
    assert sorted(path.name for path in (folder / "data" / "snapshot").rglob("*.md")) == before
    assert "Running stage 'summaries'" not in dvc(folder, "repro", "summaries")

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
    "dvc.lock",
    "params.yaml",
    "src",
    "data/.gitignore",
    "data/metrics",
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
    for path in folder.rglob("*.md"):
        os.utime(path)  # a clone has times of its own
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
    """The checkout after its first `dvc repro`, figures measured anew too, and what that printed."""
    return checkout, dvc(checkout, "repro", "--force")


def changed(folder: Path) -> str:
    """What `git status` finds."""
    command = ["git", "status", "--short", "--untracked-files=all"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_fresh_clone_is_rebuilt_to_what_git_holds(built):
    """All is made from the vault, and dvc.lock, metrics and plots come out as they stand in git: no file changes.

    When it fails and the change is meant: `make evaluate-accept`, and commit dvc.lock and data/metrics with it.
    """
    folder, output = built
    notes = list((folder / "data" / "vault").rglob("*.md"))
    assert len(list((folder / "data" / "snapshot").rglob("*.md"))) == len(notes)
    metrics = json.loads((folder / "data" / "metrics" / "summaries.json").read_text())
    assert metrics["notes"] == len(notes) - 1  # the inbox is no note
    assert made(output) >= metrics["notes"]
    evaluation = json.loads((folder / "data" / "metrics" / "evaluation.json").read_text())
    assert evaluation["measured_on"]["notes"] == len(notes) - 1
    assert set(evaluation["counts"].values()) == {0}
    assert changed(folder) == ""


def test_a_second_repro_does_nothing(built):
    """Nothing changed, so no stage runs, and no file changes."""
    folder, _ = built
    assert "Running stage" not in dvc(folder, "repro")
    assert "up to date" in dvc(folder, "status")
    assert changed(folder) == ""


def test_the_same_snapshot_gives_the_same_bytes(built, tmp_path):
    """Made anew elsewhere, at another time, in another order: every file of tables and summaries is the same."""
    folder, _ = built
    derived = folder / "data" / "state" / "derived"
    before = {path.name: path.read_bytes() for name in ("tables", "summaries") for path in (derived / name).iterdir()}
    assert len(before) >= 4
    again = tmp_path / "again"
    shutil.copytree(folder, again, ignore=shutil.ignore_patterns("state", ".dvc", ".git", "snapshot"))
    for path in sorted(again.rglob("*.md")):
        os.utime(path, (1, 1))
    for stage in ("snapshot", "tables", "summaries"):
        subprocess.run([sys.executable, "-m", f"infold.stages.{stage}"], cwd=again, check=True, capture_output=True)
    derived = again / "data" / "state" / "derived"
    after = {path.name: path.read_bytes() for name in ("tables", "summaries") for path in (derived / name).iterdir()}
    assert after == before


def test_metrics_fit_a_screen(built):
    """`dvc metrics show` is one table of at most a hundred columns; all figures are in the files beside."""
    folder, _ = built
    shown = dvc(folder, "metrics", "show")
    assert "home" in shown
    assert "ndcg" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_the_project_of_a_vault_has_the_same_stages(built):
    """What `infold init --dvc` writes is what this repository runs on its own demo vault."""
    template = REPOSITORY / "src" / "infold" / "stages" / "project.yaml"
    assert (REPOSITORY / "dvc.yaml").read_text() == template.read_text()
    assert len(template.read_text().splitlines()) <= 60


def test_a_parameter_is_tried_as_an_experiment(built):
    """`dvc exp run -S` over a parameter runs the evaluation anew, and `dvc metrics diff` says what it changed."""
    folder, _ = built
    before = (folder / "params.yaml").read_text(), (folder / "data" / "metrics" / "evaluation.json").read_text()
    output = dvc(folder, "exp", "run", "-n", "other-seed", "-S", "evaluate.seeds=5", "evaluate")
    assert "evaluate: 1 runs" in output
    assert "Running stage 'summaries'" not in output
    after = json.loads((folder / "data" / "metrics" / "evaluation.json").read_text())
    assert after["measured_on"]["seeds"] == "5"
    assert "home" in dvc(folder, "metrics", "diff") or after["figures"] == json.loads(before[1])["figures"]
    (folder / "params.yaml").write_text(before[0])
    dvc(folder, "repro", "evaluate")
    assert (folder / "data" / "metrics" / "evaluation.json").read_text() == before[1]


@pytest.fixture
def grown(built) -> Path:
    """The repository with the leaf in its vault, and every table and summary made of it."""
    folder, _ = built
    (folder / LEAF).write_text(
        "# A leaf\n\n" + " ".join(f"Sentence {n} says what {n} is about." for n in range(30)) + "\n"
    )
    dvc(folder, "repro", "summaries")
    return folder


def test_a_changed_note_recomputes_only_its_own_summary(grown):
    """One note changed: one summary is made; the others are taken over."""
    folder = grown
    (folder / LEAF).write_text((folder / LEAF).read_text() + "\nOne more sentence stands here now.\n")
    output = dvc(folder, "repro", "summaries")
    assert "snapshot: 1 copied, 0 removed" in output
    assert "0 added, 1 changed, 0 removed" in output
    assert made(output) == 1


async def test_what_a_run_changed_is_no_work_for_dvc(grown):
    """A run that changed notes ends by recording it: `dvc repro` then finds nothing to do."""
    from infold.stages.record import record, repository_of
    from infold.stages.repository import open_repository
    from infold.workspace import Workspace

    folder = grown
    params = open_repository(folder).snapshot.params
    vault = folder / "data" / "vault"
    place = Workspace(vault, folder / "data" / "state", vault / "inbox.md", params)
    (folder / LEAF).write_text((folder / LEAF).read_text() + "\nAnd yet another one.\n")
    await record(repository_of(place), place)
    assert "Running stage" not in dvc(folder, "repro", "summaries")
    elsewhere = Workspace(vault, folder / "other" / "state", vault / "inbox.md", params)
    assert repository_of(elsewhere) is None


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

"""A person's own vault under DVC: the project beside it, its remote, its history, and the evaluation of a CI host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from infold.errors import UsageError
from infold.settings import Params
from infold.stages.project import CI_FILES, make_project
from tests.evaluation.conftest import write_vault

pytestmark = [pytest.mark.dvc, pytest.mark.slow, pytest.mark.xdist_group("dvc")]

MARCH, APRIL = "2026-03-20T12:00:00", "2026-04-20T12:00:00"


class Machine:
    """A computer of the person's: its folder, its state home, and commands run on it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.day = folder, MARCH

    def run(self, *command: object, cwd: Path | None = None, code: int = 0) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
        environment |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "INFOLD_STATE_HOME": str(self.folder / "infold"),
            "GIT_AUTHOR_DATE": self.day,
            "GIT_COMMITTER_DATE": self.day,
            "DVC_NO_ANALYTICS": "1",
        }
        arguments = [str(part) for part in command]
        where = cwd or self.folder
        done = subprocess.run(arguments, cwd=where, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Machine:
    """A machine with a vault and its project, which has a remote; built and pushed in March."""
    machine = Machine(tmp_path_factory.mktemp("home") / "me")
    vault = write_vault(machine.folder / "notes")
    (vault / "inbox.md").write_text("")
    project = machine.folder / "notes-infold"
    machine.run("infold", "init", "--vault", vault, "--dvc", project, "--ci", "github")
    params = project / "params.yaml"
    small = params.read_text().replace("seeds: 0-2", "seeds: '0'").replace("paragraphs: 24", "paragraphs: 4")
    params.write_text(
        small.replace("resamples: 2000", "resamples: 100").replace("quiet_seconds: 2.0", "quiet_seconds: 0")
    )
    machine.run("dvc", "remote", "add", "--default", "store", machine.folder / "store", cwd=project)
    machine.run("dvc", "repro", cwd=project)
    machine.run("git", "add", "--all", cwd=project)
    machine.run("git", "-c", "user.name=me", "-c", "user.email=me@home", "commit", "-qm", "Accepted", cwd=project)
    machine.run("dvc", "push", cwd=project)
    return machine


def test_the_project_lies_beside_the_vault_and_never_in_it(home, tmp_path):
    """Nothing of git or DVC is in the vault; a project in it, or around it, is refused by name."""
    vault = home.folder / "notes"
    assert [path.name for path in vault.iterdir() if path.name.startswith(".")] == []
    for folder in (vault / "project", home.folder):
        with pytest.raises(UsageError, match="beside"):
            make_project(folder, vault, Params())
    assert yaml.safe_load((home.folder / "notes-infold" / "params.yaml").read_text())["vault"]["path"] == "../notes"


def test_stages_work_outside_the_checkout_and_twice_is_once(home):
    """`dvc repro` has made everything from the vault beside it, and has nothing to do a second time."""
    project = home.folder / "notes-infold"
    assert "Running stage" not in home.run("dvc", "repro", cwd=project)
    assert json.loads((project / "data" / "metrics" / "evaluation.json").read_text())["measured_on"]["notes"] == 6
    assert home.run("git", "status", "--short", cwd=project) == ""


def test_an_integration_records_what_it_changed_and_march_can_be_had_again(home, tmp_path):
    """A run in April leaves nothing for DVC to do and a commit in git; March's notes and summaries come by their day."""
    vault, project = home.folder / "notes", home.folder / "notes-infold"
    before = {path.name: path.read_bytes() for path in vault.glob("*.md")}
    home.day = APRIL
    (vault / "inbox.md").write_text(
        "Drone comb in the hive is cut out in May, when the queen has filled the brood frames.\n"
    )
    home.run("infold", "integrate", "--vault", vault)
    assert (vault / "bees.md").read_bytes() != before["bees.md"]
    assert "Running stage" not in home.run("dvc", "repro", "summaries", cwd=project)
    assert "2026-04-20" in home.run("git", "log", "-1", "--format=%cs", cwd=project)

    def as_of(day: str, *path: str) -> Path:
        revision = home.run("git", "rev-list", "-1", f"--before={day}", "HEAD", cwd=project).strip()
        home.run("dvc", "get", project, "/".join(path), "--rev", revision, "--out", tmp_path / path[-1])
        return tmp_path / path[-1]

    march = as_of("2026-04-01", "data", "snapshot")
    assert {path.name: path.read_bytes() for path in march.glob("*.md")} == before
    import pyarrow.dataset

    assert pyarrow.dataset.dataset(as_of("2026-04-01", "data", "state", "derived", "summaries")).count_rows() >= 6
    home.day = MARCH


@pytest.fixture(scope="module")
def runner(home, tmp_path_factory) -> Machine:
    """Another machine, without the vault, that has cloned the project as it was accepted."""
    machine = Machine(tmp_path_factory.mktemp("runner") / "ci")
    first = home.run("git", "log", "--grep=Accepted", "--format=%H", cwd=home.folder / "notes-infold").strip()
    machine.run("git", "clone", "-q", home.folder / "notes-infold", machine.folder / "project")
    machine.run("git", "checkout", "-q", first, cwd=machine.folder / "project")
    return machine


def test_another_machine_pulls_what_was_made(home, runner):
    """A clone and `dvc pull`: notes, tables and summaries are there, the same bytes, without the vault."""
    project = runner.folder / "project"
    runner.run("dvc", "pull", "tables", "summaries", cwd=project)
    for name in ("tables", "summaries"):
        made = home.folder / "notes-infold" / "data" / "state" / "derived" / name
        pulled = {path.name for path in (project / "data" / "state" / "derived" / name).iterdir()}
        assert pulled
        assert name == "summaries" or pulled == {path.name for path in made.iterdir()}


@pytest.mark.parametrize("host", sorted(CI_FILES))
def test_the_steps_of_a_ci_host_check_the_vault_and_give_a_report(runner, host, tmp_path):
    """Each command of the workflow, in its order, in a clone: the check holds, the report is there to be posted."""
    from importlib.resources import files

    workflow = yaml.safe_load((files("infold.stages") / "ci" / f"{host}.yml").read_text())
    if host == "github":
        steps = [step["run"] for step in workflow["jobs"]["evaluate"]["steps"] if "run" in step]
        assert (runner.folder / "project" / CI_FILES[host]).read_text() == (
            files("infold.stages") / "ci" / "github.yml"
        ).read_text()
    else:
        steps = [*workflow["evaluate"]["script"], *workflow["evaluate"]["after_script"]]
    project = runner.folder / "project"
    (tmp_path / "bin").mkdir()
    posted = tmp_path / "posted"
    for tool in ("gh", "curl"):  # what posts it, which needs the host
        (tmp_path / "bin" / tool).write_text(f'#!/bin/sh\necho "$@" >> {posted}\n')
        (tmp_path / "bin" / tool).chmod(0o755)
    summary = tmp_path / "summary.md"
    names = {
        "GITHUB_STEP_SUMMARY": summary,
        "PULL_REQUEST": "https://host.example/me/notes/pull/1",
        "CI_MERGE_REQUEST_IID": "1",
        "REPORT_TOKEN": "t",
    }
    set_up = "".join(f"export {name}={value}; " for name, value in names.items())
    for step in steps:
        if not step.startswith("pip install"):
            runner.run("bash", "-ec", f'export PATH="{tmp_path / "bin"}:$PATH"; {set_up}{step}', cwd=project)
    assert "How well" in (project / ".infold-ci" / "report" / "report.md").read_text()
    assert host != "github" or "How well" in summary.read_text()
    assert ".infold-ci/report/report.md" in posted.read_text()
    accepted = project / "data" / "metrics" / "evaluation.json"
    before = accepted.read_text()
    figures = json.loads(before)
    accepted.write_text(json.dumps({**figures, "figures": {**figures["figures"], "home": 9.0}}))
    evaluate = next(step for step in steps if "--check" in step)
    assert "Fallen: home" in runner.run("bash", "-ec", evaluate, cwd=project, code=1)
    accepted.write_text(before)

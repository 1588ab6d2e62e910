"""A scheduler that fails is noticed and said: read from what the serving process writes down."""

from __future__ import annotations

import os

import pytest

from flows.deployments import DEPLOYMENTS
from flows.schedule_check import is_served, problems
from flows.server_folder import ServerFolder, write_own_json
from infold.cli.checkup_flows import flow_findings
from infold.locate import LocatedWorkspace
from infold.settings import Params, SchedulesParams
from infold.workspace import Workspace
from scripts.prefect_yaml import FILE, prefect_yaml

NOW = 1_000_000.0


@pytest.fixture
def folder(tmp_path) -> ServerFolder:
    folder = ServerFolder(tmp_path / "state" / "prefect")
    folder.make()
    return folder


def write(folder: ServerFolder, *, since: float, at: float = NOW, **flow: object) -> None:
    flows = [{"flow": "integrate", "cron": "* * * * *", "next_run": None, "waiting_since": None, **flow}]
    write_own_json(folder.serving_file, {"pid": os.getpid(), "since": since, "at": at, "flows": flows})


def test_a_schedule_without_a_planned_run_is_said(folder):
    """A minute and a half after the start each schedule has a next run, or the scheduler does not work."""
    write(folder, since=NOW - 100)
    (said,) = problems(folder, NOW)
    assert "No run of integrate is planned" in said
    assert str(folder.log) in said
    write(folder, since=NOW - 30)
    assert list(problems(folder, NOW)) == []
    write(folder, since=NOW - 100, next_run=NOW + 60)
    assert list(problems(folder, NOW)) == []
    write(folder, since=NOW - 100, cron=None)
    assert list(problems(folder, NOW)) == []


def test_a_run_that_does_not_start_and_a_silent_process_are_said(folder):
    """Planned is not enough: what was due three minutes ago has started, and the serving process is heard of."""
    write(folder, since=NOW - 900, next_run=NOW + 60, waiting_since=NOW - 200)
    (said,) = problems(folder, NOW)
    assert "was due and has not started" in said
    write(folder, since=NOW - 900, at=NOW - 300, next_run=NOW + 60)
    (said,) = problems(folder, NOW)
    assert "Nothing was heard" in said


def test_doctor_says_what_is_served_and_what_does_not_come(folder, tmp_path):
    """Not served is no problem; served with a scheduler that fails is one."""
    place = LocatedWorkspace(
        Workspace(tmp_path / "vault", tmp_path / "state", tmp_path / "inbox.md", Params()), "here", None, tmp_path
    )
    (finding,) = flow_findings(place)
    assert (finding.level, "infold flows up" in finding.text) == ("ok", True)
    write_own_json(folder.record_file, {"api_url": "http://127.0.0.1:1/api", "pid": os.getpid(), "vault": "v"})
    assert is_served(folder)
    write(folder, since=NOW - 10_000, at=NOW - 9_000)
    (finding,) = flow_findings(place)
    assert finding.level == "problem"


def test_each_served_flow_has_a_schedule_setting_and_is_in_prefect_yaml():
    """One table: a setting each, no setting without its flow, and prefect.yaml is made from it."""
    assert [each.setting for each in DEPLOYMENTS] == list(SchedulesParams.model_fields)
    assert FILE.read_text() == prefect_yaml(), "python -m scripts.prefect_yaml"

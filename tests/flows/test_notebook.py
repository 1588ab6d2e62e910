"""The notebook's flows: sessions by the hour, the summary at the end of the day, in local time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from infold.notebook.daily import daily_log
from infold.notebook.daily_summary import TITLE
from infold.settings import Params
from infold.workspace import Workspace

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

DAY = "The release moves to March because the pump was late. " * 12


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    """A vault with one note."""
    monkeypatch.delenv("INFOLD_SESSIONS", raising=False)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "index.md").write_text("# Index\n\nOne note.\n")
    params = Params.model_validate({"search": {"embedding": "none"}})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


def test_schedules_are_in_local_time(monkeypatch):
    """Five fields, in the zone of the machine; no fields, no schedule."""
    from flows.serving import scheduled

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    (schedule,) = scheduled("59 23 * * *")
    assert (schedule.cron, schedule.timezone) == ("59 23 * * *", "Asia/Tokyo")
    assert scheduled(None) == scheduled("") == []


async def test_sessions_are_indexed_by_their_flow(prefect_api, workspace):
    """The hourly flow brings transcripts and notes into the index, and counts the passages."""
    from flows.sessions import sessions
    from infold.app import open_workspace
    from infold.search.index.contract import Filter

    folder = workspace.vault / "sessions"
    folder.mkdir()
    (folder / "talk.jsonl").write_text(json.dumps({"role": "user", "content": "Where is the spare gasket?"}) + "\n")
    assert await sessions(workspace.vault, workspace.state, workspace.params) == 2
    assert await sessions(workspace.vault, workspace.state, workspace.params) == 0
    with open_workspace(workspace) as vault:
        (hit,) = vault.search("gasket", Filter(groups=("sessions",)), None, 0.0).results
    assert hit.path == "sessions/talk.jsonl"


async def test_the_summary_is_of_the_day_it_was_due(prefect_api, workspace):
    """A run that was due before midnight and starts after it belongs to the day before; twice is once."""
    from prefect.client.orchestration import get_client
    from prefect.flow_engine import run_flow_async
    from prefect.states import Scheduled

    from flows.daily_summary import daily_summary

    yesterday = datetime.now(UTC).astimezone() - timedelta(days=1)
    place = {"vault": workspace.vault, "state": workspace.state}
    log = workspace.vault / daily_log(workspace, f"Long day\n{DAY}", yesterday).path
    for _ in range(2):
        async with get_client() as client:
            run = await client.create_flow_run(
                daily_summary,
                parameters=place,
                state=Scheduled(scheduled_time=yesterday.astimezone(UTC)),
            )
        message = await run_flow_async(daily_summary, flow_run=run, parameters=place)
    assert "already" in message  # type: ignore[operator]
    assert log.read_text().count(f" — {TITLE}\n") == 1
    assert [file.name for file in log.parent.iterdir()] == [log.name]

"""`infold flows up`: server, UI and flows with one command, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from flows.deployments import DEPLOYMENTS, FLOW_NAMES
from flows.runner import is_healthy
from flows.schedule_check import problems, scheduled_flows
from flows.serve import serve_flows
from flows.server_folder import ServerFolder
from infold.errors import EnvironmentFault
from infold.settings import Params
from infold.workspace import Workspace
from tests.evaluation.conftest import write_vault
from tests.fakes.ports import free_port

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
from pathlib import Path
from flows.serve import serve_flows
from infold.settings import Params
from infold.workspace import Workspace
folder = Path(sys.argv[1])
place = Workspace(
    folder / "vault", folder / "state", folder / "vault" / "inbox.md", Params.model_validate_json(sys.argv[3])
)
serve_flows(
    place,
    port=int(sys.argv[2]),
    ready=lambda served: print(served.page, flush=True),
    warn=lambda sentence: print("WARNING", sentence, flush=True),
)
print("ended", flush=True)
"""
LEAN = {"search": {"embedding": "none"}, "evaluate": {"seeds": "0", "paragraphs": 4, "resamples": 100}}
EVERY_MINUTE = dict.fromkeys([each.setting for each in DEPLOYMENTS], "* * * * *")


@pytest.fixture
def up(tmp_path):
    """Starts `serve_flows` in a process of its own, with a vault of two notes, and gives it and its port."""
    started = []
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "index.md").write_text("# Index\n\nNotes on [[bread]].\n")
    (vault / "bread.md").write_text("# Bread\n\nRye is done at ninety-eight degrees.\n")

    def start(**schedules: str | None) -> tuple[subprocess.Popen[str], int]:
        port = free_port()
        environment = {**os.environ}
        for name in ("PREFECT_API_URL", "PREFECT_HOME", "PREFECT_API_AUTH_STRING"):
            environment.pop(name, None)
        params = {**LEAN, "schedules": {**dict.fromkeys(EVERY_MINUTE), **schedules}}
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path), str(port), json.dumps(params)],
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline().strip() == f"http://127.0.0.1:{port}"
        return process, port

    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(happened, seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.2)
    return bool(happened())


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as page:
        return page.read()


@contextlib.asynccontextmanager
async def client_of(folder: Path, port: int):
    """A signed-in client of the server of that state folder."""
    from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

    auth = ServerFolder(folder / "state" / "prefect").auth_string()
    with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api", PREFECT_API_AUTH_STRING: auth}):
        from prefect.client.orchestration import get_client

        async with get_client() as client:
            yield client


async def ended_run(client, name: str, **parameters: str):
    """Starts a run of a served flow, as the UI's button does, and waits for its end."""
    deployment = await client.read_deployment_by_name(name)
    run = await client.create_flow_run_from_deployment(deployment.id, parameters=parameters)
    async with asyncio.timeout(240):
        while not (run := await client.read_flow_run(run.id)).state.is_final():  # noqa: ASYNC110 - the server is asked
            await asyncio.sleep(0.5)
    return run


def of_type(*names: str):
    """Flow runs in states of these types."""
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterState, FlowRunFilterStateType
    from prefect.client.schemas.objects import StateType

    types = [StateType(name) for name in names]
    return FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=types)))


@pytest.mark.timeout(900)
async def test_every_schedule_starts_its_flow(up, tmp_path):
    """Each served flow with a schedule of every minute has a run that the schedule started, due in one of the first minutes, completed."""
    write_vault(tmp_path / "vault")
    (tmp_path / "vault" / "inbox.md").write_text("Rye bread keeps for a week.\n")
    process, port = up(**EVERY_MINUTE)
    began = time.time()
    async with client_of(tmp_path, port) as client:
        flows: dict[str, str] = {}
        due: dict[str, float] = {}
        while sorted(flows) != sorted(FLOW_NAMES) and time.time() - began < 600:
            await asyncio.sleep(2)
            ended = await client.read_flow_runs(flow_run_filter=of_type("COMPLETED", "FAILED", "CRASHED"))
            for run in ended:
                if run.auto_scheduled:
                    flow = (await client.read_flow(run.flow_id)).name
                    flows.setdefault(flow, run.state.name)
                    due[flow] = min(due.get(flow, 600.0), run.expected_start_time.timestamp() - began)
        assert flows == dict.fromkeys(FLOW_NAMES, "Completed"), [run.state.message for run in ended]
        deployments = await client.read_deployments()
        assert max(due.values()) <= 240
    assert {each.name for each in deployments} == {"vault"}
    assert all(each.global_concurrency_limit.limit == 1 for each in deployments)
    assert all({"infold", "vault"} <= set(each.tags) for each in deployments)
    folder = ServerFolder(tmp_path / "state" / "prefect")
    assert not [said for said in problems(folder) if "planned" in said]  # late they may be on a slow machine
    assert all(each.next_run for each in scheduled_flows(folder.serving()))
    assert process.poll() is None


async def test_one_command_serves_page_and_flows_and_ends_them_all(up, tmp_path):
    """The page is there, a started run completes, another vault is refused; after SIGTERM nothing is left."""
    process, port = up()
    assert b"Prefect" in await asyncio.to_thread(fetched, f"http://127.0.0.1:{port}/")
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) >= 2
    record = tmp_path / "state" / "prefect" / "server.json"
    assert record.is_file()

    async with client_of(tmp_path, port) as client:
        run = await ended_run(client, "preprocess/vault")
        assert run.state.name == "Completed"
        assert run.name == "preprocessing of vault"
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "private.md").write_text("# Private\n\nNot served.\n")
        refused = await ended_run(client, "preprocess/vault", vault=str(tmp_path / "other"))
        assert refused.state.is_failed()
        assert "is not served" in refused.state.message
    assert (tmp_path / "state" / "derived" / "index").is_dir()

    started += psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert "ended" in process.stdout.read()
    assert living(started) == []
    assert not record.exists()
    assert not is_healthy(f"http://127.0.0.1:{port}/api")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with a killed parent")
def test_a_killed_server_command_leaves_no_server(up):
    """Even SIGKILL of `infold flows up` takes the server with it: nothing holds port, memory and pipes."""
    process, port = up()
    assert is_healthy(f"http://127.0.0.1:{port}/api", 60)
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    assert wait_for(lambda: not living(started))


def test_a_taken_port_is_said_at_once(tmp_path):
    """A port in use is named, with how to choose another, before anything is started."""
    import socket

    place = Workspace(tmp_path, tmp_path / "state", tmp_path / "inbox.md", Params())
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(EnvironmentFault, match="taken") as refused:
            serve_flows(place, port=other.getsockname()[1], ready=lambda served: None)
    assert "--port" in refused.value.hint


async def test_runs_of_dead_processes_are_marked_crashed(prefect_api):
    """A run whose process was killed does not count as running for ever."""
    from prefect.client.orchestration import get_client
    from prefect.states import Running

    from flows.integrate import integrate
    from flows.serving import mark_crashed_runs

    async with get_client() as client:
        run = await client.create_flow_run(integrate, parameters={"vault": "v", "state": "s"}, state=Running())
        assert await mark_crashed_runs() >= 1
        assert (await client.read_flow_run(run.id)).state.is_crashed()

"""`infold flows up`: server, UI and flows with one command, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from flows.runner import is_healthy
from flows.serve import serve_flows
from infold.errors import EnvironmentFault
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.prefect_server import free_port

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from pathlib import Path
from flows.serve import serve_flows
from infold.settings import Params
from infold.workspace import Workspace
folder = Path(sys.argv[1])
params = Params.model_validate({"search": {"embedding": "none"}})
place = Workspace(folder / "vault", folder / "state", folder / "vault" / "inbox.md", params)
serve_flows(place, port=int(sys.argv[2]), ready=lambda served: print(served.page, flush=True))
print("ended", flush=True)
"""


@pytest.fixture
def up(tmp_path):
    """Starts `serve_flows` in a process of its own, with a vault of one note, and gives it and its port."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "index.md").write_text("# Index\n\nOne note.\n")
    port = free_port()
    environment = {**os.environ, "PREFECT_HOME": str(tmp_path / "home")}
    environment.pop("PREFECT_API_URL", None)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(port)],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process, port
    process.kill()
    process.wait()


def wait_for(happened, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.2)
    return bool(happened())


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def test_one_command_serves_page_and_flows_and_ends_them_all(up, tmp_path, monkeypatch):
    """The page is there, a started run completes, and after SIGTERM no process and no record is left."""
    process, port = up
    assert process.stdout.readline().strip() == f"http://127.0.0.1:{port}"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
        assert b"Prefect" in page.read()
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) >= 2
    assert (tmp_path / "home" / "infold-server.json").is_file()

    state = asyncio.run(run_deployment("preprocess/vault", port))
    assert state == "Completed"
    assert (tmp_path / "state" / "derived" / "tables").is_dir()

    started += psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=40) == 0
    assert "ended" in process.stdout.read()
    assert living(started) == []
    assert not (tmp_path / "home" / "infold-server.json").exists()
    assert not is_healthy(f"http://127.0.0.1:{port}/api")


async def run_deployment(name: str, port: int) -> str:
    """Starts a run of a served flow, as the UI's button does, and waits for its end."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api"}):
        from prefect.client.orchestration import get_client

        async with get_client() as client:
            deployment = await client.read_deployment_by_name(name)
            run = await client.create_flow_run_from_deployment(deployment.id)
            for _ in range(240):
                run = await client.read_flow_run(run.id)
                if run.state.is_final():
                    break
                await asyncio.sleep(0.5)
            return run.state.name


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with a killed parent")
def test_a_killed_server_command_leaves_no_server(up):
    """Even SIGKILL of `infold flows up` takes the server with it: nothing holds port, memory and pipes."""
    process, port = up
    assert wait_for(lambda: is_healthy(f"http://127.0.0.1:{port}/api"), 120)
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    assert wait_for(lambda: not living(started), 30)


def test_a_taken_port_is_said_at_once(tmp_path, monkeypatch):
    """A port in use is named, with how to choose another, before anything is started."""
    import socket

    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
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

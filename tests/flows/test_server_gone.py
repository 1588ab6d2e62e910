"""A server that goes away in the middle of a run costs a sentence."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from flows.processes import children
from flows.runner import choose_runner, is_healthy, run_integrate
from flows.serve import record_server, start_server
from flows.server_folder import ServerFolder
from infold.errors import KeyMissing
from infold.inbox.run import RunStatus
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.openai_server import serving
from tests.fakes.ports import free_port

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

TOPICS = ("bread", "tyres", "garden", "compost")


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    """A note and a paragraph of the inbox for each topic, decided on by a model."""
    for name in ("PREFECT_API_URL", "PREFECT_HOME", "PREFECT_API_AUTH_STRING", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "index.md").write_text("# Index\n\n" + "".join(f"- [[{topic}]]\n" for topic in TOPICS))
    for topic in TOPICS:
        (vault / f"{topic}.md").write_text(f"# {topic.title()}\n\nThe first thing known about {topic}.\n")
    (vault / "inbox.md").write_text("\n\n".join(f"Something new about {topic} was heard." for topic in TOPICS) + "\n")
    lean = {"search": {"embedding": "none"}, "integrate": {"quiet_seconds": 0, "concurrency": 1}}
    params = Params.model_validate({"librarian": {"kind": "model"}, **lean})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


def test_a_run_goes_on_directly_with_what_is_decided(workspace, monkeypatch):
    """Killed half way, the server is missed after a few looks: one sentence, no answer paid for twice, the run whole.

    While it is there, what a flow raises arrives as what it is.
    """
    told: list[str] = []
    folder = ServerFolder.of(workspace)
    with serving(latency=0.3) as endpoint, children() as start:
        server, url = start_server(free_port(), folder, start, threading.Event())
        with record_server(folder, workspace, url):
            runner = choose_runner("prefect", workspace)
            with pytest.raises(KeyMissing) as refused:
                run_integrate(workspace, runner)
            assert refused.value.hint
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
            monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
            killed: list[int] = []
            missed: list[str] = []

            def look(url: str, seconds: float) -> bool:
                is_there = is_healthy(url, seconds)
                if killed and not is_there:
                    missed.append(url)
                return is_there

            monkeypatch.setattr("flows.runner.is_healthy", look)

            def watch(stage: str, done: int, _total: int) -> None:
                if (stage, done) == ("chunks", 1) and not killed:
                    killed.append(server.pid)
                    os.killpg(server.pid, signal.SIGKILL)

            run = run_integrate(workspace, runner, watch, tell=told.append)
    assert told == ["The Prefect server went away: the run goes on directly, with what is decided."]
    assert run.status is RunStatus.APPLIED
    assert endpoint.repeated == []
    assert 1 <= len(missed) <= 4
    notes = "".join(path.read_text() for path in workspace.vault.glob("*.md"))
    assert [notes.count(f"Something new about {topic}") for topic in TOPICS] == [1] * len(TOPICS)

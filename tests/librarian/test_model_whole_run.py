"""The whole main job with a model over HTTP, on the demo vault: the model path from end to end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infold.app import open_steps
from infold.environment import Environment
from infold.inbox.integration import integrate
from infold.inbox.run import Run
from infold.settings import Params
from infold.text import collapse_spaces
from infold.workspace import Workspace
from tests.fakes.openai_server import FakeOpenAI, answer, fault

DEMO = Path(__file__).resolve().parents[2] / "data" / "vault"


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """A copy of the demo vault, with the model librarian set."""
    shutil.copytree(DEMO, tmp_path / "vault")
    values = Params().model_dump()
    values["librarian"] |= {"kind": "model", "model": "m", "max_retries": 0, "timeout_seconds": 60}
    values["integrate"] |= {"quiet_seconds": 0}
    vault = tmp_path / "vault"
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", Params.model_validate(values))


async def _run(workspace: Workspace, server: FakeOpenAI, *, dry_run: bool = False) -> Run:
    async with open_steps(workspace, environment=Environment(OPENAI_BASE_URL=server.url)) as steps:
        return await integrate(workspace, steps, dry_run=dry_run)


async def test_every_paragraph_ends_somewhere_and_nothing_is_paid_twice(workspace, server):
    """Plan, plan again, apply: the second and third ask nothing; each paragraph is in a note, covered or left."""
    server.script("Edits", answer({"edits": [], "left": []}))
    planned = await _run(workspace, server, dry_run=True)
    paid = len(server.asked)
    assert planned.usage.calls == paid > 60
    assert server.counts["Grouping"] == 1
    again = await _run(workspace, server, dry_run=True)
    run = await _run(workspace, server)
    assert len(server.asked) == paid
    assert not server.repeated
    assert again.usage.calls == run.usage.calls == 0
    assert run.paragraphs == again.paragraphs == planned.paragraphs
    for paragraph in run.paragraphs:
        if paragraph.outcome == "left":
            assert paragraph.reason
        else:
            note = (workspace.vault / paragraph.file).read_text(encoding="utf-8")
            wanted = paragraph.text if paragraph.outcome == "integrated" else paragraph.quote
            assert collapse_spaces(wanted) in collapse_spaces(note)
    assert sum(paragraph.outcome == "integrated" for paragraph in run.paragraphs) >= 10


async def test_a_chunk_whose_endpoint_fails_stays_in_the_inbox_and_the_next_run_goes_on(workspace, server):
    """One failing call costs one chunk its turn, with the reason; nothing that was paid is asked again."""
    server.script("Edits", fault(500))
    first = await _run(workspace, server, dry_run=True)
    left = [paragraph for paragraph in first.paragraphs if "failed" in (paragraph.reason or "")]
    assert len(left) == 1
    before = len(server.asked)
    second = await _run(workspace, server, dry_run=True)
    assert not any("failed" in (paragraph.reason or "") for paragraph in second.paragraphs)
    assert not server.repeated
    assert 1 <= len(server.asked) - before <= 3

"""What the UI draws and what it can hold up: edges, names, tags, Cached states, approval, turns on a vault."""

from __future__ import annotations

import asyncio
import itertools
import logging
from uuid import UUID

import pytest

from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.openai_server import serving
from tests.fakes.prefect_runs import artifacts_of, latest_run, newest

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

NOTES = {
    "index.md": "# Index\n\n- [[bread]]\n- [[tyres]]\n",
    "bread.md": "# Bread\n\nRye is done at ninety-eight degrees, and the crumb is moist.\n",
    "tyres.md": "# Tyres\n\nSealant for tubeless tyres lasts three months in the heat.\n",
}
PREPARED = ("tables", "summaries", "index")
PLANNED = (*PREPARED, "group ", *(f"{step} chunk {number}" for step in ("explore", "edit") for number in (1, 2)))
INBOX = "Sealant for tubeless tyres dries out in summer.\n\nThe crumb of rye wants a day of rest.\n"


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """Two notes, an index, and an inbox with a paragraph for each."""
    vault = tmp_path / "garden"
    vault.mkdir()
    for path, text in {**NOTES, "inbox.md": INBOX}.items():
        (vault / path).write_text(text)
    params = Params.model_validate({"integrate": {"quiet_seconds": 0}, "search": {"embedding": "static"}})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


def leads_to(task) -> set[UUID]:
    """The task runs that this one waited for."""
    return {entry.id for entries in task.task_inputs.values() for entry in entries if hasattr(entry, "id")}


async def test_the_graph_has_edges_names_tags_and_cached_states(prefect_api, workspace):
    """Explore leads to edit, all edits to apply; a second look at an unchanged vault is Cached; names tell dry or not."""
    from prefect.client.orchestration import get_client

    from flows.integrate import integrate
    from flows.preprocess import preprocess

    place = (workspace.vault, workspace.state)
    assert (await integrate(*place, params=workspace.params, dry_run=True)).status == "planned"
    async with get_client() as client:
        planned, tasks = await latest_run(client, "integrate", *PLANNED)
        assert planned.name == "plan of garden"
        assert tasks["tables"].id in leads_to(tasks["summaries"]) & leads_to(tasks["index"])
        group = next(task for name, task in tasks.items() if name.startswith("group "))
        assert {tasks[name].id for name in PREPARED} <= leads_to(group)
        for number in (1, 2):
            explore, edit = tasks[f"explore chunk {number}"], tasks[f"edit chunk {number}"]
            assert leads_to(explore) == {group.id}
            assert leads_to(edit) == {explore.id}
            assert "librarian" in explore.tags
            assert "librarian" in edit.tags
        assert tasks["tables"].state.name == "Completed"

        run = await integrate(*place, params=workspace.params)
        applied, tasks = await latest_run(client, "integrate", *PLANNED, f"apply {run.id}")
        assert applied.name == "integration of garden"
        states = {name: task.state.name for name, task in tasks.items()}
        assert {states[name] for name in states if not name.startswith("apply")} == {"Cached"}
        edits = {task.id for name, task in tasks.items() if name.startswith("edit")}
        assert leads_to(tasks[f"apply {run.id}"]) == edits

        for expected in ("Completed", "Cached"):
            await preprocess(*place, params=workspace.params)
            _, tasks = await latest_run(client, "preprocess", *PREPARED)
            assert {tasks[name].state.name for name in PREPARED} == {expected}


async def test_a_plan_waits_for_a_person(prefect_api, workspace):
    """With `integrate.approval` nothing is written until the run is resumed; refused, the plan stays a plan."""
    from prefect.client.orchestration import get_client
    from prefect.flow_runs import resume_flow_run

    from flows.integrate import integrate

    waiting = workspace.params.integrate.model_copy(update={"approval": True})
    params = workspace.params.model_copy(update={"integrate": waiting})
    before = {path.name: path.read_bytes() for path in workspace.vault.iterdir()}

    async def answered(*, apply: bool):
        running = asyncio.create_task(integrate(workspace.vault, workspace.state, params=params))
        async with get_client() as client:
            while (run := await newest(client, "integrate")) is None or not run.state.is_paused():
                assert not running.done(), running  # what runs is recorded a moment after it began
                await asyncio.sleep(0.3)
            assert {path.name: path.read_bytes() for path in workspace.vault.iterdir()} == before
            shown = await artifacts_of(client, run)
            assert "planned" in shown["infold-report"]
            await resume_flow_run(run.id, run_input={"apply": apply})
        return await running

    assert (await answered(apply=False)).status == "planned"
    assert {path.name: path.read_bytes() for path in workspace.vault.iterdir()} == before
    assert (await answered(apply=True)).status == "applied"
    assert "dries out in summer" in (workspace.vault / "tyres.md").read_text()


async def test_runs_on_one_vault_take_turns(prefect_api, workspace, caplog):
    """A run that finds another on its vault waits for it; a lock left by a killed process holds nobody up."""
    from filelock import FileLock

    from flows.preprocess import preprocess

    workspace.state.mkdir()
    held = FileLock(workspace.state / "flows.lock")
    held.acquire()
    with caplog.at_level(logging.INFO):
        run = asyncio.create_task(preprocess(workspace.vault, workspace.state, workspace.params))
        while "Waits until the other run on this vault has ended." not in caplog.text:
            assert not run.done(), run
            await asyncio.sleep(0.1)
    assert not (workspace.state / "derived").exists()
    held.release()
    assert await run == 4
    assert (workspace.state / "flows.lock").exists()  # the file stays, as after a kill; it is the kernel that locks
    assert await preprocess(workspace.vault, workspace.state, workspace.params) == 4


async def test_a_limit_on_the_tag_is_one_on_model_calls(prefect_api, workspace, monkeypatch):
    """One slot for the tag `librarian`: chunks that would be asked side by side are asked one after another."""
    from prefect.client.orchestration import get_client

    from flows.integrate import integrate
    from tasks.policy import LIBRARIAN_TAG

    with serving(latency=0.3) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        params = Params.model_validate(
            {**workspace.params.model_dump(exclude_unset=True), "librarian": {"kind": "model"}}
        )
        async with get_client() as client:
            await client.create_concurrency_limit(LIBRARIAN_TAG, 1)
            try:
                await integrate(workspace.vault, workspace.state, params=params, dry_run=True)
            finally:
                await client.delete_concurrency_limit_by_tag(LIBRARIAN_TAG)
        asked = sorted((each for each in endpoint.asked if each.decision in {"Look", "Edits"}), key=lambda e: e.started)
    assert len(asked) >= 4
    assert all(before.answered <= after.started for before, after in itertools.pairwise(asked))

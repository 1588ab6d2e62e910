"""The main job under Prefect: the same run as without it, cached by content, seen in the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infold.errors import EndpointFault
from infold.inbox.integration import integrate
from infold.inbox.run import Run
from infold.inbox.run_store import RunStore
from infold.inbox.steps import DirectSteps
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.prefect_runs import artifacts_of, latest_run, newest
from tests.fakes.scripted import ScriptedLibrarian

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

NOTES = {
    "index.md": "# Index\n\n- [[bread]]\n- [[tyres]]\n",
    "bread.md": "# Bread\n\nRye is done at ninety-eight degrees.\n",
    "tyres.md": "# Tyres\n\nSealant lasts three months.\n",
}
INBOX = "Tyre sealant dries out in heat.\n\nRye cools for a day.\n\nTyres want air once a month.\n\nSalt is left out.\n"


def make_workspace(folder: Path) -> Workspace:
    vault = folder / "vault"
    vault.mkdir(parents=True)
    for path, text in {**NOTES, "inbox.md": INBOX}.items():
        (vault / path).write_text(text)
    params = Params.model_validate({"integrate": {"quiet_seconds": 0}, "search": {"embedding": "none"}})
    return Workspace(vault, folder / "state", vault / "inbox.md", params)


def look(request):
    wanted = "tyres.md" if "tyre" in request.chunk.text.lower() else "bread.md"
    viewed = {card.path for card in request.viewed}
    return {"action": "checkout" if wanted in viewed else "view", "files": [wanted]}


def append(request):
    opened = request.notes[0]
    last = opened.text.rstrip().rsplit("\n", 1)[-1]
    return {"edits": [{"file": opened.path, "find": last, "replace": f"{last}\n\n{request.chunk.text}"}]}


async def run_with_prefect(workspace: Workspace, librarian: ScriptedLibrarian, *, dry_run: bool = False) -> Run:
    from prefect import flow

    from tasks.artifacts import show_run
    from tasks.steps import PrefectSteps

    @flow(name="integrate-under-test", persist_result=False)
    async def under_test(dry_run: bool) -> Run:
        steps = PrefectSteps(DirectSteps(workspace, librarian), workspace)
        run = await integrate(workspace, steps, dry_run=dry_run)
        await steps.close()
        await show_run(run, RunStore(workspace.runs))
        return run

    return await under_test(dry_run)


async def run_directly(workspace: Workspace, librarian: ScriptedLibrarian) -> Run:
    return await integrate(workspace, DirectSteps(workspace, librarian))


def scripted() -> ScriptedLibrarian:
    return ScriptedLibrarian(look=look, edit=append)


def notes_of(workspace: Workspace) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in workspace.vault.iterdir()}


def asked_about_chunks(librarian: ScriptedLibrarian) -> list[str]:
    return [type(request).__name__ for request in librarian.asked if "Summary" not in type(request).__name__]


def comparable(run: Run) -> dict[str, object]:
    """A run without what differs between any two: id, place, clock."""
    return run.model_dump(exclude={"id", "vault", "state", "created_at", "seconds", "applied_at"})


async def test_both_runners_give_the_same_run(prefect_api, tmp_path):
    """Prefect adds an engine and changes nothing: same record, same bytes in the vault, same questions."""
    direct, flow = make_workspace(tmp_path / "direct"), make_workspace(tmp_path / "flow")
    first, second = scripted(), scripted()
    run = await run_directly(direct, first)
    assert comparable(await run_with_prefect(flow, second)) == comparable(run)
    assert notes_of(flow) == notes_of(direct)
    assert sorted(asked_about_chunks(first)) == sorted(asked_about_chunks(second))


async def test_a_second_flow_takes_every_decision_from_the_cache(prefect_api, tmp_path):
    """The same inbox and vault again: each decision is Cached and nothing is asked, in another process's flow too."""
    workspace = make_workspace(tmp_path)
    planned = await run_with_prefect(workspace, scripted(), dry_run=True)
    again = scripted()
    second = await run_with_prefect(workspace, again, dry_run=True)
    assert asked_about_chunks(again) == []
    assert [chunk.edits for chunk in second.chunks] == [chunk.edits for chunk in planned.chunks]
    assert second.usage.calls == 0


async def test_a_changed_note_is_asked_about_again(prefect_api, tmp_path):
    """The cache goes by content: when a note changed, what was decided on its old text is not used."""
    workspace = make_workspace(tmp_path)
    await run_with_prefect(workspace, scripted(), dry_run=True)
    (workspace.vault / "bread.md").write_text("# Bread\n\nRye is done when it sounds hollow.\n")
    again = scripted()
    run = await run_with_prefect(workspace, again, dry_run=True)
    assert "LookRequest" in asked_about_chunks(again)
    assert any("hollow" in edit.find for chunk in run.chunks for edit in chunk.edits)


async def test_the_server_shows_progress_outcomes_and_diffs(prefect_api, tmp_path):
    """The UI has a bar for the chunks, a table with a row for every paragraph, and the report that the CLI leads to."""
    from prefect.client.orchestration import get_client

    workspace = make_workspace(tmp_path)
    run = await run_with_prefect(workspace, scripted())
    async with get_client() as client:
        found = await artifacts_of(client, await newest(client, "integrate-under-test"))
    assert found["infold-chunks"] == 100.0
    assert [row["outcome"] for row in json.loads(found["infold-paragraphs"])] == ["integrated"] * 4
    report = (RunStore(workspace.runs).path(run.id) / "report.md").read_text()
    assert found["infold-report"].endswith(report)
    assert "+Rye cools for a day." in report


async def test_what_may_pass_is_tried_again(prefect_api, tmp_path, monkeypatch):
    """An endpoint that is busy once costs a retry and no paragraph."""
    from tasks import decisions

    monkeypatch.setattr(decisions.explore_chunk, "retry_delay_seconds", [0, 0])
    failures = iter([EndpointFault("The endpoint is busy (503).")])

    def busy_once(request):
        for failure in failures:
            raise failure
        return look(request)

    run = await run_with_prefect(make_workspace(tmp_path), ScriptedLibrarian(look=busy_once, edit=append))
    assert [p.outcome for p in run.paragraphs] == ["integrated"] * 4


async def test_what_stays_wrong_is_not_tried_again(prefect_api, tmp_path):
    """A librarian that breaks the rules is asked once for each chunk; its text stays in the inbox with the reason."""
    librarian = ScriptedLibrarian(look=lambda request: {"action": "view", "files": ["nowhere.md"]}, edit=append)
    run = await run_with_prefect(make_workspace(tmp_path), librarian)
    assert [p.outcome for p in run.paragraphs] == ["left"] * 4
    assert asked_about_chunks(librarian).count("LookRequest") == 4


async def test_no_note_text_is_kept_as_a_parameter(prefect_api, tmp_path):
    """The server's database holds ids and paths of a run as parameters, never text."""
    import os
    import sqlite3

    from prefect.client.orchestration import get_client

    workspace = make_workspace(tmp_path)
    await run_with_prefect(workspace, scripted())
    async with get_client() as client:
        await latest_run(client, "integrate-under-test", "explore", "edit", "apply")
    with sqlite3.connect(Path(os.environ["PREFECT_HOME"]) / "prefect.db") as database:
        parameters = [str(row) for row in database.execute("select parameters, name from flow_run")]
        inputs = [str(row) for row in database.execute("select task_inputs, name from task_run")]
    assert parameters
    assert inputs
    assert not any("sealant" in row.lower() for row in parameters + inputs)

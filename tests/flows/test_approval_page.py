"""A plan that waits is decided by hand, in the pages of Prefect's server in a real browser."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.prefect_runs import newest
from tests.flows.test_server_pages import page

__all__ = ["page"]

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.browser, pytest.mark.xdist_group("prefect")]

NOTE, INBOX = (
    "# Tyres\n\nSealant for tubeless tyres lasts three months.\n",
    "Sealant for tubeless tyres dries out in summer.\n",
)


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """A note and a paragraph for it, with plans that wait, but not for ever where a test breaks off."""
    vault = tmp_path / "garden"
    vault.mkdir()
    (vault / "tyres.md").write_text(NOTE)
    (vault / "inbox.md").write_text(INBOX)
    waiting = {"quiet_seconds": 0, "approval": True, "approval_hours": 0.05}
    params = Params.model_validate({"integrate": waiting, "search": {"embedding": "none"}})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


async def paused_run() -> str:
    """The id of the latest integration, once it waits."""
    from prefect.client.orchestration import get_client

    async with asyncio.timeout(120), get_client() as client:
        while (run := await newest(client, "integrate")) is None or not run.state.is_paused():  # noqa: ASYNC110 - the server is asked
            await asyncio.sleep(0.3)
    return str(run.id)


def signed_in(page, root: str) -> None:
    """The page with the password given."""
    page.goto(f"{root}/runs")
    field = page.locator("input[type=password]")
    field.fill(os.environ["PREFECT_API_AUTH_STRING"])
    field.press("Enter")
    field.wait_for(state="detached")


def test_a_person_leaves_a_plan_and_approves_the_next(prefect_api, page, workspace):
    """Resume opens a form that says what waits: with `apply` cleared nothing is written, submitted as it is the plan is."""
    from flows.integrate import integrate

    root = prefect_api.removesuffix("/api")
    signed_in(page, root)
    with ThreadPoolExecutor() as pool:  # the browser has this thread's event loop

        def decided(*, apply: bool) -> str:
            flow = pool.submit(
                lambda: asyncio.run(integrate(workspace.vault, workspace.state, params=workspace.params))
            )
            page.goto(f"{root}/runs/flow-run/{pool.submit(lambda: asyncio.run(paused_run())).result()}")
            assert (workspace.vault / "tyres.md").read_text() == NOTE
            page.get_by_role("button", name="Resume").click()
            form = page.get_by_role("dialog")
            form.get_by_text("changes 2 files: see the artifact infold-report").wait_for()
            form.get_by_role("switch", checked=True).wait_for()
            if not apply:
                form.get_by_role("switch").click()
                form.get_by_role("switch", checked=False).wait_for()
            form.get_by_role("button", name="Submit").click()
            return flow.result(120).status

        assert decided(apply=False) == "planned"
        assert (workspace.vault / "tyres.md").read_text() == NOTE
        assert (workspace.vault / "inbox.md").read_text() == INBOX
        assert decided(apply=True) == "applied"
    assert "dries out in summer" in (workspace.vault / "tyres.md").read_text()
    assert (workspace.vault / "inbox.md").read_text() == ""

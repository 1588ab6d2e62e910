"""What decides whether a decision is taken again: its key, the shape of its record, the kind of fault."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from infold.errors import AnswerInvalid, CapReached, EndpointFault, KeyRejected

pytestmark = pytest.mark.prefect


async def test_only_what_may_pass_is_worth_another_try():
    """A busy endpoint is; a wrong key, a broken rule and a reached cap are not."""
    from prefect.states import Failed

    from tasks.decisions import explore_chunk
    from tasks.policy import is_transient

    async def judged(error: Exception) -> bool:
        return await is_transient(explore_chunk, None, Failed(data=error))

    assert await judged(EndpointFault("503"))
    for error in (KeyRejected("401"), AnswerInvalid("a fifth view"), CapReached("over"), ValueError("a fault of ours")):
        assert not await judged(error)


def test_a_record_of_another_shape_has_another_key():
    """A field more or less: what was kept in the old shape is not read as the new one."""
    from tasks.policy import shape_of

    class Before(BaseModel):
        files: list[str]

    class After(BaseModel):
        files: list[str]
        reason: str = ""

    before, after = shape_of(Before), shape_of(After)
    assert before == shape_of(Before)
    assert before != after


def test_a_report_too_long_for_the_server_is_cut_and_says_where_the_rest_is(tmp_path):
    """An artifact of any size would be refused with the whole run's page; the cut one names the file."""
    from infold.inbox.run import Run, RunStatus
    from infold.inbox.run_store import RunStore
    from tasks.artifacts import report_page

    run = Run(
        id="r1", status=RunStatus.PLANNED, vault="v", state="s", inbox="inbox.md", created_at="now", librarian="offline"
    )
    store = RunStore(tmp_path)
    store.path("r1").mkdir()
    (store.path("r1") / "report.md").write_text("a line of the report\n" * 40_000)
    page = report_page(run, store)
    assert len(page) < 410_000
    assert page.rstrip().endswith(str(store.path("r1") / "report.md"))

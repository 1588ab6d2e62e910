"""The pages of the inbox and of runs: text dropped, planned, reviewed edit by edit, applied, taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from infold.operations.inbox import (
    InboxIntegrateRequest,
    RunApplyRequest,
    RunListRequest,
    RunRequest,
    inbox_integrate,
    run_apply,
    run_diff,
    run_list,
    run_show,
    run_undo,
)
from infold.operations.notebook import InboxAddRequest, inbox_add
from infold.operations.review import run_review
from infold.operations.spending_rate import SpendingRate
from infold.web.rendering import Pages

if TYPE_CHECKING:
    from infold.app import OpenVault

_RUNS_SHOWN: Final = 50


class InboxPages(Pages):
    """What waits, and every change."""

    def __init__(self, vault: OpenVault, rate: SpendingRate) -> None:
        super().__init__(vault)
        self._rate = rate

    async def inbox(self) -> Response:
        """The inbox, a box to drop text into, and the buttons that plan and fold it in."""
        text = await asyncio.to_thread(self.inbox_text)
        runs = await self.ask(run_list, RunListRequest(limit=10))
        model = self._vault.params.librarian
        return self.page("inbox", text=text, runs=runs.runs, librarian=model)

    async def add(self, text: str) -> Response:
        """Drops text into the inbox."""
        await self.ask(inbox_add, InboxAddRequest(text=text.replace("\r\n", "\n")))
        return RedirectResponse("/inbox", status_code=303)

    async def plan(self) -> Response:
        """Plans the inbox and shows the plan, for browsers without a script; scripts follow the job instead."""
        self._rate.admit(inbox_integrate)
        done = await self.ask(inbox_integrate, InboxIntegrateRequest(dry_run=True))
        if done.quote is not None:
            return self.page("quote", quote=done.quote)
        return RedirectResponse(f"/run/{done.run}" if done.run else "/inbox", status_code=303)

    async def runs(self) -> Response:
        """Every change, newest first."""
        found = await self.ask(run_list, RunListRequest(limit=_RUNS_SHOWN))
        return self.page("runs", runs=found.runs)

    async def run(self, run_id: str, notice: str = "") -> Response:
        """A run: what stays in the inbox first, then each edit under its heading, with what can be done about it."""
        shown = await self.ask(run_show, RunRequest(run=run_id))
        diffs = await self.ask(run_diff, RunRequest(run=run_id))
        review = None
        if shown.run is not None and str(shown.run.status) == "planned":
            review = await self.ask(run_review, RunRequest(run=run_id))
        return self.page(
            "run", run=shown.run, change=shown.change, review=review, diffs=diffs.diffs, notice=notice, run_id=diffs.run
        )

    async def decide(self, run_id: str, form: Mapping[str, str]) -> Response:
        """Applies a plan as it was reviewed: each hunk accepted, left out, changed or sent elsewhere."""
        decisions = []
        for name, verdict in form.items():
            if not name.startswith("verdict-"):
                continue
            number = int(name.removeprefix("verdict-"))
            decision = {"number": number, "verdict": verdict}
            if verdict == "edit":
                decision["text"] = form.get(f"text-{number}", "").replace("\r\n", "\n")
            if verdict == "send":
                decision["file"] = form.get(f"file-{number}", "")
            if verdict != "accept":
                decisions.append(decision)
        await self.ask(run_apply, RunApplyRequest.model_validate({"run": run_id, "decisions": decisions}))
        return RedirectResponse(f"/run/{run_id}", status_code=303)

    async def undo(self, run_id: str) -> Response:
        """Takes a change back."""
        done = await self.ask(run_undo, RunRequest(run=run_id))
        said = f"{len(done.restored)} files are as before." + (
            f" {len(done.conflicts)} texts had to stay." if done.conflicts else ""
        )
        return await self.run(run_id, said)


def add_inbox_pages(router: APIRouter, pages: InboxPages) -> None:
    """Their addresses."""
    router.get("/inbox")(pages.inbox)
    router.get("/runs")(pages.runs)
    router.post("/inbox/plan")(pages.plan)

    @router.post("/inbox/add")
    async def add(text: Annotated[str, Form()]) -> Response:
        return await pages.add(text)

    @router.get("/run/{run_id}")
    async def run(run_id: str) -> Response:
        return await pages.run(run_id)

    @router.post("/run/{run_id}/apply")
    async def apply(run_id: str, request: Request) -> Response:
        form = await request.form()
        return await pages.decide(run_id, {name: str(value) for name, value in form.items()})

    @router.post("/run/{run_id}/undo")
    async def undo(run_id: str) -> Response:
        return await pages.undo(run_id)

"""The pages of evaluations: all that were made, one of them, two side by side, and the buttons that make one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, Response

from infold.errors import UsageError
from infold.evaluation.kept_reports import KeptReport, compared, kept_report, kept_reports
from infold.web.rendering import ALONE, Pages

if TYPE_CHECKING:
    from infold.app import OpenVault


class EvaluationPages(Pages):
    """Reports of how well text is filed, found and summed up."""

    async def evaluations(self) -> Response:
        """Every report that is kept, the newest first."""
        reports = await asyncio.to_thread(kept_reports, self._vault.workspace)
        return self.page("evaluations", reports=reports, params=self._vault.params)

    async def evaluation(self, kind: str, name: str) -> Response:
        """The figures of one, and how they were before."""
        report = await asyncio.to_thread(kept_report, self._vault.workspace, kind, name)
        same = [each for each in kept_reports(self._vault.workspace) if each.kind == report.kind]
        return self.page("evaluation", report=report, before=[each for each in same if each.at < report.at])

    async def comparison(self, chosen: list[str]) -> Response:
        """Two reports of one kind, figure by figure, the older first."""
        if len(chosen) != 2:
            raise UsageError("Two evaluations are compared.", hint="Choose two of one kind.")
        pairs = [name.partition("/") for name in chosen]
        found = [await asyncio.to_thread(self._report, kind, name) for kind, _, name in pairs]
        first, second = sorted(found, key=lambda each: each.at)
        return self.page("comparison", first=first, second=second, changes=compared(first, second))

    async def report(self, kind: str, name: str) -> Response:
        """The whole report as it was written; it may bring its own style, and nothing else."""
        report = await asyncio.to_thread(self._report, kind, name)
        if not report.page.is_file():
            raise UsageError(f"The report of {kind}/{name} is not there any more.")
        return FileResponse(report.page, media_type="text/html", headers={"content-security-policy": ALONE})

    def _report(self, kind: str, name: str) -> KeptReport:
        return kept_report(self._vault.workspace, kind, name)


def add_evaluation_pages(router: APIRouter, vault: OpenVault) -> None:
    """Their addresses."""
    pages = EvaluationPages(vault)
    router.get("/evaluations")(pages.evaluations)

    @router.get("/evaluations/compare")
    async def comparison(chosen: Annotated[list[str], Query()] = []) -> Response:  # noqa: B006 - FastAPI copies it
        return await pages.comparison(chosen)

    @router.get("/evaluations/{kind}/{name}")
    async def evaluation(kind: str, name: str) -> Response:
        return await pages.evaluation(kind, name)

    @router.get("/evaluations/{kind}/{name}/report")
    async def report(kind: str, name: str) -> Response:
        return await pages.report(kind, name)

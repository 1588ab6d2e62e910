"""Every operation that has this face, as `POST /api/NAME`: the request as its JSON body, the answer as JSON.

One that takes long may be asked for with `Prefer: respond-async`: the answer is then a job, whose progress and answer
come as server-sent events from `/api/jobs/ID/events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from infold.errors import InfoldError, UsageError
from infold.operations.audit import asked_by
from infold.operations.contract import Effect, Face, Message
from infold.operations.spending_rate import SpendingRate
from infold.operations.table import Operation, operations
from infold.web.jobs import Jobs
from infold.web.server_events import event_stream

if TYPE_CHECKING:
    from infold.app import OpenVault


class ErrorText(Message):
    """What went wrong, and what to do next."""

    type: str
    """The name of the error in the tree of `infold.errors`."""
    message: str
    hint: str


class ErrorAnswer(Message):
    """The body of every answer that is none."""

    error: ErrorText


class JobStarted(Message):
    """Work that goes on behind."""

    job: str
    """Its id."""
    events: str
    """Where its progress and its answer come as server-sent events."""


_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorAnswer, "description": "What went wrong."}}


def error_response(error: InfoldError) -> JSONResponse:
    """An error as JSON, with its own HTTP status."""
    said = ErrorText(type=type(error).__name__, message=str(error), hint=error.hint)
    return JSONResponse(ErrorAnswer(error=said).as_json(), status_code=error.http_status)


def api_router(vault: OpenVault, jobs: Jobs, rate: SpendingRate) -> APIRouter:
    """The operations, and the jobs."""
    router = APIRouter(prefix="/api", responses=_ERRORS)
    for operation in operations(Face.HTTP).values():
        _add(router, vault, jobs, rate, operation)

    @router.get("/jobs/{job}/events", tags=["jobs"], response_class=StreamingResponse)
    async def events(job: str) -> StreamingResponse:
        """Follow a job: `happened` and `progress` events, then one `answer` or one `error`."""
        return event_stream(jobs.find(job).follow())

    @router.get("/jobs/{job}", tags=["jobs"])
    async def job_state(job: str) -> dict[str, Any]:
        """How far a job is, and its answer when it has one."""
        return jobs.find(job).state()

    return router


def _add(router: APIRouter, vault: OpenVault, jobs: Jobs, rate: SpendingRate, operation: Operation[Any, Any]) -> None:
    request_type, answer_type = operation.request, operation.answer

    async def ask(
        *,
        request: Request,
        body: Any,
        prefer: Annotated[str, Header(description="respond-async: answer with a job at once.")] = "",
    ) -> Response:
        _check_json(request)
        rate.admit(operation)
        if operation.takes_long and "respond-async" in prefer:
            job = jobs.start(operation, body)
            started = JobStarted(job=job.id, events=f"/api/jobs/{job.id}/events")
            return JSONResponse(started.as_json(), status_code=202)
        with asked_by(Face.HTTP):
            answer = await vault.run(operation, body)
        return JSONResponse(answer.as_json())

    ask.__annotations__ = {**ask.__annotations__, "request": Request, "body": request_type, "return": Response}
    if not any(field.is_required() for field in request_type.model_fields.values()):
        ask.__kwdefaults__ = {**(ask.__kwdefaults__ or {}), "body": request_type()}
    started: dict[int | str, dict[str, Any]] = (
        {202: {"model": JobStarted, "description": "Work goes on behind."}} if operation.takes_long else {}
    )
    router.add_api_route(
        f"/{operation.name}",
        ask,
        methods=["POST"],
        name=operation.name,
        operation_id=operation.name,
        summary=operation.summary,
        description=operation.description,
        tags=[str(operation.group)],
        response_model=answer_type,
        responses={**started, 422: {"model": ErrorAnswer, "description": "The request is wrong."}},
        openapi_extra={"x-effect": str(operation.effect), "x-destroys": operation.effect is Effect.DESTROYS},
    )


def _check_json(request: Request) -> None:
    """A form of another site can send text, but not JSON without being asked first."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    if kind != "application/json":
        raise UsageError(f"A request must be JSON, not {kind}.", hint="Send content-type: application/json.")

"""The HTTP server of one opened vault: API and pages behind one doorkeeper."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic.warnings import UnsupportedFieldAttributeWarning

from infold import __version__
from infold.errors import InfoldError
from infold.http.doorkeeper import guarded
from infold.operations.spending_rate import SpendingRate
from infold.web.api import ErrorAnswer, ErrorText, api_router, error_response
from infold.web.debug_api import debug_router
from infold.web.jobs import Jobs
from infold.web.pages import pages_router
from infold.web.rendering import error_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from infold.app import OpenVault

_PROBLEMS: Final = 5


def create_app(vault: OpenVault, *, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """The server's application, to be run by an ASGI server on `host`.

    Raises UsageError where an address that others can reach is to be served without a token.
    """
    return guarded(_application(vault), host=host, token=token)


def openapi(vault: OpenVault) -> dict[str, Any]:
    """The OpenAPI document of the API."""
    return _application(vault).openapi()


def _application(vault: OpenVault) -> FastAPI:
    # FastAPI hands pydantic a name for each body; for messages that are built when first used pydantic remarks on it.
    warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)
    app = FastAPI(
        title="infold",
        version=__version__,
        summary="One vault: searched, navigated and written.",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=_lifespan,
    )
    rate = SpendingRate()
    app.include_router(api_router(vault, Jobs(vault), rate))
    app.include_router(debug_router(vault))
    app.include_router(pages_router(vault, rate))
    app.mount("/static", StaticFiles(packages=[("infold.web", "static")]))
    app.add_exception_handler(InfoldError, _error_handler(vault))
    app.add_exception_handler(RequestValidationError, _wrong_request)
    return app


@asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield


def _error_handler(vault: OpenVault) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Errors as JSON below /api, as a page elsewhere."""

    async def handle(request: Request, error: Exception) -> Response:
        if not isinstance(error, InfoldError):
            raise error
        return error_response(error) if request.url.path.startswith("/api/") else error_page(vault, error)

    return handle


async def _wrong_request(_: Request, error: Exception) -> JSONResponse:
    """What is wrong with a request, in the form of every error."""
    if not isinstance(error, RequestValidationError):
        raise error
    said = " ".join(
        f"{'.'.join(str(part) for part in problem['loc'][1:]) or problem['loc'][0]}: {problem['msg']}."
        for problem in error.errors()[:_PROBLEMS]
    )
    text = ErrorText(type="RequestInvalid", message=said, hint="GET /api/openapi.json describes every request.")
    return JSONResponse(ErrorAnswer(error=text).as_json(), status_code=422)

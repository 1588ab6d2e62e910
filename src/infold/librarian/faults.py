"""What went wrong at an endpoint, in infold's errors: the one place that knows the errors of `openai`, by name.

Importing `openai` belongs to `librarian.endpoint`. Nothing of a request or an answer gets into a message: endpoints
quote keys and texts in theirs. Only the status, a code of plain letters and the host are named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from infold.errors import (
    AnswerRefused,
    AnswerTruncated,
    ContextTooLong,
    EndpointFault,
    EndpointUnreachable,
    InfoldError,
    KeyRejected,
    ModelNotFound,
)

OPENAI_HOST: Final = "api.openai.com"
_PLAIN_CODE: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_.\-]{0,59}")
_TOO_LONG: Final = re.compile(
    r"context.{0,20}(length|size|window)|maximum context|prompt is too long|too many (input )?tokens", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class AskedEndpoint:
    """Whom the failing request was put to: enough to word the error."""

    model: str
    base_url: str | None

    @property
    def host(self) -> str:
        """Host and port, without user, password or path."""
        if self.base_url is None:
            return OPENAI_HOST
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def translate(error: Exception, asked: AskedEndpoint) -> InfoldError:
    """The infold error for an error of `openai`; by its nearest class in FAULTS."""
    for kind in type(error).__mro__:
        if kind.__name__ in FAULTS:
            return FAULTS[kind.__name__](error, asked)
    raise TypeError(f"{type(error).__name__} is no error of openai") from None


def _said(error: Exception) -> str:
    """` (400, invalid_value)`: status and code where they are harmless."""
    status = getattr(error, "status_code", None)
    code = getattr(error, "code", None)
    known = [str(status)] if isinstance(status, int) else []
    if isinstance(code, str) and _PLAIN_CODE.fullmatch(code):
        known.append(code)
    return f" ({', '.join(known)})" if known else ""


def _cause(error: Exception) -> str:
    return type(error.__cause__).__name__


def _key_rejected(error: Exception, asked: AskedEndpoint) -> InfoldError:
    return KeyRejected(
        f"{asked.host} rejected the API key{_said(error)}.", hint="Check OPENAI_API_KEY and OPENAI_BASE_URL."
    )


def _model_not_found(error: Exception, asked: AskedEndpoint) -> InfoldError:
    return ModelNotFound(
        f"{asked.host} does not know the model {asked.model!r}{_said(error)}.",
        hint="Check the setting librarian.model, and that OPENAI_BASE_URL ends as the endpoint wants it (often /v1).",
    )


def _bad_request(error: Exception, asked: AskedEndpoint) -> InfoldError:
    message = str(getattr(error, "message", ""))
    if getattr(error, "code", None) == "context_length_exceeded" or _TOO_LONG.search(message):
        return _too_long(error, asked)
    if getattr(error, "code", None) == "content_filter":
        return AnswerRefused(f"A content filter of {asked.host} stopped the request{_said(error)}.")
    return EndpointFault(
        f"{asked.host} did not accept the request{_said(error)}.",
        hint="Another librarian.mode may suit it (json_schema, tools, md_json); some models take no temperature.",
    )


def _too_long(error: Exception, asked: AskedEndpoint) -> InfoldError:
    return ContextTooLong(
        f"The request does not fit the context of {asked.model!r}{_said(error)}.",
        hint="Lower exploration.max_files_checked_out or max_files_viewed_total, or set a model with a longer context.",
    )


def _status(error: Exception, asked: AskedEndpoint) -> InfoldError:
    if getattr(error, "status_code", None) == 413:
        return _too_long(error, asked)
    return EndpointFault(
        f"{asked.host} still failed after the last retry{_said(error)}.",
        hint="Run again later, or raise librarian.max_retries: what is done is kept.",
    )


def _rate_limited(error: Exception, asked: AskedEndpoint) -> InfoldError:
    if getattr(error, "code", None) == "insufficient_quota":
        return EndpointFault(
            f"The account at {asked.host} has no credit left{_said(error)}.", hint="Top it up, then run again."
        )
    return EndpointFault(
        f"{asked.host} still limited the rate after the last retry{_said(error)}.",
        hint="Lower integrate.concurrency or raise librarian.max_retries, then run again: what is done is kept.",
    )


def _timed_out(error: Exception, asked: AskedEndpoint) -> InfoldError:
    if _cause(error) == "ConnectTimeout":
        return _unreachable(asked)
    return EndpointFault(
        f"{asked.host} gave no answer in time.",
        hint="Raise librarian.timeout_seconds, or run again later: what is done is kept.",
    )


def _not_connected(error: Exception, asked: AskedEndpoint) -> InfoldError:
    if _cause(error) in {"ConnectError", "UnsupportedProtocol", "InvalidURL"}:
        return _unreachable(asked)
    return EndpointFault(
        f"The connection to {asked.host} broke before the answer came.",
        hint="Run again, or raise librarian.max_retries: what is done is kept.",
    )


def _unreachable(asked: AskedEndpoint) -> InfoldError:
    return EndpointUnreachable(
        f"Nothing answers at {asked.host}.",
        hint="Start the endpoint, or correct OPENAI_BASE_URL; librarian.kind=offline needs none.",
    )


def _not_an_answer(_: Exception, asked: AskedEndpoint) -> InfoldError:
    return EndpointFault(
        f"{asked.host} answered with something that is no chat completion.",
        hint="Check OPENAI_BASE_URL: it often ends in /v1.",
    )


def _truncated(_: Exception, __: AskedEndpoint) -> InfoldError:
    return AnswerTruncated("The answer was cut at the length limit.", hint="Raise librarian.max_answer_tokens.")


def _refused(_: Exception, __: AskedEndpoint) -> InfoldError:
    return AnswerRefused("A content filter stopped the answer.")


def _other(error: Exception, asked: AskedEndpoint) -> InfoldError:
    return EndpointFault(f"The client of {asked.host} failed: {type(error).__name__}.")


FAULTS: Final[dict[str, Callable[[Exception, AskedEndpoint], InfoldError]]] = {
    "OpenAIError": _other,
    "APIError": _other,
    "APIStatusError": _status,
    "APIResponseValidationError": _not_an_answer,
    "APIConnectionError": _not_connected,
    "APITimeoutError": _timed_out,
    "BadRequestError": _bad_request,
    "AuthenticationError": _key_rejected,
    "OAuthError": _key_rejected,
    "PermissionDeniedError": _key_rejected,
    "NotFoundError": _model_not_found,
    "ConflictError": _status,
    "UnprocessableEntityError": _bad_request,
    "RateLimitError": _rate_limited,
    "InternalServerError": _status,
    "LengthFinishReasonError": _truncated,
    "ContentFilterFinishReasonError": _refused,
    "InvalidWebhookSignatureError": _other,
    "SubjectTokenProviderError": _key_rejected,
    "WebSocketConnectionClosedError": _other,
    "WebSocketQueueFullError": _other,
}

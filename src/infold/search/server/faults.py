"""What went wrong at a Qdrant server, in infold's errors: the one place that knows the errors of its client, by name.

Importing the client belongs to `search.server.engine`. A message names the server and the setting, never the key: where
it quotes the server, the key is blotted out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from infold.errors import EndpointUnreachable, IndexFault, InfoldError, KeyMissing, KeyRejected, SearchServerFault
from infold.search.server.address import KEY_SETTING, URL_SETTING

TOO_MANY: Final = 429
NOT_FOUND: Final = 404
_TRANSIENT: Final = frozenset({408, TOO_MANY, 500, 502, 503, 504})
_UNREACHABLE: Final = frozenset({"ConnectError", "ConnectTimeout"})
_TIMED_OUT: Final = frozenset({"ReadTimeout", "WriteTimeout", "PoolTimeout"})
_BROKEN: Final = frozenset({"RemoteProtocolError", "ReadError", "WriteError", "CloseError", "LocalProtocolError"})
_QUOTED_CHARACTERS: Final = 200
_AGAIN: Final = "Try again later: what is done is kept, and the rest is done then."


@dataclass(frozen=True, slots=True)
class Failure:
    """What came instead of an answer: a status, or the name of the error of the connection, or neither."""

    status: int | None = None
    connection: str = ""
    said: str = ""
    wait_seconds: float | None = None

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed in a moment."""
        return self.status in _TRANSIENT or self.connection in _TIMED_OUT | _BROKEN

    @property
    def is_unanswered(self) -> bool:
        """Whether the whole time-out passed without an answer."""
        return self.connection in _TIMED_OUT


def failure_of(error: Exception, secret: str | None) -> Failure:
    """What the client's error says, `secret` blotted out. Else it is an answer that nobody can read."""
    name = type(error).__name__
    if name == "ResourceExhaustedResponse":
        return Failure(status=TOO_MANY, wait_seconds=float(getattr(error, "retry_after_s", 0)))
    if name == "QdrantException":  # a Retry-After that is a date
        return Failure(status=TOO_MANY)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return Failure(status=status, said=_said(getattr(error, "content", b""), secret))
    source = getattr(error, "source", None)
    return Failure(connection=type(source).__name__ if source is not None else name)


def translate(failure: Failure, doing: str, host: str, *, has_key: bool) -> InfoldError:
    """The infold error for a request that failed for good while `doing`."""
    server = f"The Qdrant server at {host}"
    status = failure.status
    if status in {401, 403}:
        return _refused(server, status, has_key=has_key)
    if failure.connection in _UNREACHABLE:
        return EndpointUnreachable(
            f"Nothing answers at {host} ({URL_SETTING}).",
            hint=f"Start the Qdrant server or correct {URL_SETTING}; without it the embedded index is used.",
        )
    if failure.connection in _TIMED_OUT:
        return SearchServerFault(f"{server} gave no answer in time while {doing}.", hint=_AGAIN)
    if failure.connection in _BROKEN:
        return SearchServerFault(f"{server} broke the connection while {doing}.", hint=_AGAIN)
    if status is None or status < 400:
        what = "no Qdrant answer" if status is None else f"status {status}, which is no Qdrant answer,"
        return SearchServerFault(f"{server} gave {what} while {doing}.", hint=f"Check {URL_SETTING}.")
    if status in _TRANSIENT:
        limited = " limits the rate and" if status == TOO_MANY else ""
        return SearchServerFault(f"{server}{limited} still failed after the last retry ({status}).", hint=_AGAIN)
    if status == NOT_FOUND and "ollection" in failure.said:
        return IndexFault(f"{server} does not have the search index (any more).", hint="`infold index` makes it anew.")
    if status == NOT_FOUND:
        return SearchServerFault(f"{server} does not know the request (404).", hint=f"Check the path in {URL_SETTING}.")
    if status == 413:
        return SearchServerFault(
            f"{server} takes no request of this size.", hint="Raise the limit of it or its proxy to 32 MB."
        )
    quoted = f": {failure.said}" if failure.said else ""
    return IndexFault(
        f"{server} did not accept a request while {doing} ({status}){quoted}.",
        hint="`infold rebuild` makes the index anew; where that does not help, the server may be too old.",
    )


def _refused(server: str, status: int, *, has_key: bool) -> InfoldError:
    if not has_key:
        return KeyMissing(f"{server} wants an API key ({status}).", hint=f"Set {KEY_SETTING}.")
    return KeyRejected(
        f"{server} rejected the API key ({status}).", hint=f"Check {KEY_SETTING}; the key must allow writing."
    )


def _said(content: bytes, secret: str | None) -> str:
    """The server's own sentence, on one line; nothing where the answer has not its form."""
    try:
        body: Any = json.loads(content)
        told = body["status"]["error"]
    except (ValueError, KeyError, TypeError):
        return ""
    told = str(told).replace(secret, "…") if secret else str(told)
    return re.sub(r"\s+", " ", told).strip()[:_QUOTED_CHARACTERS].rstrip(".")

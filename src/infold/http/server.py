"""The server that carries an application: one process, a bound on connections, and none held by whoever sends nothing.

Uvicorn lets a client open a connection and never finish a request's head, or ask for something and never read it; here
both end after some time. Bodies of requests are `http.doorkeeper`'s.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

HEAD_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 60.0  # within which whoever asked takes what is left of an answer, or this much of it
LEAST_TAKEN_BYTES: Final = 64 * 1024
IDLE_SECONDS: Final = 5  # of a connection between two requests
MOST_CONNECTIONS: Final = 256  # more are answered 503
MOST_HEAD_BYTES: Final = 64 * 1024
ENDING_SECONDS: Final = 5  # for what is under way when the server is told to end


class PunctualProtocol(H11Protocol):
    """HTTP/1.1 that ends a connection whose next request's head is not whole within `head_seconds`.

    So it does with one whose client takes hardly anything of what was sent for `answer_seconds`.
    """

    head_seconds: float = HEAD_SECONDS
    answer_seconds: float = ANSWER_SECONDS

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The time for the first head begins. Whatever cannot be sent at once counts as not taken yet."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """The time for a head ends with the head, and begins again with the first bytes of the next."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._head_timer is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """Between two requests uvicorn's own time for idle connections holds; after a pipelined beginning, ours."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await_head()

    def pause_writing(self) -> None:
        """Something was not taken at once: the time for it begins. It also holds once the connection is closing."""
        super().pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        """All of it was taken."""
        super().resume_writing()
        self._stop_looking()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_waiting()
        self._stop_looking()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._stop_waiting()
        self._head_timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _await_taking(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._answer_timer = self.loop.call_later(self.answer_seconds, self._look_again, waiting)

    def _look_again(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() < LEAST_TAKEN_BYTES:
            self.transport.abort()
        else:
            self._await_taking()

    def _stop_looking(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self.transport.close()


def make_server(app: ASGIApp, *, host: str, port: int, protocol: type[PunctualProtocol] = PunctualProtocol) -> Any:
    """A uvicorn server of the application; `run` serves until it is interrupted."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=protocol,
            ws="none",
            log_level="warning",
            server_header=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=ENDING_SECONDS,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        )
    )


def serve(app: ASGIApp, *, host: str, port: int) -> None:
    """Serves the application until it is interrupted."""
    make_server(app, host=host, port=port).run()

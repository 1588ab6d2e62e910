"""Server-sent events: how one is written, and how a stream of them stays open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.responses import StreamingResponse

_QUIET_SECONDS: Final = 15.0


def event(kind: str, data: Any) -> str:
    """One event with JSON data."""
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def event_stream(happenings: AsyncIterator[tuple[str, Any]]) -> StreamingResponse:
    """The response that sends each happening as it comes; a comment now and then keeps the connection open."""
    return StreamingResponse(_events(happenings), media_type="text/event-stream", headers={"cache-control": "no-store"})


async def _events(happenings: AsyncIterator[tuple[str, Any]]) -> AsyncIterator[str]:
    waiting: asyncio.Task[tuple[str, Any]] | None = None
    try:
        while True:
            waiting = waiting or asyncio.create_task(_next(happenings))
            done, _ = await asyncio.wait([waiting], timeout=_QUIET_SECONDS)
            if not done:
                yield ": still here\n\n"
                continue
            try:
                yield event(*waiting.result())
            except StopAsyncIteration:
                return
            waiting = None
    finally:
        if waiting is not None:
            waiting.cancel()


async def _next(happenings: AsyncIterator[tuple[str, Any]]) -> tuple[str, Any]:
    return await anext(happenings)

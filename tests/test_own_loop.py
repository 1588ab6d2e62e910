"""Coroutines run for a caller who does not await."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest

from infold.own_loop import in_own_loop


async def interrupted() -> None:
    await asyncio.sleep(0)
    raise KeyboardInterrupt


async def waiting(ended: list[str]) -> None:
    try:
        await asyncio.sleep(60)
    finally:
        ended.append("waiting")


async def in_a_group(ended: list[str], interruptions: int) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(waiting(ended))
        for _ in range(interruptions):
            group.create_task(interrupted())


async def within(work, *arguments) -> None:
    in_own_loop(work(*arguments))


@pytest.mark.parametrize("interruptions", [1, 3])
@pytest.mark.parametrize("has_loop", [False, True])
def test_an_interruption_reaches_the_caller_and_leaves_nothing_behind(interruptions, has_loop, caplog, capfd):
    """Whichever task it comes from: all others have ended, and no error waits to be told when memory is cleared."""
    ended: list[str] = []
    arguments = (ended, interruptions)
    work = within(in_a_group, *arguments) if has_loop else in_a_group(*arguments)
    with caplog.at_level(logging.ERROR), pytest.raises(KeyboardInterrupt):
        in_own_loop(work)
    gc.collect()
    assert ended == ["waiting"]
    assert (caplog.text, capfd.readouterr().err) == ("", "")


def test_the_coroutine_itself_may_end_the_program(caplog):
    """SystemExit keeps its code."""

    async def leaving() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit) as ended:
        in_own_loop(leaving())
    gc.collect()
    assert (ended.value.code, caplog.text) == (3, "")

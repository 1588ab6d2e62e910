"""A disk on which the world stops at a chosen effect: nothing after it happens, a write may be torn."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from infold.durable.files import Disk

Moment = Literal["before", "torn", "after"]
MOMENTS: tuple[Moment, ...] = ("before", "torn", "after")


class Stopped(BaseException):
    """The process is gone. No handler of the code under test may take it for an error."""


RENAMES = ("replace", "rename", "exchange", "add", "remove")


@contextlib.contextmanager
def stopping_at(effect: int, moment: Moment) -> Iterator[None]:
    """Within, the effect of that number (from 0) is the last: not begun, torn (a write), or just done."""
    count = itertools.count()
    write = Disk.write

    def stop(number: int, now: Moment) -> None:
        if number == effect and (now == moment or (now == "after" and moment == "torn")):
            raise Stopped

    def stopping_write(self: Disk, path: Path, data: bytes, like: Path | None = None, mode: int = 0o600) -> None:
        number = next(count)
        stop(number, "before")
        if number == effect and moment == "torn":
            write(self, path, data[: len(data) // 2], like, mode)
            raise Stopped
        write(self, path, data, like, mode)
        stop(number, "after")

    def stopping(real: Callable[..., Any]) -> Callable[..., Any]:
        def effect_of(self: Disk, *paths: Path) -> Any:
            number = next(count)
            stop(number, "before")
            done = real(self, *paths)
            stop(number, "after")
            return done

        return effect_of

    with pytest.MonkeyPatch.context() as patch:
        for name in RENAMES:
            patch.setattr(Disk, name, stopping(getattr(Disk, name)))
        patch.setattr(Disk, "write", stopping_write)
        yield


def stops(moment: Moment, action: Callable[[int], None], most: int = 500) -> int:
    """Calls `action(k)`, which stops at effect k, for every k there is; gives how many there are."""
    for effect in range(most):
        try:
            with stopping_at(effect, moment):
                action(effect)
        except Stopped:
            continue
        return effect
    raise AssertionError(f"more than {most} effects")

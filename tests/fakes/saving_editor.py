"""An editor that saves at a chosen moment: before a chosen system call of whoever else works on the same folder.

Every call that Python makes for a file is announced by `sys.addaudithook` or passes `os` or `ctypes`; here the audited
ones count, and those of `durable.exchange`, which ctypes makes.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from infold.durable import exchange

_CALLS: Final = frozenset(
    {"open", "os.rename", "os.remove", "os.link", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.truncate"}
)
_watching: list[Callable[[], None]] = []


def _heard(event: str, _arguments: tuple[Any, ...]) -> None:
    if _watching and event in _CALLS:
        _watching[-1]()


sys.addaudithook(_heard)


def _not_waiting(_descriptor: int) -> None:
    """In place of `os.fsync`: no power is cut here, and the disk is slow."""


@contextlib.contextmanager
def saving_at(call: int, save: Callable[[], None]) -> Iterator[list[int]]:
    """Within, `save` happens just before the call of that number; the list that is given has how many there were."""
    counted = [0]

    def tick() -> None:
        counted[0] += 1
        if counted[0] == call + 1:
            _watching.append(lambda: None)  # the editor's own calls do not count
            try:
                save()
            finally:
                _watching.pop()

    def ticking(real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            if _watching:
                _watching[-1]()
            return real(*given, **named)

        return called

    real, fsync = exchange._renamed, os.fsync
    exchange._renamed, os.fsync = ticking(real), ticking(_not_waiting)
    _watching.append(tick)
    try:
        yield counted
    finally:
        _watching.pop()
        exchange._renamed, os.fsync = real, fsync


def at_every_call(
    begin: Callable[[int], Any], act: Callable[[Any], object], save: Callable[[Any], object], step: int = 1
) -> Iterator[Any]:
    """`begin(n)`, then `act` on what it gave with a save before the call n, for every call there is; each is given.

    With a `step` only so many of them, others each time.
    """
    for call in range(os.getpid() % step, 5000, step):
        made = begin(call)
        with saving_at(call, lambda made=made: save(made)) as counted:  # type: ignore[arg-type, misc]
            act(made)
        if counted[0] <= call:
            return
        yield made
    raise AssertionError("more calls than there can be")


def append(file: Path, text: str) -> None:
    """Adds to the end of a file in place, as `echo >>` does."""
    with file.open("a", encoding="utf-8", newline="") as out:
        out.write(text)


def overwrite(file: Path, text: str) -> None:
    """Writes a file anew in place, as many editors do: the same text with a line in front."""
    old = file.read_bytes().decode() if file.exists() else ""
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write(text + old)


def replace(file: Path, text: str) -> None:
    """Saves through another file that is renamed, as many other editors do: the same text with a line in front."""
    old = file.read_bytes().decode() if file.exists() else ""
    beside = file.with_name(f"{file.name}.swp")
    beside.write_bytes((text + old).encode())
    beside.replace(file)


SAVES: Final = {"append": append, "overwrite": overwrite, "replace": replace}

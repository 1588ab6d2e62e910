"""The files of a change one by one, while they are changed: what each has, what it gets, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from infold.durable.records import Done, Kept, Planned
from infold.durable.replacing import Replacement
from infold.text import content_hash

ROUND: Final = 500  # files whose new bytes lie ready at once


@dataclass(slots=True)
class FileStep:
    """One file while it is changed: what it has now, and what it gets where that is not there yet."""

    file: Planned
    place: Replacement
    current: bytes | None = None
    after: bytes = b""

    @property
    def is_put(self) -> bool:
        """Whether the file gets bytes that it does not have."""
        now = hash_of(self.current)
        return self.file.after is not None and now != self.file.after and now == self.file.before

    def carried_out(self) -> bool:
        """Does it; False where the file is not as it was to be before."""
        if self.is_put:
            is_put = self.place.put_prepared(self.current, self.after)
            return is_put or hash_of(self.place.current()) == self.file.after
        now = hash_of(self.current)
        if now == self.file.after:
            return True
        return now == self.file.before and self.current is not None and self.place.take_away(self.current)


@dataclass(slots=True)
class Outcome:
    """What became of the files so far."""

    written: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)

    def done(self) -> Done:
        """As the journal keeps it."""
        return Done(
            written=tuple(self.written),
            conflicts=tuple(self.conflicts),
            withheld=tuple(self.withheld),
            kept=tuple(self.kept),
        )


def rounds(files: Sequence[Planned], target: Callable[[str], Path]) -> Iterator[Sequence[Planned]]:
    """The files in their order, many at a time; one that needs all before it is by itself.

    `target` gives the real file behind a path: no file is twice in one round.
    """
    waiting: dict[Path, Planned] = {}
    for file in files:
        place = target(file.path)
        if waiting and (file.needs_all or place in waiting or len(waiting) == ROUND):
            yield [*waiting.values()]
            waiting = {}
        if file.needs_all:
            yield [file]
        else:
            waiting[place] = file
    if waiting:
        yield [*waiting.values()]


def hash_of(data: bytes | None) -> str | None:
    """The name of a content; None for that of no file."""
    return None if data is None else content_hash(data)

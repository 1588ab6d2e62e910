"""What a feed has against what the index holds: what to read, what to write, and what to take away. Pure.

A file of the time and size known is taken as unchanged, unless it was written shortly before its bytes were compared,
or later: two writes within a moment may leave one time. Then, and whenever time or size differ, its hash decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from infold.search.index.feeds import Item, ReadRequest, ReadResult
from infold.search.index.manifest import IndexedNote
from infold.vault.scanning import Skipped

RACE_NS: Final = 2_000_000_000  # two writes within this time may leave a file with one time stamp
ROUND_PASSAGES: Final = 4000  # between two flushes
ROUND_NOTES: Final = 1000
MANY_NOTES: Final = 20_000  # of which a round takes four times as many: the words are in fewer parts, each asked anew
MANY_TIMES: Final = 4

_T = TypeVar("_T")


def to_read(items: Iterable[Item], known: Mapping[str, IndexedNote], moment_ns: int = -1) -> list[ReadRequest]:
    """The items whose bytes have to be looked at, each with the hash that stands for "as it is in the index".

    `moment_ns` is that of this sync: what it has written itself is as it is.
    """
    wanted = []
    for item in items:
        row = known.get(item.path)
        if row is None or row.variant != item.variant:
            wanted.append(ReadRequest(item, ""))
        elif (item.mtime_ns, item.size) != (row.mtime_ns, row.size) or _is_late(row, moment_ns):
            wanted.append(ReadRequest(item, row.sha256))
    return wanted


def doubtful(items: Sequence[Item], stamps: Sequence[tuple[str, int, int, str]]) -> set[str]:
    """The paths of which the index does not hold for certain what there is, by the stamps of its manifest.

    Nothing else is to be read, and nothing else is gone. It takes least time where both are lists by path, and equal.
    """
    return set() if items == stamps else {row[0] for row in set(items).symmetric_difference(stamps)}


def _is_late(row: IndexedNote, moment_ns: int) -> bool:
    """Whether a file was written so shortly before it was read that it may have changed without another time."""
    return row.mtime_ns >= row.indexed_ns - RACE_NS and row.indexed_ns != moment_ns


def is_certain(items: Iterable[Item], started_ns: int) -> bool:
    """Whether what was read of these since `started_ns` cannot change without another time of its file."""
    return all(item.mtime_ns < started_ns - RACE_NS for item in items)


def gone(
    known: Collection[str], items: Iterable[Item], skipped: Iterable[Skipped], paths: Collection[str] | None = None
) -> list[str]:
    """The paths that leave the index: neither there nor only out of reach. With `paths` no others are looked at."""
    absent = set(known) - {item.path for item in items}
    if paths is not None:
        absent &= set(paths)
    kept = {item.path.rstrip("/") for item in skipped if item.is_kept} if absent else set()
    return sorted(path for path in absent if not _is_within(path, kept))


def rounds(
    values: Iterable[_T], weight: Callable[[_T], int], heaviest: int | None = None, most: int | None = None
) -> Iterator[list[_T]]:
    """The values in rounds of bounded size, as they come: of ROUND_PASSAGES by weight, or ROUND_NOTES."""
    heaviest, most = heaviest or ROUND_PASSAGES, most or ROUND_NOTES
    batch: list[_T] = []
    size = 0
    for value in values:
        batch.append(value)
        size += weight(value)
        if size >= heaviest or len(batch) >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def write_rounds(found: Iterable[ReadResult], total: int) -> Iterator[list[ReadResult]]:
    """What was read of `total` files, in rounds of bounded size."""
    if total <= MANY_NOTES:
        return rounds(found, passages_of)
    return rounds(found, passages_of, MANY_TIMES * ROUND_PASSAGES, MANY_TIMES * ROUND_NOTES)


def passages_of(reading: ReadResult) -> int:
    """How many passages came of an item."""
    return len(reading.points.points) if reading.points is not None else 0


def failures(readings: Sequence[ReadResult]) -> list[Skipped]:
    """What could not be read, and why."""
    return [Skipped(reading.item.path, reading.reason, reading.is_kept) for reading in readings if reading.reason]


def _is_within(path: str, names: Collection[str]) -> bool:
    """Whether a path, or a folder above it, is among `names`; `.` is above everything."""
    if not names:
        return False
    if "." in names or path in names:
        return True
    folder = path.rpartition("/")[0]
    while folder:
        if folder in names:
            return True
        folder = folder.rpartition("/")[0]
    return False

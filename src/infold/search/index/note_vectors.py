"""What each note is about: the direction of the mean of its passages' vectors, four bits a dimension. SQLite.

Derived from the vectors and written after them, for feeds that give a path whole. A path that has none here is taken by
its passages; lost or broken, it costs a rebuild, nothing else.
"""

from __future__ import annotations

import json
import math
import sys
import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from operator import add, mul, sub
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from infold.durable.files import stamp_of
from infold.durable.sqlite import Database, Schema
from infold.errors import IndexDamaged, IndexFault
from infold.few_vectors import FEW, length_of, multiplied, total
from infold.search.index.contract import AnyVector, QueryVector
from infold.search.index.point_ids import point_number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    _Float = TypeVar("_Float", np.float32, np.float64)

_BYTES: Final = ("CREATE TABLE means (path TEXT PRIMARY KEY, scale REAL NOT NULL, vector BLOB NOT NULL) WITHOUT ROWID",)
_FOUR_BITS: Final = (  # by the number of a path; `squares` is the sum of those of its levels
    "DROP TABLE means",
    "CREATE TABLE means (number INTEGER PRIMARY KEY, squares INTEGER NOT NULL, vector BLOB NOT NULL)",
)
_SCHEMA: Final = Schema(
    "the vectors of whole notes",
    "means",
    (_BYTES, _FOUR_BITS),
    IndexDamaged,
    hint="`infold index` makes the index anew.",
    synchronous="NORMAL",
)
_FIND: Final = "SELECT number, squares, vector FROM means WHERE number IN (SELECT value FROM json_each(?))"
_MOST_READ: Final = 16_384  # means that are held, some 8 MB
_MANY: Final = 4_000  # compared by one process, from which on it pays to load numpy
_Row = tuple[float, int]  # by what to multiply the levels of a mean, and where among those read it stands
_NONE: Final[_Row] = (0.0, -1)
# The sixteen levels of a dimension, as a signed byte each: those that lose least of numbers that are spread as a normal
# distribution is, the largest at 2.73 times the spread.
_UPPER: Final = (6, 18, 31, 44, 58, 75, 96, 127)
_LEVELS: Final = (*(-level for level in reversed(_UPPER)), *_UPPER)
_SQUARES: Final = array("q", [level * level for level in _LEVELS])
_STEPS_A_SPREAD: Final = 127 / 2.7326
_BETWEEN: Final = array("f", [(low + high) / 2 for low, high in pairwise(_LEVELS)])
_LOW: Final = array("b", [_LEVELS[byte % 16] for byte in range(256)]).tobytes()  # the level of a byte's lower half
_HIGH: Final = array("b", [_LEVELS[byte // 16] for byte in range(256)]).tobytes()
_HIGHER: Final = 16


class NoteVectors:
    """The mean vectors in `file`, made on first use unless they are only read. Raises IndexFault where damaged."""

    def __init__(self, file: Path, *, read_only: bool = False) -> None:
        opened = Database.read_only if read_only else Database
        self._db: Database | None = opened(file, _SCHEMA)
        self._log = file.with_name(f"{file.name}-wal")
        self._closing = threading.Lock()
        self._state: object = None  # of the file, when these were read:
        self._rows: dict[str, _Row] = {}
        self._bytes = bytearray()
        self._compared = 0

    def replace(self, paths: Sequence[str], vectors: Iterable[tuple[str, AnyVector]]) -> None:
        """Forgets these paths and keeps the means of `vectors` by path, which are all there are of each."""
        found: dict[str, list[AnyVector]] = {}
        for path, vector in vectors:
            found.setdefault(path, []).append(vector)
        with self._held() as held, held.writing() as db:
            db.executemany("DELETE FROM means WHERE number = ?", [(point_number(path),) for path in paths])
            packed = (_packed_few if sum(map(len, found.values())) <= FEW else _packed)(found.values())
            rows = [(point_number(path), *mean) for path, mean in zip(found, packed, strict=True)]
            db.executemany("INSERT OR REPLACE INTO means VALUES (?, ?, ?)", rows)

    def cosines(self, vector: QueryVector, paths: Sequence[str]) -> dict[str, float]:
        """How near each of these paths is to a question's vector of length 1, as far as they are here."""
        with self._held() as held:
            self._read_in(held, paths, _even(len(vector)) // 2)
            there = [(path, *self._rows[path]) for path in paths if self._rows[path] is not _NONE]
            sums = self._products(vector, [row for _, _, row in there])
        return {path: scale * product for (path, scale, _), product in zip(there, sums, strict=True)}

    def _products(self, vector: QueryVector, rows: Sequence[int]) -> list[float]:
        """The scalar products of a vector with these rows of what was read."""
        self._compared += len(rows)
        width = _even(len(vector))
        part = 0.5 ** (_rounds(width) / 2)  # of what mixing makes it
        if self._compared < _MANY and "numpy" not in sys.modules:
            asked = _mixed_few(array("d", [*vector.tolist(), 0.0][:width])).tolist()
            read = memoryview(self._bytes).cast("b")
            return [part * sum(map(mul, asked, read[row * width : (row + 1) * width])) for row in rows]
        import numpy as np

        wanted = _mixed(np.append(np.asarray(vector, np.float64), 0.0)[:width])
        means = np.frombuffer(self._bytes, dtype=np.int8).reshape(-1, width)[rows]
        found: list[float] = (np.einsum("ij,j->i", means.astype(np.float64), wanted) * part).tolist()
        return found

    def _read_in(self, held: Database, paths: Sequence[str], size_bytes: int) -> None:
        """Has these paths read, and kept until something is written: one search asks for what others did."""
        state = stamp_of(held.file), stamp_of(self._log)
        if state != self._state or len(self._rows) > _MOST_READ:
            self._state, self._rows, self._bytes = state, {}, bytearray()
        missing = [path for path in paths if path not in self._rows]
        if not missing:
            return
        by_number = {point_number(path): path for path in missing}
        with held.reading() as db:
            found = db.execute(_FIND, (json.dumps([*by_number]),)).fetchall()
        self._rows |= dict.fromkeys(missing, _NONE)
        for number, squares, mean in found:
            if not isinstance(squares, int) or squares < 0 or not isinstance(mean, bytes) or len(mean) != size_bytes:
                raise IndexDamaged(f"{held.file.name} ({_SCHEMA.name}) is damaged.", hint=_SCHEMA.hint)
            if squares:
                self._rows[by_number[number]] = 1 / math.sqrt(squares), len(self._bytes) // (2 * len(mean))
                self._bytes += mean.translate(_LOW) + mean.translate(_HIGH)

    def compact(self) -> None:
        """Fills the pages of the file, of which notes that come in any order leave a third empty."""
        with self._held() as held, held.alone() as db:
            db.execute("VACUUM")

    def close(self) -> None:
        """Lets go of the file. Calling it again does nothing."""
        with self._closing:
            db, self._db = self._db, None
            if db is not None:
                db.close()

    @contextmanager
    def _held(self) -> Iterator[Database]:
        """The open file, which nobody closes meanwhile."""
        with self._closing:
            if self._db is None:
                raise IndexFault("The search index is closed.")
            yield self._db


def _packed_few(notes: Iterable[Sequence[AnyVector]]) -> list[tuple[int, bytes]]:
    """As `_packed` does it, to the last bit, without numpy."""
    return [_packed_one(vectors) for vectors in notes]


def _packed_one(vectors: Sequence[AnyVector]) -> tuple[int, bytes]:
    mean = total([vector.tolist() for vector in vectors], len(vectors[0]))
    mixed = _mixed_few(array("f", [*mean, 0.0][: _even(len(mean))]))
    length = length_of(mixed)
    codes = [bisect_left(_BETWEEN, step) for step in multiplied(mixed, _steps(len(mixed)) / (length or 1))]
    half = len(codes) // 2
    pairs = zip(codes[:half], codes[half:], strict=True)
    squares = sum(_SQUARES[code] for code in codes) if length else 0
    return squares, bytes(low + high * _HIGHER for low, high in pairs)


def _packed(notes: Iterable[Sequence[AnyVector]]) -> list[tuple[int, bytes]]:
    """The direction of the mean of each note's vectors, mixed: the sum of its levels' squares, and the levels.

    The sum is 0 where the vectors cancel out, and the mean is near to nothing. Two levels are in a byte, the first half
    of them in the lower bits, so that each half is read in one go.
    """
    import numpy as np

    means = np.array([np.asarray(vectors, dtype=np.float32).sum(axis=0) for vectors in notes])
    mixed = _mixed(np.pad(means, ((0, 0), (0, means.shape[1] % 2))))
    lengths = np.sqrt(np.add.reduce(mixed * mixed, axis=1)).astype(np.float64)
    factors = _steps(mixed.shape[1]) / np.where(lengths, lengths, 1)
    codes = np.searchsorted(np.asarray(_BETWEEN), mixed * factors.astype(np.float32)[:, None]).astype(np.uint8)
    squares = np.where(lengths, np.asarray(_SQUARES)[codes].sum(axis=1), 0)
    low, high = np.split(codes, 2, axis=1)
    return list(zip(squares.tolist(), map(bytes, low + high * np.uint8(_HIGHER)), strict=True))


def _mixed(vectors: npt.NDArray[_Float]) -> npt.NDArray[_Float]:
    """Vectors of even size turned so that each number has a part in all: none is far larger than the others then.

    Lengths and angles are as before, but for a factor of the root of two a round.
    """
    import numpy as np

    for _ in range(_rounds(vectors.shape[-1])):
        even, odd = vectors[..., ::2], vectors[..., 1::2]
        vectors = np.concatenate((even + odd, even - odd), axis=-1)
    return vectors


def _mixed_few(vector: array[float]) -> array[float]:
    """The same without numpy."""
    for _ in range(_rounds(len(vector))):
        even, odd = vector[::2], vector[1::2]
        vector = array(vector.typecode, chain(map(add, even, odd), map(sub, even, odd)))
    return vector


def _rounds(size: int) -> int:
    return (size - 1).bit_length()


def _even(size: int) -> int:
    return size + size % 2


def _steps(size: int) -> float:
    """By what to multiply the numbers of a vector of length 1, so that they are steps of the levels."""
    return _STEPS_A_SPREAD * math.sqrt(size)

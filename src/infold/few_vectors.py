"""Sums and lengths of a few vectors of 32-bit floats, without numpy, which takes longer to load than they do.

Each step is rounded to 32 bits and in numpy's order, so that a vector is the same to the last bit whichever way it was
made: a note's vectors do not depend on how many others were indexed with it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import add, mul
from struct import pack, unpack
from typing import Final

FEW: Final = 64  # vectors, of which this is quicker than to load numpy
_FLOATS: Final = "f"  # 32 bits: what is put in is rounded
_BLOCK: Final = 128  # numbers that numpy adds up in a row, eight sums side by side; of more, two halves
_SIDE: Final = 8


def total(rows: Iterable[Sequence[float]], size: int) -> array[float]:
    """The sum of rows of this size, one added after the other."""
    found = array(_FLOATS, bytes(4 * size))
    for row in rows:
        found = array(_FLOATS, map(add, found, row))
    return found


def divided(vector: Iterable[float], by: float) -> array[float]:
    """Each number divided."""
    return array(_FLOATS, [number / by for number in vector])


def multiplied(vector: Iterable[float], by: float) -> array[float]:
    """Each number times another, which is rounded to 32 bits first."""
    factor = _rounded(by)
    return array(_FLOATS, [number * factor for number in vector])


def length_of(vector: Sequence[float]) -> float:
    """The root of the sum of squares."""
    return _rounded(math.sqrt(_added(array(_FLOATS, map(mul, vector, vector)))))


def halves_of(vector: Sequence[float]) -> bytes:
    """The numbers as 16-bit floats, low byte first."""
    return pack(f"<{len(vector)}e", *vector)


def of_halves(data: bytes) -> array[float]:
    """The vector of such bytes."""
    return array(_FLOATS, unpack(f"<{len(data) // 2}e", data))


def _added(numbers: array[float]) -> float:
    """The sum, in the order in which numpy adds numbers that lie side by side."""
    count = len(numbers)
    if count > _BLOCK:
        half = count // 2
        half -= half % _SIDE
        return _rounded(_added(numbers[:half]) + _added(numbers[half:]))
    whole = count - count % _SIDE
    found = _side_by_side(numbers[:whole]) if whole else 0.0
    for number in numbers[whole:]:
        found = _rounded(found + number)
    return found


def _side_by_side(numbers: array[float]) -> float:
    """The sum of eight sums, each of every eighth number; those then by twos."""
    sums = numbers[:_SIDE]
    for at in range(_SIDE, len(numbers), _SIDE):
        sums = array(_FLOATS, map(add, sums, numbers[at : at + _SIDE]))
    while len(sums) > 1:
        sums = array(_FLOATS, map(add, sums[::2], sums[1::2]))
    return sums[0]


def _rounded(number: float) -> float:
    return array(_FLOATS, [number])[0]

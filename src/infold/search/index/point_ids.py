"""The ids of passages, made of where a text stands and of the text itself, so that whoever has both can tell.

And the numbers by which engines know points: a passage's id is its number as it is written, so that neither is kept
beside the other; another id has one made of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

_NUMBER_BITS: Final = 63
_PASSAGE_BITS: Final = 39  # the 24 above them are of the path, alike for all passages of a note
_END: Final = "\0"  # of what is hashed together
_PASSAGE_ID: Final = re.compile("[0-7][0-9a-f]{15}")


def passage_ids(path: str, text_hashes: Sequence[str]) -> list[str]:
    """The ids of the passages of a note: the same text has the same, wherever it stands there."""
    seen: dict[str, int] = {}
    ids = []
    for text_hash in text_hashes:
        ordinal = seen[text_hash] = seen.get(text_hash, -1) + 1
        ids.append(point_id(path, ordinal, text_hash))
    return ids


def point_id(path: str, ordinal: int, text_hash: str) -> str:
    """The id of a passage; `ordinal` counts passages of one note with the very same text, from 0.

    Two of a note of 1,500 passages share one by a chance of 1 in 500,000, two of different notes by none that matters.
    """
    return f"{_of_path(path) | _hashed(f'{path}{_END}{ordinal}{_END}{text_hash}', _PASSAGE_BITS):016x}"


def point_number(id_: str) -> int:
    """The number of the point of this id, of 63 bits: what a passage's id says, a hash of another.

    Two hashes of a million are alike by a chance of 1 in 10^7. Their points would share a vector then.
    """
    return int(id_, 16) if _PASSAGE_ID.fullmatch(id_) else _hashed(id_, _NUMBER_BITS)


def passage_id(number: int) -> str:
    """The id of the passage of this number."""
    return f"{number:016x}"


def bucket_of(number: int) -> int:
    """What all passages of a note have in common in their numbers, and few others: points are looked up by that."""
    return number >> _PASSAGE_BITS


@lru_cache(maxsize=64)
def _of_path(path: str) -> int:
    return _hashed(path, _NUMBER_BITS - _PASSAGE_BITS) << _PASSAGE_BITS


def _hashed(text: str, bits: int) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - bits)

"""The ids of passages, made of where a text stands and of the text itself, so that whoever has both can tell.

And the numbers by which engines of vectors know points: made of ids, for a number takes less room and time than an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b


def passage_ids(path: str, text_hashes: Sequence[str]) -> list[str]:
    """The ids of the passages of a note: the same text has the same, wherever it stands there."""
    seen: dict[str, int] = {}
    ids = []
    for text_hash in text_hashes:
        ordinal = seen[text_hash] = seen.get(text_hash, -1) + 1
        ids.append(point_id(path, ordinal, text_hash))
    return ids


def point_id(path: str, ordinal: int, text_hash: str) -> str:
    """The id of a passage; `ordinal` counts passages of one note with the very same text, from 0."""
    digits = blake2b(f"{path}\0{ordinal}\0{text_hash}".encode(), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"  # as a UUID is written


def point_number(id_: str) -> int:
    """The number of the point of this id: 63 bits, so that two of a million points share one by a chance of 1 in 10^7.

    They would share a vector then, and be found by words as ever.
    """
    return int.from_bytes(blake2b(id_.encode(), digest_size=8).digest(), "little") >> 1

"""Calls of an index and their answers as bytes: MessagePack, in frames of `search.shared.frames`.

Nothing but numbers, text, bytes, lists and maps is ever decoded, sizes are bounded, and what does not have the expected
shape is refused: bytes from a socket are data. Who speaks to whom belongs to `search.shared.index_server` and
`search.shared.shared_index`.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import msgpack

from infold.errors import IndexDamaged, IndexFault, InfoldError, StateUnwritable, VaultBusy
from infold.search.index.contract import QueryVector, Vector, VectorIndex, VectorRecord
from infold.search.shared.frames import MAX_FRAME_BYTES, Disconnected

PROTOCOL: Final = 4  # two that differ do not speak with each other
_FLOAT32: Final = "<f4"
_NUMBER: Final = struct.Struct("<Q")

_FAULTS: Final[dict[str, type[InfoldError]]] = {
    kind.__name__: kind for kind in (IndexDamaged, IndexFault, StateUnwritable, VaultBusy)
}


def packed(value: object) -> bytes:
    """What a frame of this value holds. Raises IndexFault where it would be too big."""
    body = msgpack.packb(value, use_bin_type=True)
    if len(body) > MAX_FRAME_BYTES:
        raise IndexFault(f"{len(body)} bytes are too many for one call of the search index.")
    return bytes(body)


def unpacked(body: bytes) -> Any:
    """The value of a frame. Raises Disconnected where it is none."""
    try:
        return msgpack.unpackb(body, raw=False, strict_map_key=True)
    except (ValueError, msgpack.UnpackException) as error:
        raise Disconnected(f"no frame: {error}") from error


def fault_frame(error: InfoldError) -> list[Any]:
    """An answer that says what failed."""
    kind = next((name for name, one in _FAULTS.items() if isinstance(error, one)), "IndexFault")
    return [kind, str(error), error.hint]


def value_frame(value: object) -> list[Any]:
    """An answer that holds what was asked for."""
    return ["", value, ""]


def opened(answer: Any) -> Any:
    """What the answer holds. Raises the error that it says."""
    try:
        kind, value, hint = answer
    except (TypeError, ValueError) as error:
        raise Disconnected("no answer") from error
    if kind:
        raise _FAULTS.get(kind, IndexFault)(str(value), hint=str(hint))
    return value


def pack_vector(vector: QueryVector) -> bytes:
    """The numbers of a vector as 32-bit floats."""
    if isinstance(vector, array):
        return struct.pack(f"<{len(vector)}f", *vector)
    return bytes(vector.astype(_FLOAT32, copy=False).tobytes())


def unpack_vector(data: bytes) -> Vector:
    """The vector of these bytes."""
    import numpy as np

    return np.frombuffer(data, dtype=_FLOAT32)


def pack_records(records: Sequence[VectorRecord]) -> tuple[bytes, list[bytes]]:
    """The numbers of records, and their vectors in the same order."""
    return pack_numbers([record.number for record in records]), [pack_vector(record.vector) for record in records]


def pack_numbers(numbers: Collection[int]) -> bytes:
    """The numbers of points, eight bytes each."""
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def unpack_numbers(data: bytes) -> list[int]:
    """The numbers of these bytes."""
    return [number for (number,) in _NUMBER.iter_unpack(data)]


def _put(index: VectorIndex, numbers: bytes, vectors: list[bytes]) -> None:
    pairs = zip(unpack_numbers(numbers), vectors, strict=True)
    index.put([VectorRecord(number, unpack_vector(vector)) for number, vector in pairs])


def _delete(index: VectorIndex, numbers: bytes) -> None:
    index.delete(unpack_numbers(numbers))


def _query(index: VectorIndex, vector: bytes, limit: int, among: bytes | None) -> list[tuple[int, float]]:
    return index.query(unpack_vector(vector), limit, None if among is None else unpack_numbers(among))


def _vectors(index: VectorIndex, numbers: bytes) -> list[tuple[int, bytes]]:
    return [(one, pack_vector(vector)) for one, vector in index.vectors(unpack_numbers(numbers)).items()]


def _count(index: VectorIndex) -> int:
    return index.count()


def _flush(index: VectorIndex) -> None:
    index.flush()


CALLS: Final[dict[str, Callable[..., Any]]] = {
    "put": _put,
    "delete": _delete,
    "query": _query,
    "vectors": _vectors,
    "count": _count,
    "flush": _flush,
}


def answered(index: VectorIndex, body: bytes) -> bytes:
    """Does what a frame asks for, and gives the answer's frame. Raises Disconnected where it is none."""
    request = unpacked(body)
    try:
        return packed(answer(index, request))
    except IndexFault as error:
        return packed(fault_frame(error))


def answer(index: VectorIndex, request: Any) -> list[Any]:
    """Does what a frame asks for, and gives the answer's frame. A request of another shape is answered as a fault."""
    try:
        name, *arguments = request
        return value_frame(CALLS[name](index, *arguments))
    except InfoldError as error:
        return fault_frame(error)
    except (TypeError, ValueError, KeyError, AttributeError, struct.error) as error:
        return fault_frame(IndexFault(f"The search index was asked something it does not understand: {error!r}."))

"""Calls of an index and their answers as bytes: frames on a socket, MessagePack inside.

Nothing but numbers, text, bytes, lists and maps is ever decoded, sizes are bounded, and what does not have the expected
shape is refused: bytes from a socket are data. Who speaks to whom belongs to `search.shared.index_server` and
`search.shared.shared_index`.
"""

from __future__ import annotations

import socket
import struct
from array import array
from collections.abc import Callable, Mapping
from dataclasses import astuple, fields
from operator import attrgetter
from typing import Any, Final

import msgpack

from infold.errors import IndexFault, InfoldError, StateUnwritable, VaultBusy
from infold.search.index.contract import Asked, Filter, Hit, Index, IndexPoint, Vector

PROTOCOL: Final = 1  # two that differ do not speak with each other
MAX_FRAME_BYTES: Final = 512 * 1024 * 1024
_LENGTH: Final = struct.Struct(">I")
_READ_BYTES: Final = 1024 * 1024
_DENSE: Final = 9
_FLOAT32: Final = "<f4"

_FAULTS: Final[dict[str, type[InfoldError]]] = {
    kind.__name__: kind for kind in (IndexFault, StateUnwritable, VaultBusy)
}


class Disconnected(Exception):
    """The other side is gone, or sends what is no frame."""


def send(connection: socket.socket, value: object) -> None:
    """Sends one frame. Raises Disconnected, and TimeoutError where the socket has a limit."""
    body = msgpack.packb(value, use_bin_type=True)
    if len(body) > MAX_FRAME_BYTES:
        raise IndexFault(f"{len(body)} bytes are too many for one call of the search index.")
    try:
        connection.sendall(_LENGTH.pack(len(body)) + body)
    except TimeoutError:
        raise
    except OSError as error:
        raise Disconnected(str(error)) from error


def receive(connection: socket.socket, most_bytes: int = MAX_FRAME_BYTES) -> Any:
    """The next frame. Raises Disconnected, and TimeoutError where the socket has a limit."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > most_bytes:
        raise Disconnected(f"a frame of {length} bytes")
    body = _exactly(connection, length)
    try:
        return msgpack.unpackb(body, raw=False, strict_map_key=True)
    except (ValueError, msgpack.UnpackException) as error:
        raise Disconnected(f"no frame: {error}") from error


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        try:
            part = connection.recv(min(count, _READ_BYTES))
        except TimeoutError:
            raise
        except OSError as error:
            raise Disconnected(str(error)) from error
        if not part:
            raise Disconnected("the other side is gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


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


def pack_vector(vector: Asked | None) -> bytes | None:
    """The numbers of a vector as 32-bit floats."""
    if vector is None:
        return None
    if isinstance(vector, array):
        return struct.pack(f"<{len(vector)}f", *vector)
    return bytes(vector.astype(_FLOAT32, copy=False).tobytes())


def unpack_vector(data: bytes | None) -> Vector | None:
    """The vector of these bytes."""
    import numpy as np

    return None if data is None else np.frombuffer(data, dtype=_FLOAT32)


_point_values = attrgetter(*(field.name for field in fields(IndexPoint)))
_hit_values = attrgetter(*(field.name for field in fields(Hit)))


def pack_point(point: IndexPoint) -> list[Any]:
    """The values of a point in the order of its fields."""
    values = list(_point_values(point))
    values[_DENSE] = pack_vector(point.dense)
    return values


def unpack_point(values: list[Any]) -> IndexPoint:
    """The point of these values."""
    (id_, path, start, end, title, trail, kind, source, (indices, weights), dense, date, tags, *rest) = values
    vector = unpack_vector(dense)
    return IndexPoint(
        id_, path, start, end, title, tuple(trail), kind, source, (indices, weights), vector, date, tuple(tags), *rest
    )


def pack_hit(hit: Hit) -> list[Any]:
    """The values of a hit in the order of its fields."""
    return list(_hit_values(hit))


def unpack_hit(values: list[Any]) -> Hit:
    """The hit of these values."""
    return Hit(*_with_tuples(values))


def pack_filter(where: Filter) -> list[Any]:
    """The values of a filter in the order of its fields."""
    return list(astuple(where))


def unpack_filter(values: list[Any]) -> Filter:
    """The filter of these values."""
    return Filter(*_with_tuples(values))


def _with_tuples(values: list[Any]) -> list[Any]:
    return [tuple(value) if isinstance(value, list) else value for value in values]


def _replace(index: Index, paths: list[str], points: list[Any]) -> None:
    index.replace(paths, [unpack_point(values) for values in points])


def _upsert(index: Index, points: list[Any]) -> None:
    index.upsert([unpack_point(values) for values in points])


def _delete(index: Index, ids: list[str]) -> None:
    index.delete(ids)


def _add_vectors(index: Index, vectors: Mapping[str, bytes]) -> None:
    index.add_vectors({point: vector for point, data in vectors.items() if (vector := unpack_vector(data)) is not None})


def _query_sparse(index: Index, query: list[Any], limit: int, where: list[Any]) -> list[Any]:
    indices, weights = query
    return [pack_hit(hit) for hit in index.query_sparse((indices, weights), limit, unpack_filter(where))]


def _query_dense(index: Index, query: bytes, limit: int, where: list[Any]) -> list[Any]:
    vector = unpack_vector(query)
    if vector is None:
        return []
    return [pack_hit(hit) for hit in index.query_dense(vector, limit, unpack_filter(where))]


def _count(index: Index, where: list[Any]) -> int:
    return index.count(unpack_filter(where))


def _flush(index: Index) -> None:
    index.flush()


CALLS: Final[dict[str, Callable[..., Any]]] = {
    "replace": _replace,
    "upsert": _upsert,
    "delete": _delete,
    "add_vectors": _add_vectors,
    "query_sparse": _query_sparse,
    "query_dense": _query_dense,
    "count": _count,
    "flush": _flush,
}


def answer(index: Index, request: Any) -> list[Any]:
    """Does what a frame asks for, and gives the answer's frame. A request of another shape is answered as a fault."""
    try:
        name, *arguments = request
        return value_frame(CALLS[name](index, *arguments))
    except InfoldError as error:
        return fault_frame(error)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        return fault_frame(IndexFault(f"The search index was asked something it does not understand: {error!r}."))

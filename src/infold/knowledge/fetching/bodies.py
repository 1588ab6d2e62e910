"""The body of an answer, read piece by piece and never further than allowed: bytes, packed and unpacked, and time."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Final

from infold.errors import FetchFailed, FetchRefused

ENCODINGS: Final = "gzip, deflate"
_PIECE: Final = 64 * 1024


def read_body(pieces: Iterable[bytes], encoding: str, most_bytes: int, is_late: Callable[[], bool]) -> bytes:
    """The unpacked body. Raises FetchRefused beyond `most_bytes`, packed or unpacked, and FetchFailed once late."""
    unpack = _unpacker(encoding)
    body = bytearray()
    received = 0
    for piece in pieces:
        received += len(piece)
        if received > most_bytes:
            raise too_large(most_bytes)
        if is_late():
            raise FetchFailed("The page takes longer than research.timeout_seconds allows.")
        for part in unpack(piece):
            body += part
            if len(body) > most_bytes:
                raise too_large(most_bytes)
    return bytes(body)


def too_large(most_bytes: int) -> FetchRefused:
    """The page has more bytes than are taken."""
    return FetchRefused(
        f"The page has more than {most_bytes:,} bytes.", hint="research.max_page_bytes sets how many are taken."
    )


def _unpacker(encoding: str) -> Callable[[bytes], Iterable[bytes]]:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda piece: (piece,)
    if name not in ("gzip", "x-gzip", "deflate"):
        raise FetchRefused(f"The page is packed as {encoding[:40]!r}, which was not asked for.")
    return _Inflating(is_gzip=name != "deflate")


class _Inflating:
    """Unpacks at most one small piece at a time, so that a bomb is noticed before it goes off."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._inflater = zlib.decompressobj(31 if is_gzip else 15)
        self._may_be_raw = not is_gzip  # some servers send deflate without its header

    def __call__(self, piece: bytes) -> Iterable[bytes]:
        rest = piece
        while rest:
            try:
                part = self._inflater.decompress(rest, _PIECE)
            except zlib.error as error:
                if not self._may_be_raw:
                    raise FetchFailed(f"The page cannot be unpacked: {error}.") from error
                self._inflater, self._may_be_raw = zlib.decompressobj(-15), False
                continue
            self._may_be_raw = False
            rest = self._inflater.unconsumed_tail
            if part:
                yield part
            elif self._inflater.eof:
                return

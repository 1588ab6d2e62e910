"""Decisions already paid for, kept by content: one key function and one store for the whole product.

A key says what was asked, of whom, in which version; equal questions have equal keys in every process. What a payload
means belongs to whoever put it there.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Final

from pydantic import BaseModel

from infold.durable.files import Disk
from infold.errors import StateUnwritable

_KIND_SIGNS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_DIGEST_LENGTH: Final = 64


def content_key(kind: str, version: str, *parts: object) -> str:
    """The key of one decision, `kind/sha256`: equal for equal content, in every process and on every machine.

    Parts may be None, booleans, numbers, strings, bytes, enums, paths, sequences (a list equals a tuple), mappings and
    sets (in any order), dataclasses and pydantic models (by their class name and fields). Anything else is a TypeError:
    it would have no stable form.
    """
    if not kind or not set(kind) <= _KIND_SIGNS:
        raise ValueError(f"a kind is made of a-z, 0-9, - and _: {kind!r}")
    return f"{kind}/{hashlib.sha256(_canonical((kind, version, parts))).hexdigest()}"


def _canonical(value: object) -> bytes:
    """Bytes that only an equal value has: each value says its type and its length before itself."""
    match value:
        case None:
            return _sized(b"n", b"")
        case Enum():
            return _sized(b"e", _canonical((type(value).__name__, value.value)))
        case bool() | int() | float():
            return _sized(type(value).__name__[:1].encode(), repr(value).encode())
        case str():
            return _sized(b"s", value.encode("utf-8", "surrogatepass"))
        case bytes():
            return _sized(b"y", value)
        case PurePath():
            return _sized(b"p", value.as_posix().encode("utf-8", "surrogatepass"))
        case Mapping():
            return _sized(b"m", b"".join(sorted(_canonical(k) + _canonical(v) for k, v in value.items())))
        case set() | frozenset():
            return _sized(b"u", b"".join(sorted(_canonical(item) for item in value)))
        case Sequence():
            return _sized(b"l", b"".join(_canonical(item) for item in value))
    return _sized(b"r", _canonical((type(value).__name__, _fields(value))))


def _fields(value: object) -> dict[str, object]:
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no stable form to make a key of")


def _sized(tag: bytes, data: bytes) -> bytes:
    return tag + str(len(data)).encode() + b":" + data


class DecisionStore:
    """A folder of decisions, one JSON file a key. A decision is there whole, after any crash, or not at all.

    A file that cannot be read, was cut short or changed since counts as absent: the decision is taken again. Any number
    of processes may use one folder at once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> dict[str, Any] | None:
        """The payload kept under `key`, or None."""
        try:
            kept = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or kept.get("key") != key or not isinstance(kept.get("payload"), dict):
            return None
        payload: dict[str, Any] = kept["payload"]
        return payload if kept.get("sha256") == _digest(payload) else None

    def put(self, key: str, payload: dict[str, Any]) -> None:
        """Keeps `payload` (JSON values) under `key`, for good once this returns. Replaces a former one."""
        kept = {"key": key, "sha256": _digest(payload), "payload": payload}
        data = json.dumps(kept, ensure_ascii=True, allow_nan=False).encode()
        path = self._path(key)
        disk = Disk()
        disk.make_folder(path.parent)
        disk.write_whole(path, data, is_shared=True)

    def drop(self, key: str) -> None:
        """Forgets what is kept under `key`, if anything: the next one who asks takes the decision afresh."""
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            raise StateUnwritable(
                f"A decision cannot be removed from {self.folder}: {error.strerror or error}.",
                hint="Correct the permissions of the state folder.",
            ) from error

    def _path(self, key: str) -> Path:
        kind, _, digest = key.partition("/")
        if not kind or not set(kind) <= _KIND_SIGNS or len(digest) != _DIGEST_LENGTH or not digest.isalnum():
            raise ValueError(f"not a content key: {key!r}")
        return self.folder / kind / digest[:2] / f"{digest}.json"


def _digest(payload: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(payload, sort_keys=True, allow_nan=False).encode()).hexdigest()

"""A memory node: its properties, its hash, its measure in tokens, and how it is shown (spec 2, Node Structure).

Values only. Where nodes are kept is `rows`'s, how they are ordered `order`'s.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Final

from infold.errors import ContextFieldMissing, ContextFieldTooLong, TextNotStorable

CONTEXT_CHARACTERS: Final = 24
SUMMARY: Final = "summary"  # the context type of a summary
NOTE: Final = "note"  # the context type of a note beside a node


@dataclass(frozen=True, slots=True)
class Context:
    """What a node is for: three fields of 0 to 24 characters, all of them given (spec 2, Context Fields).

    Raises ContextFieldMissing where one is None or no string, ContextFieldTooLong where one is longer.
    """

    type: str
    name: str
    value: str

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_field(f"context_{field.name}", getattr(self, field.name))

    @classmethod
    def parse(cls, written: str) -> Context:
        """The context written as ``type:name:value``; colons after the second belong to the value.

        Raises ContextFieldMissing where there are fewer than three fields.
        """
        parts: list[str | None] = [*written.split(":", 2), None, None][:3]
        return cls(*parts)  # type: ignore[arg-type]  # None is what __post_init__ refuses by name

    def __str__(self) -> str:
        return _line(f"{self.type}:{self.name}:{self.value}")


@dataclass(frozen=True, slots=True)
class Node:
    """One row of the store, by the properties of the specification and in their order."""

    id: str
    parent_id: str | None  # None: the root of a tree
    text: str
    order_value: float
    token_count: int
    created_at: str  # ISO 8601, UTC, milliseconds
    updated_at: str
    context_type: str
    context_name: str
    context_value: str
    readonly: int  # 0 or 1
    hash: str  # what an update has to expect

    @property
    def context(self) -> Context:
        """The three context fields as one value."""
        return Context(self.context_type, self.context_name, self.context_value)

    @property
    def is_summary(self) -> bool:
        """Whether it stands for its children."""
        return self.context_type == SUMMARY

    @property
    def is_note(self) -> bool:
        """Whether it is a remark beside the sibling before it."""
        return self.context_type == NOTE

    def as_dict(self) -> dict[str, str | int | float | None]:
        """The properties by their names, for JSON and TOML."""
        return {name: getattr(self, name) for name in PROPERTIES}

    def __str__(self) -> str:
        return metadata(self.id, self.context_type, self.context_name, self.context_value, self.updated_at)


PROPERTIES: Final = tuple(field.name for field in fields(Node))


def metadata(node_id: str, context_type: str, context_name: str, context_value: str, updated_at: str) -> str:
    """Full node metadata in its standard form: ``ID type:name:value updated_at`` (spec 2, Standard Display Formats)."""
    return _line(f"{node_id} {context_type}:{context_name}:{context_value} {updated_at}")


def node_hash(parent_id: str | None, context: Context, text: str, order_value: float) -> str:
    """Base64 of the SHA-512 of the hashed fields, joined by pipes, None as "" (spec 2, Optimistic Locking).

    An order value is written as the shortest decimal that reads back as the same number, whole ones with ".0".
    """
    state = "|".join((parent_id or "", context.type, context.name, context.value, text, repr(order_value + 0.0)))
    return base64.b64encode(hashlib.sha512(state.encode()).digest()).decode()


def now() -> str:
    """The current time as nodes have it."""
    return written_time(datetime.now(UTC))


def written_time(moment: datetime) -> str:
    """A time in ISO 8601: UTC, milliseconds, ``Z``; one without a zone is taken as UTC."""
    known = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return known.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def checked_text(text: str) -> str:
    """`text`, where it can be kept. Raises TextNotStorable where it holds half a character (a lone surrogate)."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextNotStorable(
            f"The text cannot be kept: its character {error.start + 1} is half of a surrogate pair.",
            hint="Decode the source as what it is (UTF-16?) and give it again.",
        ) from error
    return text


def expected_hashes(nodes: Iterable[Node]) -> Mapping[str, str]:
    """The hash of each node by its id: what `summarise` has to be told of the nodes it was read from."""
    return {node.id: node.hash for node in nodes}


def _check_field(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise ContextFieldMissing(
            f"{name} is missing: context_type, context_name and context_value are all needed.",
            hint="Write the context as type:name:value; a field may be empty.",
            field=name,
        )
    if len(value) > CONTEXT_CHARACTERS:
        raise ContextFieldTooLong(
            f"{name} has {len(value)} characters; at most {CONTEXT_CHARACTERS} are allowed: {value[:40]!r}.",
            hint="Shorten it; what is longer belongs into the text.",
            field=name,
        )
    checked_text(value)


def _line(shown: str) -> str:
    """What is shown on one line: a line break in a field must not make two nodes of one."""
    return shown if shown.isprintable() else "".join(sign if sign.isprintable() else " " for sign in shown)

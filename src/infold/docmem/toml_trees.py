"""Trees as TOML, to be read and written by people and programs: written out, read in again, the tree is an equal one.

    format = "docmem/1"

    [[nodes]]
    id = "garden"
    context_type = "root"
    context_name = "purpose"
    context_value = "project"
    text = ""

    [[nodes]]
    parent_id = "garden"
    …

The first node is the upmost; each other one names a parent that stands above it. `id` is needed where a node has
children, `order_value` nowhere (the order is that of the file then), `readonly` is 0 where nothing is said (spec 2,
Import). A node is as old as `created_at` says, and was before what its `[[nodes.history]]` says, the oldest first.
`updated_at` is written for the reader and not read; nor are tokens and hash, where a file has them.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from infold.docmem.history import Version
from infold.docmem.node import Context, Node, node_hash, written_time
from infold.docmem.order import FIRST, STEP
from infold.docmem.tree_builder import TreeDraft
from infold.errors import ImportRefused, InfoldError

FORMAT: Final = "docmem/1"
_HINT: Final = "`infold docmem export --format toml` shows the form; correct the file and import it again."
_CONTEXT: Final = ("context_type", "context_name", "context_value")
_UNREAD: Final = ("token_count", "updated_at", "hash")
_KNOWN: Final = {
    "id", "parent_id", "text", "order_value", *_CONTEXT, "readonly", "marks", "created_at", "history", *_UNREAD,
}  # fmt: skip
_OF_VERSION: Final = ("operation", "replaced_at", "parent_id", "order_value", *_CONTEXT, "text")
_WRITTEN: Final = ("id", "parent_id", "order_value", *_CONTEXT, "readonly", "created_at", "updated_at")
_IN_LINE: Final = re.compile(r'[\\"\x00-\x08\x0a-\x1f\x7f]')
_IN_LINES: Final = re.compile(r'[\\\x00-\x08\x0b-\x1f\x7f]|"(?="|\Z)')
_SHORT: Final = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\r": "\\r"}
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


def written_toml(tree: Iterable[tuple[Node, Mapping[str, str], Sequence[Version]]]) -> Iterator[str]:
    """The lines of a subtree with the marks and versions of its nodes, given in reading order."""
    yield f'format = "{FORMAT}"'
    is_first = True
    for node, marks, versions in tree:
        yield ""
        yield "[[nodes]]"
        for name in _WRITTEN:
            if not (is_first and name == "parent_id"):
                yield f"{name} = {_value(getattr(node, name))}"
        if marks:
            pairs = ", ".join(f"{_key(name)} = {_string(value)}" for name, value in marks.items())
            yield f"marks = {{ {pairs} }}"
        yield f"text = {_string(node.text)}"
        for version in versions:
            yield "[[nodes.history]]"
            for name in _OF_VERSION:
                if (value := getattr(version, name)) is not None:
                    yield f"{name} = {_value(value)}"
        is_first = False


def toml_draft(text: str, name: str) -> TreeDraft:
    """The tree of a TOML file. Raises ImportRefused, naming the line or the node and what is wrong there."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ImportRefused(f"{name} is no TOML: {error}.", hint=_HINT) from error
    except RecursionError as error:
        raise ImportRefused(f"{name} is no memory tree: values are nested too deep.", hint=_HINT) from error
    if values.get("format", FORMAT) != FORMAT:
        raise ImportRefused(f"{name} has the format {values['format']!r}; this infold reads {FORMAT!r}.", hint=_HINT)
    if more := sorted(values.keys() - {"format", "nodes"}):
        raise ImportRefused(f"{name} is no memory tree: it has {more[0]!r} beside `nodes`.", hint=_HINT)
    nodes = values.get("nodes")
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, dict) for node in nodes):
        raise ImportRefused(f"{name} is no memory tree: it has no list of [[nodes]].", hint=_HINT)
    try:
        return _tree(nodes)
    except _Wrong as wrong:
        raise ImportRefused(f"{name}: {wrong}.", hint=_HINT) from wrong


class _Wrong(ValueError):
    """What is wrong with which node."""


def _tree(nodes: Sequence[Mapping[str, Any]]) -> TreeDraft:
    drafts: dict[str, TreeDraft] = {}
    made: list[TreeDraft] = []
    for number, values in enumerate(nodes, start=1):
        place = f"node {number}" + (f" ({values['id']!r})" if isinstance(values.get("id"), str) else "")
        try:
            draft = _draft(values)
            if draft.id is not None:
                if draft.id in drafts:
                    raise _Wrong("another node of the file has that id")
                drafts[draft.id] = draft
            _hang(draft, values.get("parent_id"), drafts, is_first=not made)
        except _Wrong as wrong:
            raise _Wrong(f"{place}: {wrong}") from wrong
        made.append(draft)
    for draft in made:
        _put_in_order(draft)
    return made[0]


def _draft(values: Mapping[str, Any]) -> TreeDraft:
    if more := sorted(values.keys() - _KNOWN):
        raise _Wrong(f"there is no property {more[0]!r}")
    text, node_id, marks = values.get("text"), values.get("id"), values.get("marks", {})
    if not isinstance(text, str):
        raise _Wrong("`text` is missing" if text is None else "`text` is no string")
    if node_id is not None and not isinstance(node_id, str):
        raise _Wrong("`id` is no string")
    if not isinstance(marks, dict) or not all(isinstance(value, str) for value in marks.values()):
        raise _Wrong("`marks` is no table of strings")
    readonly = values.get("readonly", 0)
    if readonly not in (0, 1):
        raise _Wrong(f"`readonly` is 0 or 1, not {readonly!r}")
    context = _context(values)
    order = _order(values.get("order_value"))
    return TreeDraft(
        context,
        text,
        is_readonly=bool(readonly),
        order=order,
        id=node_id,
        marks=dict(marks),
        created_at=_time(values, "created_at"),
        versions=[_version(version) for version in _tables(values.get("history", []))],
    )


def _tables(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise _Wrong("`history` is no list of [[nodes.history]]")
    return value


def _version(values: Mapping[str, Any]) -> tuple[object, ...]:
    """A version as `queries.WAS` takes it after the node's id and its number."""
    if more := sorted(values.keys() - set(_OF_VERSION)):
        raise _Wrong(f"`history` has no property {more[0]!r}")
    parent, order = values.get("parent_id"), _order(values.get("order_value"))
    texts = [values.get(name) for name in ("operation", "text", *_CONTEXT)]
    moment = _time(values, "replaced_at")
    if not all(isinstance(one, str) for one in (*texts, moment)) or not isinstance(parent, str | None) or order is None:
        raise _Wrong("a version in `history` needs operation, replaced_at, order_value, its context and text")
    context = _context(values)
    fields = (context.type, context.name, context.value)
    hashed = node_hash(parent, context, values["text"], order)
    return (values["operation"], moment, parent, values["text"], order, *fields, hashed)


def _context(values: Mapping[str, Any]) -> Context:
    try:
        return Context(*(values.get(field) for field in _CONTEXT))  # type: ignore[arg-type] # it refuses None itself
    except InfoldError as error:
        raise _Wrong(str(error).rstrip(".")) from error


def _time(values: Mapping[str, Any], name: str) -> str | None:
    """A time in ISO 8601, as the store writes it."""
    value = values.get(name)
    try:
        moment = value if isinstance(value, datetime | None) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise _Wrong(f"`{name}` is a time in ISO 8601, not {value!r}") from error
    return None if moment is None else written_time(moment)


def _order(value: Any) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or abs(value) > 2**1000:
        raise _Wrong(f"`order_value` is a number, not {value!r}")
    return float(value)


def _hang(draft: TreeDraft, parent: Any, drafts: Mapping[str, TreeDraft], *, is_first: bool) -> None:
    if is_first:
        if parent is not None:
            raise _Wrong("the first node is the upmost one and has no `parent_id`")
        return
    above = drafts.get(parent) if isinstance(parent, str) else None
    if above is None or above is draft:
        raise _Wrong("`parent_id` is missing" if parent is None else f"no node above it has the id {parent!r}")
    above.children.append(draft)


def _put_in_order(draft: TreeDraft) -> None:
    """Children without an order follow the one before them; two cannot have the same."""
    order = FIRST - STEP
    seen: dict[float, TreeDraft] = {}
    for child in draft.children:
        order = child.order = order + STEP if child.order is None else child.order
        if order in seen:
            raise _Wrong(f"two children of {draft.id!r} have the order {order!r}")
        seen[order] = child
    draft.children = [seen[order] for order in sorted(seen)]


def _value(value: str | float) -> str:
    return _string(value) if isinstance(value, str) else repr(value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name, on_one_line=True)


def _string(text: str, *, on_one_line: bool = False) -> str:
    """A basic string; one of several lines where the text has some."""
    if on_one_line or "\n" not in text:
        return f'"{_IN_LINE.sub(_escaped, text)}"'
    return f'"""\n{_IN_LINES.sub(_escaped, text)}"""'


def _escaped(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"

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
Import). Times are written for the reader and not read; nor are tokens and hash, where a file has them.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from infold.docmem.drafts import Draft
from infold.docmem.node import Context, Node
from infold.docmem.order import FIRST, STEP
from infold.errors import ImportRefused, InfoldError

FORMAT: Final = "docmem/1"
_HINT: Final = "`infold docmem export --format toml` shows the form; correct the file and import it again."
_CONTEXT: Final = ("context_type", "context_name", "context_value")
_UNREAD: Final = ("token_count", "created_at", "updated_at", "hash")
_KNOWN: Final = {"id", "parent_id", "text", "order_value", *_CONTEXT, "readonly", "marks", *_UNREAD}
_WRITTEN: Final = ("id", "parent_id", "order_value", *_CONTEXT, "readonly", "created_at", "updated_at")
_IN_LINE: Final = re.compile(r'[\\"\x00-\x08\x0a-\x1f\x7f]')
_IN_LINES: Final = re.compile(r'[\\\x00-\x08\x0b-\x1f\x7f]|"(?="|\Z)')
_SHORT: Final = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\r": "\\r"}
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


def written_toml(tree: Iterable[tuple[Node, Mapping[str, str]]]) -> Iterator[str]:
    """The lines of a subtree and the marks of its nodes, given in reading order."""
    yield f'format = "{FORMAT}"'
    is_first = True
    for node, marks in tree:
        yield ""
        yield "[[nodes]]"
        for name in _WRITTEN:
            if not (is_first and name == "parent_id"):
                yield f"{name} = {_value(getattr(node, name))}"
        if marks:
            pairs = ", ".join(f"{_key(name)} = {_string(value)}" for name, value in marks.items())
            yield f"marks = {{ {pairs} }}"
        yield f"text = {_string(node.text)}"
        is_first = False


def toml_draft(text: str, name: str) -> Draft:
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


def _tree(nodes: Sequence[Mapping[str, Any]]) -> Draft:
    drafts: dict[str, Draft] = {}
    made: list[Draft] = []
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


def _draft(values: Mapping[str, Any]) -> Draft:
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
    try:
        context = Context(*(values.get(field) for field in _CONTEXT))  # type: ignore[arg-type] # it refuses None itself
    except InfoldError as error:
        raise _Wrong(str(error).rstrip(".")) from error
    order = _order(values.get("order_value"))
    return Draft(context, text, is_readonly=bool(readonly), order=order, id=node_id, marks=dict(marks))


def _order(value: Any) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or abs(value) > 2**1000:
        raise _Wrong(f"`order_value` is a number, not {value!r}")
    return float(value)


def _hang(draft: Draft, parent: Any, drafts: Mapping[str, Draft], *, is_first: bool) -> None:
    if is_first:
        if parent is not None:
            raise _Wrong("the first node is the upmost one and has no `parent_id`")
        return
    above = drafts.get(parent) if isinstance(parent, str) else None
    if above is None or above is draft:
        raise _Wrong("`parent_id` is missing" if parent is None else f"no node above it has the id {parent!r}")
    above.children.append(draft)


def _put_in_order(draft: Draft) -> None:
    """Children without an order follow the one before them; two cannot have the same."""
    order = FIRST - STEP
    seen: dict[float, Draft] = {}
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

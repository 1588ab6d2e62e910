"""Front matter as properties above a note: each name with its values, tags and links as links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup, escape

from infold.vault.front_matter import read_front_matter
from infold.web.markdown import line_html
from infold.web.markdown_links import Resolve

_TAGS: Final = ("tag", "tags")


def properties(text: str, path: str, resolve: Resolve) -> list[tuple[str, list[Markup]]]:
    """The names in the order in which they stand, with their values as safe HTML."""
    found = read_front_matter(text)
    values = found.values if found is not None else {}
    return [
        (str(name), [_shown(str(name), each, path, resolve) for each in _each(value)]) for name, value in values.items()
    ]


def _each(value: Any) -> Iterator[Any]:
    """The values of a property; none where it is empty."""
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _shown(name: str, value: Any, path: str, resolve: Resolve) -> Markup:
    if isinstance(value, bool):
        return escape("yes" if value else "no")
    if name.casefold() in _TAGS and isinstance(value, str):
        tag = value.strip().removeprefix("#")
        return Markup('<a class="tag" href="/search?tag={}">#{}</a>').format(quote(tag), tag)
    if isinstance(value, dict | list):
        return Markup("<code>{}</code>").format(json.dumps(value, ensure_ascii=False, default=str))
    return Markup(line_html(str(value), path, resolve))  # noqa: S704 - cleaned there

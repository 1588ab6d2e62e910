"""Notes as HTML, as Obsidian shows them: callouts, tags, embeds, code, maths, wiki-links that lead to pages here.

HTML of a note is kept where it is harmless and taken away where it is not (nh3): no script, no style, no form, no
address that is not a link, a picture of the vault or a page of the web. What is made here of harmless parts, formulas
and embedded notes, is put in afterwards.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from functools import cache
from typing import Final

import nh3
from markdown_it import MarkdownIt

from infold.vault.front_matter import without_front_matter
from infold.web.markdown_blocks import add_block_rules
from infold.web.markdown_footnotes import add_footnote_rules
from infold.web.markdown_links import ANCHOR, Resolve, add_link_rules
from infold.web.markdown_parts import add_part_rules, part_of
from infold.web.markdown_syntax import add_mark_rules

Embedded = Callable[[str], str]  # the path of a note to its text

MAX_EMBEDDED_DEPTH: Final = 2
_TAGS: Final = frozenset(
    [
        *("a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "div", "dl", "dt"),
        *("em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd"),
        *("li", "mark", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "summary", "sup"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var"),
    ]
)
_SCHEMES: Final = {"http", "https", "mailto", "obsidian"}
_REL: Final = "noopener noreferrer"
_ATTRIBUTES: Final = {
    "a": {"href", "title", "class", "aria-label"},
    "img": {"src", "alt", "title", "width", "height"},
    "input": {"type", "checked", "disabled", "aria-label"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
    "ol": {"start", "id"},
    "div": {"class", "id", "data-callout"},
    "span": {"class"},
    "code": {"class", "id"},
    "sup": {"class", "id"},
    "li": {"class", "id"},
    "details": {"class", "id", "open", "data-callout"},
    "summary": {"class"},
    **{tag: {"id"} for tag in ("h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "ul", "blockquote", "table")},
}


def note_html(text: str, path: str, resolve: Resolve, embedded: Embedded | None = None, depth: int = 0) -> str:
    """The body of a note as safe HTML; `resolve` finds the note that a link in a note means.

    `embedded` gives the text of an embedded note; without it, and below the second level, an embed is a link.
    """
    kept: list[str] = []
    mark = secrets.token_hex(8)

    def keep(html: str) -> str:
        kept.append(html)
        return f"{mark}x{len(kept) - 1}x"

    def embed(other: str, anchor: str) -> str | None:
        if embedded is None or depth >= MAX_EMBEDDED_DEPTH or (other == path and not anchor):
            return None
        inside = without_front_matter(embedded(other))
        if anchor:
            part = part_of(inside, anchor, _renderer(), env | {"embed": lambda *_: None})
            if part is None:
                return None
            inside = part
        return keep(note_html(inside, other, resolve, embedded, depth + 1))

    env = {
        "resolve": lambda name: resolve(name, path),
        "path": path,
        "folder": path.rpartition("/")[0],
        "keep": keep,
        "embed": embed,
        "part": f"{mark}-" if depth else "",  # two notes on a page have footnotes of the same number
    }
    rendered = nh3.clean(
        _renderer().render(without_front_matter(text), env),
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=_own_anchors,
        url_schemes=_SCHEMES,
        link_rel=_REL,
    )
    return re.sub(f"{mark}x([0-9]+)x", lambda found: kept[int(found[1])], rendered)


def line_html(text: str, path: str, resolve: Resolve) -> str:
    """A line of text, such as a value of front matter, as safe HTML; links in it lead to pages here."""
    env = {"resolve": lambda name: resolve(name, path), "path": path, "folder": path.rpartition("/")[0]}
    env |= {"keep": lambda html: html, "embed": lambda *_: None}
    allowed = {tag: names for tag, names in _ATTRIBUTES.items() if tag == "a"}
    return nh3.clean(
        _renderer().renderInline(text, env),
        tags={"a", "em", "strong", "code", "mark", "del"},
        attributes=allowed,
        url_schemes=_SCHEMES,
        link_rel=_REL,
    )


def _own_anchors(element: str, name: str, value: str) -> str | None:
    """Only what was named here has an id: a note gives none that a script of these pages looks for."""
    del element
    return value if name != "id" or value.startswith(ANCHOR) else None


@cache
def _renderer() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
    add_mark_rules(made)
    add_link_rules(made)
    add_block_rules(made)
    add_part_rules(made)
    add_footnote_rules(made)
    return made

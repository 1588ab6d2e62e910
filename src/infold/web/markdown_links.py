"""Links of notes: wiki-links and Markdown links lead to pages here, pictures of the vault are served here.

A picture of another site is only linked: a page that loads it would tell that site who reads which note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

Resolve = Callable[[str, str], str | None]  # a link's target, and the note it stands in, to the path of a note

ANCHOR: Final = "at-"  # what the id of a heading begins with
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".svg")
_TAG: Final = re.compile(r"#([^\s#.,;:!?()\[\]{}'\"`]*[^\W\d][^\s#.,;:!?()\[\]{}'\"`]*)")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]]")
_IN_TEXT: Final = re.compile(f"(?P<address>{_ADDRESS.pattern})|(?P<tag>(?<!\\S){_TAG.pattern})")
_WORDS: Final = re.compile(r"[^\w]+")


def add_link_rules(made: MarkdownIt) -> None:
    """Teaches a parser these links."""
    made.inline.ruler.before("link", "wiki_link", _wiki_link)
    made.core.ruler.push("text_links", _text_links)
    made.core.ruler.push("addresses", _addresses)


def page_address(path: str, anchor: str = "") -> str:
    """Where the page of a note is, or a heading or block of it."""
    heading = anchor.rpartition("#")[2].strip()
    return f"/note/{quote(path)}" + (f"#{anchor_of(heading)}" if heading else "")


def file_address(name: str, env: Mapping[str, Any]) -> str:
    """Where a picture of the vault is served."""
    return f"/file/{quote(unquote(name).lstrip('/'))}?from={quote(env.get('folder', ''))}"


def anchor_of(name: str) -> str:
    """The id of a heading, or of a block that is named `^so`."""
    kind = "block-" if name.startswith("^") else ""
    return ANCHOR + kind + quote(_WORDS.sub("-", name.casefold()).strip("-"))


def _wiki_link(state: StateInline, silent: bool) -> bool:
    start = state.pos
    is_embed = state.src.startswith("![[", start)
    if not is_embed and not state.src.startswith("[[", start):
        return False
    end = state.src.find("]]", start)
    if end < 0 or "\n" in state.src[start:end]:
        return False
    if not silent:
        written = state.src[start + (3 if is_embed else 2) : end]
        target, _, shown = written.replace("\\|", "|").partition("|")
        name, _, anchor = target.partition("#")
        token = state.push("html_inline", "", 0)
        made = _embed if is_embed else _link
        token.content = made(state.env, name.strip(), anchor.strip(), shown.strip())
    state.pos = end + 2
    return True


def _link(env: Mapping[str, Any], name: str, anchor: str, shown: str) -> str:
    said = escape(shown or " > ".join(part for part in (name, anchor) if part))
    if not name and anchor:
        return f'<a class="wiki" href="#{anchor_of(anchor)}">{said}</a>'
    path = env["resolve"](name)
    if path is None:
        return f'<a class="wiki missing" href="/search?q={quote(name)}">{said}</a>'
    return f'<a class="wiki" href="{escape(page_address(path, anchor))}">{said}</a>'


def _embed(env: Mapping[str, Any], name: str, anchor: str, shown: str) -> str:
    if name.casefold().endswith(_PICTURES):
        width = f' width="{shown}"' if shown.isdecimal() else ""
        said = escape(name if shown.isdecimal() or not shown else shown)
        return f'<img src="{escape(file_address(name, env))}" alt="{said}"{width}>'
    path = env["resolve"](name) if name else env["path"]
    inside = env["embed"](path, anchor) if path is not None else None
    link = _link(env, name, anchor, shown)
    if inside is None:
        return link.replace('class="wiki', 'class="embed wiki', 1)
    return f'<div class="embedded">{link}{inside}</div>'


def _text_links(state: StateCore) -> None:
    """#tags and bare addresses in prose are links."""
    for token in state.tokens:
        if token.type != "inline" or not token.children:
            continue
        children: list[Token] = []
        depth = 0
        for child in token.children:
            depth += {"link_open": 1, "link_close": -1}.get(child.type, 0)
            is_prose = child.type == "text" and not depth and ("#" in child.content or "://" in child.content)
            children += _with_links(child.content) if is_prose else [child]
        token.children = children


def _with_links(text: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    for match in _IN_TEXT.finditer(text):
        found += _text(text[at : match.start()])
        link = Token("html_inline", "", 0)
        if match["address"]:
            link.content = f'<a href="{escape(match["address"])}">{escape(match["address"])}</a>'
        else:
            tag = match["tag"][1:]
            link.content = f'<a class="tag" href="/search?tag={quote(tag)}">#{escape(tag)}</a>'
        found.append(link)
        at = match.end()
    return [*found, *_text(text[at:])]


def _text(content: str) -> list[Token]:
    if not content:
        return []
    token = Token("text", "", 0)
    token.content = content
    return [token]


def _addresses(state: StateCore) -> None:
    """Markdown links to notes lead to their pages; pictures of the vault are served here, others are only linked."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs["href"] = _link_address(str(child.attrs.get("href", "")), state.env)
            elif child.type == "image":
                _place_picture(child, state.env)


def _place_picture(token: Token, env: Mapping[str, Any]) -> None:
    source = str(token.attrs.get("src", ""))
    if not urlsplit(source).scheme and not source.startswith("//"):
        token.attrs["src"] = file_address(source, env)
        return
    token.type, token.tag = "html_inline", ""
    token.content = f'<a class="elsewhere" href="{escape(source)}">{escape(token.content or source)}</a>'


def _link_address(href: str, env: Mapping[str, Any]) -> str:
    parts = urlsplit(href)
    if href.startswith("#"):
        return f"#{anchor_of(unquote(href[1:]))}"
    if parts.scheme or href.startswith("//"):
        return href
    path = env["resolve"](unquote(parts.path))
    return page_address(path, unquote(parts.fragment)) if path is not None else f"/search?q={quote(parts.path)}"

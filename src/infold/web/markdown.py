"""Notes as HTML, as Obsidian shows them: callouts, tags, embeds, code, maths, wiki-links that lead to pages here.

HTML of a note is kept where it is harmless and taken away where it is not (nh3): no script, no style, no form, no
address that is not a link, a picture of the vault or a page of the web.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

Resolve = Callable[[str], str | None]  # a link's target to the path of a note

_CALLOUT: Final = re.compile(r"\[!(\w[\w-]*)\]([+-]?)[ \t]*(.*)")
_TAG: Final = re.compile(r"#([^\s#.,;:!?()\[\]{}'\"`]*[^\W\d][^\s#.,;:!?()\[\]{}'\"`]*)")
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp")
_TAGS: Final = frozenset(
    [
        *("a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "div", "dl", "dt"),
        *("em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd"),
        *("li", "mark", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "summary", "sup"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var"),
    ]
)
_ATTRIBUTES: Final = {
    "a": {"href", "title", "class"},
    "img": {"src", "alt", "title", "width", "height"},
    "input": {"type", "checked", "disabled", "aria-label"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
    "ol": {"start"},
    "div": {"class", "data-callout"},
    "span": {"class"},
    "code": {"class"},
    "li": {"class"},
    "details": {"class", "open"},
}


def note_html(text: str, path: str, resolve: Resolve) -> str:
    """The body of a note as safe HTML. `text` is without front matter; `resolve` finds the note that a link means."""
    rendered = _renderer().render(text, {"resolve": resolve, "folder": path.rpartition("/")[0]})
    return nh3.clean(
        rendered,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto", "obsidian"},
        link_rel="noopener noreferrer",
    )


def page_address(path: str, anchor: str = "") -> str:
    """Where the page of a note is."""
    return f"/note/{quote(path)}" + (f"#{quote(anchor)}" if anchor else "")


@cache
def _renderer() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
    made.inline.ruler.before("link", "wiki_link", _wiki_link)
    made.inline.ruler.before("escape", "maths", _maths)
    made.inline.ruler.before("emphasis", "highlight", _highlight)
    made.core.ruler.push("callouts", _callouts)
    made.core.ruler.push("tasks", _tasks)
    made.core.ruler.push("tags", _tags)
    made.core.ruler.push("addresses", _addresses)
    return made


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
        target, _, shown = written.partition("|")
        name, _, anchor = target.partition("#")
        _add_link(state, name.strip(), anchor.strip(), shown.strip() or target.strip(), is_embed=is_embed)
    state.pos = end + 2
    return True


def _add_link(state: StateInline, name: str, anchor: str, shown: str, *, is_embed: bool) -> None:
    if is_embed and name.casefold().endswith(_PICTURES):
        picture = state.push("html_inline", "", 0)
        picture.content = f'<img src="{escape(file_address(name, state.env))}" alt="{escape(shown)}">'
        return
    path = state.env["resolve"](name)
    link = state.push("html_inline", "", 0)
    address = page_address(path, anchor) if path is not None else f"/search?q={quote(name)}"
    kind = "embed" if is_embed else "wiki" if path is not None else "wiki missing"
    link.content = f'<a class="{kind}" href="{escape(address)}">{escape(shown)}</a>'


def file_address(name: str, env: Mapping[str, Any]) -> str:
    """Where a picture of the vault is served."""
    return f"/file/{quote(unquote(name).lstrip('/'))}?from={quote(env.get('folder', ''))}"


def _maths(state: StateInline, silent: bool) -> bool:
    start = state.pos
    mark = "$$" if state.src.startswith("$$", start) else "$"
    if not state.src.startswith("$", start):
        return False
    end = state.src.find(mark, start + len(mark))
    inside = state.src[start + len(mark) : end] if end > 0 else ""
    if not inside or (mark == "$" and (inside[0].isspace() or inside[-1].isspace() or "\n" in inside)):
        return False
    if not silent:
        token = state.push("html_inline", "", 0)
        token.content = f'<span class="maths">{escape(inside.strip())}</span>'
    state.pos = end + len(mark)
    return True


def _highlight(state: StateInline, silent: bool) -> bool:
    start = state.pos
    end = state.src.find("==", start + 2)
    if not state.src.startswith("==", start) or end < start + 3:
        return False
    if not silent:
        token = state.push("html_inline", "", 0)
        token.content = f"<mark>{escape(state.src[start + 2 : end])}</mark>"
    state.pos = end + 2
    return True


def _callouts(state: StateCore) -> None:
    """A quote that begins with [!kind] is a callout, with its title."""
    for place, token in enumerate(state.tokens):
        if token.type != "blockquote_open" or place + 2 >= len(state.tokens):
            continue
        inline = state.tokens[place + 2]
        first, _, rest = inline.content.partition("\n")
        found = _CALLOUT.fullmatch(first.strip()) if inline.type == "inline" else None
        if found is None:
            continue
        kind, title = found[1].casefold(), found[3] or found[1].capitalize()
        token.tag, token.attrs = "div", {"class": "callout", "data-callout": kind}
        _closing(state.tokens, place).tag = "div"
        heading = Token("html_inline", "", 0)
        heading.content = f'<span class="callout-title">{escape(title)}</span>'
        parsed: list[Token] = []
        state.md.inline.parse(rest, state.md, state.env, parsed)
        inline.children = [heading, *parsed]
        inline.content = rest


def _closing(tokens: list[Token], opening: int) -> Token:
    level = tokens[opening].level
    return next(t for t in tokens[opening + 1 :] if t.type == "blockquote_close" and t.level == level)


def _tasks(state: StateCore) -> None:
    """`- [ ]` and `- [x]` are boxes."""
    for place, token in enumerate(state.tokens):
        if token.type != "list_item_open" or place + 2 >= len(state.tokens):
            continue
        inline = state.tokens[place + 2]
        if inline.type != "inline" or not inline.children or not re.match(r"\[.\] ", inline.content):
            continue
        checked, said = ("", "to do") if inline.content[1] == " " else (" checked", "done")
        box = Token("html_inline", "", 0)
        box.content = f'<input type="checkbox" aria-label="{said}" disabled{checked}> '
        first = inline.children[0]
        first.content = first.content[4:]
        inline.children.insert(0, box)
        token.attrs = {"class": "task"}


def _tags(state: StateCore) -> None:
    """#tags in prose lead to what has them."""
    for token in state.tokens:
        if token.type != "inline" or not token.children:
            continue
        children: list[Token] = []
        for child in token.children:
            children += _with_tags(child) if child.type == "text" and "#" in child.content else [child]
        token.children = children


def _with_tags(child: Token) -> list[Token]:
    found: list[Token] = []
    at = 0
    for match in _TAG.finditer(child.content):
        if match.start() and not child.content[match.start() - 1].isspace():
            continue
        found += _text(child.content[at : match.start()])
        link = Token("html_inline", "", 0)
        tag = match[1]
        link.content = f'<a class="tag" href="/search?tag={quote(tag)}">#{escape(tag)}</a>'
        found.append(link)
        at = match.end()
    return [*found, *_text(child.content[at:])]


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
                source = str(child.attrs.get("src", ""))
                is_own = not urlsplit(source).scheme and not source.startswith("//")
                child.attrs["src"] = file_address(source, state.env) if is_own else ""


def _link_address(href: str, env: Mapping[str, Any]) -> str:
    parts = urlsplit(href)
    if parts.scheme or href.startswith(("#", "//")):
        return href
    path = env["resolve"](unquote(parts.path))
    return page_address(path, unquote(parts.fragment)) if path is not None else f"/search?q={quote(parts.path)}"

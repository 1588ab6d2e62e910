"""Parts of a note that have names: sections by their headings, blocks by `^name`; where they are, and their text."""

from __future__ import annotations

import re
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from infold.web.markdown_links import anchor_of

_NAMED: Final = re.compile(r"(?:^|\s)(\^[A-Za-z0-9-]+)[ \t]*$")


def add_part_rules(made: MarkdownIt) -> None:
    """Teaches a parser the names of parts."""
    made.core.ruler.after("inline", "named_blocks", _named_blocks)
    made.core.ruler.push("anchors", _anchors)


def part_of(text: str, anchor: str, made: MarkdownIt, env: dict[str, Any]) -> str | None:
    """The lines that `anchor` names: a section to the next heading of its level, or a block; None where nothing is."""
    tokens = made.parse(text, dict(env))
    name = anchor_of(anchor.rpartition("#")[2].strip())
    at = next((place for place, token in enumerate(tokens) if token.attrs.get("id") == name and token.map), None)
    if at is None or tokens[at].map is None:
        return None
    first, end = tokens[at].map or (0, 0)
    lines = text.splitlines(keepends=True)
    if tokens[at].type == "heading_open" and not anchor.startswith("^"):
        later = (
            token for token in tokens[at + 1 :] if token.type == "heading_open" and token.level == tokens[at].level
        )
        end = next((token.map[0] for token in later if token.map and token.tag <= tokens[at].tag), len(lines))
    return "".join(lines[first:end])


def _anchors(state: StateCore) -> None:
    """Each heading has the id that links to it name."""
    for place, token in enumerate(state.tokens):
        if token.type == "heading_open" and "id" not in token.attrs:
            token.attrs["id"] = anchor_of(state.tokens[place + 1].content)


def _named_blocks(state: StateCore) -> None:
    """`^name` at the end of a block is its id and is not shown; on a line of its own it names the block before it."""
    kept: list[Token] = []
    for token in state.tokens:
        kept.append(token)
        found = _NAMED.search(token.content) if token.type == "inline" and token.children else None
        if found is None or len(kept) < 2:
            continue
        opening = kept[-2]
        if opening.type == "paragraph_open" and token.content.strip() == found[1]:
            named = _before(kept[:-2]) or opening
        else:
            named = kept[-3] if len(kept) > 2 and kept[-3].type == "list_item_open" else opening
        last = (token.children or [])[-1]
        if last.type == "text" and last.content.endswith(found[1]):
            last.content = last.content[: -len(found[1])].rstrip()
            named.attrs["id"] = anchor_of(found[1])
    state.tokens = kept


def _before(tokens: list[Token]) -> Token | None:
    """What opens the block that ends just before a place."""
    if not tokens:
        return None
    last = tokens[-1]
    if last.nesting == 0:
        return last if last.type in ("fence", "code_block") else None
    opened = last.type.replace("_close", "_open")
    return next((each for each in reversed(tokens) if each.type == opened and each.level == last.level), None)

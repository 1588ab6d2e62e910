"""Blocks that Obsidian knows: callouts, also those that fold, and lists of tasks."""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_CALLOUT: Final = re.compile(r"\[!(\w[\w-]*)\]([+-]?)[ \t]*(.*)")


def add_block_rules(made: MarkdownIt) -> None:
    """Teaches a parser these blocks; what is a callout is known before its text is read."""
    made.core.ruler.before("inline", "callouts", _callouts)
    made.core.ruler.push("tasks", _tasks)
    made.core.ruler.push("cells", _cells)


def _callouts(state: StateCore) -> None:
    """A quote that begins with [!kind] is a callout, with its title; with + or - after it, one that folds."""
    for place, token in enumerate(state.tokens):
        if token.type != "blockquote_open" or place + 2 >= len(state.tokens):
            continue
        inline = state.tokens[place + 2]
        first, _, rest = inline.content.partition("\n")
        found = _CALLOUT.fullmatch(first.strip()) if inline.type == "inline" else None
        if found is None:
            continue
        kind, title = found[1].casefold(), found[3] or found[1].capitalize()
        folds = bool(found[2])
        token.tag = _closing(state.tokens, place).tag = "details" if folds else "div"
        token.attrs |= {"class": "callout", "data-callout": kind} | ({"open": ""} if found[2] == "+" else {})
        state.tokens[place + 1 : place + 1] = _heading(title, "summary" if folds else "div")
        inline.content = rest


def _heading(title: str, tag: str) -> list[Token]:
    """The title, whose text is still to be read."""
    opened, said, closed = Token("html_block", "", 0), Token("inline", "", 0), Token("html_block", "", 0)
    opened.content, closed.content = f'<{tag} class="callout-title">', f"</{tag}>\n"
    said.content, said.children = title, []
    return [opened, said, closed]


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
        token.attrs["class"] = "task"


def _cells(state: StateCore) -> None:
    """How a column is aligned is said without a style, which no page may bring."""
    for token in state.tokens:
        style = str(token.attrs.pop("style", "")) if token.type in ("th_open", "td_open") else ""
        if style:
            token.attrs["align"] = style.partition(":")[2]

"""Footnotes: `[^1]` with its text on a line of its own, and `^[text]` where it stands. All are shown at the end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from itertools import islice
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from infold.web.markdown_links import ANCHOR

_DEFINITION: Final = re.compile(r"\[\^([^\s\]]+)\]:[ \t]*(.*)")
_REFERENCE: Final = re.compile(r"\[\^([^\s\]]+)\](?!:)")
_MOST: Final = 1000  # footnotes of one note


def add_footnote_rules(made: MarkdownIt) -> None:
    """Teaches a parser footnotes. The last of its rules: what a footnote says has been through all of them."""
    made.block.ruler.before("reference", "footnote", _definition, {"alt": ["paragraph", "reference"]})
    made.inline.ruler.before("link", "footnote", _reference)
    made.inline.ruler.before("link", "footnote_here", _here)
    made.inline.add_terminator_char("^")
    made.core.ruler.push("footnotes", _at_the_end)


def _definition(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """The line that says a footnote, and the lines below it that are indented."""
    if state.is_code_block(first):
        return False
    found = _DEFINITION.fullmatch(state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]])
    if found is None:
        return False
    if silent:
        return True
    after = first + 1
    while after < last and (state.isEmpty(after) or state.sCount[after] >= state.blkIndent + 2):
        after += 1
    below = state.getLines(first + 1, after, state.blkIndent + 4, keepLastLF=False)
    state.env.setdefault("footnote_texts", {}).setdefault(found[1].casefold(), f"{found[2]}\n{below}".strip())
    state.line = after
    return True


def _reference(state: StateInline, silent: bool) -> bool:
    found = _REFERENCE.match(state.src, state.pos)
    text = state.env.get("footnote_texts", {}).get(found[1].casefold()) if found else None
    if found is None or text is None or not _put(state, f"[{found[1].casefold()}", text, silent=silent):
        return False
    state.pos = found.end()
    return True


def _here(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("^[", state.pos):
        return False
    end = state.md.helpers.parseLinkLabel(state, state.pos + 1)
    text = state.src[state.pos + 2 : end]
    if end < 0 or not _put(state, f"^{text}", text, silent=silent):
        return False
    state.pos = end + 1
    return True


def _put(state: StateInline, key: str, text: str, *, silent: bool) -> bool:
    """The number that stands for a footnote; False where there are too many."""
    notes: dict[str, list[Any]] = state.env.setdefault("footnotes", {})
    if key not in notes and len(notes) >= _MOST:
        return False
    if silent:
        return True
    note = notes.setdefault(key, [len(notes) + 1, text, 0])
    note[2] += 1
    number, place = note[0], _place(state.env, note[0])
    again = f"-{note[2]}" if note[2] > 1 else ""
    link = f'<a href="#{place}" aria-label="Footnote {number}">{number}</a>'
    state.push("html_inline", "", 0).content = f'<sup class="footnote" id="{place}-from{again}">{link}</sup>'
    return True


def _place(env: Mapping[str, Any], number: int) -> str:
    return f"{ANCHOR}footnote-{escape(str(env.get('part', '')))}{number}"


def _at_the_end(state: StateCore) -> None:
    """What the footnotes say, in the order in which they are named; those that a footnote names come after it."""
    if state.inlineMode or state.env.get("is_footnote"):
        return
    notes: dict[str, list[Any]] = state.env.get("footnotes", {})
    shown: list[Token] = []
    state.env["is_footnote"] = True
    number = 0
    while number < len(notes):
        number, text, _ = next(islice(notes.values(), number, None))
        place = _place(state.env, number)
        shown += [_html(f'<li id="{place}">\n'), *state.md.parse(text, state.env)]
        shown.append(_html(f'<a href="#{place}-from" aria-label="Back to the text">↩</a></li>\n'))
    state.env["is_footnote"] = False
    if shown:
        state.tokens += [_html('<div class="footnotes">\n<ol>\n'), *shown, _html("</ol>\n</div>\n")]


def _html(content: str) -> Token:
    token = Token("html_block", "", 0)
    token.content = content
    return token

"""What Obsidian marks within a line: formulas, highlights, and comments, which are not shown."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from infold.web.maths import formula_html


def add_mark_rules(made: MarkdownIt) -> None:
    """Teaches a parser these marks."""
    made.block.ruler.before("fence", "comment", _comment_block, {"alt": ["paragraph", "blockquote", "list"]})
    made.inline.ruler.before("escape", "maths", _maths)
    made.inline.ruler.before("emphasis", "highlight", _highlight)
    made.inline.ruler.before("emphasis", "comment", _comment)
    made.inline.add_terminator_char("=")
    made.inline.add_terminator_char("%")


def _maths(state: StateInline, silent: bool) -> bool:
    start = state.pos
    if not state.src.startswith("$", start):
        return False
    is_block = state.src.startswith("$$", start)
    mark = "$$" if is_block else "$"
    end = state.src.find(mark, start + len(mark))
    inside = state.src[start + len(mark) : end] if end > 0 else ""
    if not inside.strip() or (not is_block and not _is_inline_formula(inside, state.src[end + 1 : end + 2])):
        return False
    if not silent:
        token = state.push("html_inline", "", 0)
        formula = state.env["keep"](formula_html(inside.strip(), is_block=is_block))
        token.content = f'<span class="maths">{formula}</span>'
    state.pos = end + len(mark)
    return True


def _is_inline_formula(inside: str, after: str) -> bool:
    """Two prices in a line are none: no space within the signs, no digit after them."""
    return not (inside[0].isspace() or inside[-1].isspace() or "\n" in inside or after.isdigit())


def _highlight(state: StateInline, silent: bool) -> bool:
    start = state.pos
    end = state.src.find("==", start + 2)
    if not state.src.startswith("==", start) or end < start + 3:
        return False
    if not silent:
        inside: list[Token] = []
        state.md.inline.parse(state.src[start + 2 : end], state.md, state.env, inside)
        state.push("html_inline", "", 0).content = "<mark>"
        state.tokens += inside
        state.push("html_inline", "", 0).content = "</mark>"
    state.pos = end + 2
    return True


def _comment(state: StateInline, silent: bool) -> bool:
    del silent
    start = state.pos
    end = state.src.find("%%", start + 2)
    if not state.src.startswith("%%", start) or end < 0:
        return False
    state.pos = end + 2
    return True


def _comment_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """From a line that begins with %% to the next that ends with it, whatever stands between."""
    begun = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]
    if not begun.startswith("%%") or "%%" in begun[2:] or state.env.get("never_ends"):
        return False
    later = (at for at in range(first + 1, last) if state.src.endswith("%%", state.bMarks[at], state.eMarks[at]))
    end = next(later, None)
    if end is None:
        state.env["never_ends"] = state.level == 0  # then no later one does either
        return False
    if not silent:
        state.line = end + 1
    return True

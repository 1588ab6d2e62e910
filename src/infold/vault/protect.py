"""What an edit may not break: front matter, headings, code, tables, comments and display math stay whole.

The note is read before and after the edit, and each such span must be found again where the edit's own insertions moved
it, byte for byte; only an edit that lies wholly inside one may change it, and then it must still be one. Nested spans
count too (code in a list item), which is why the events of pulldown-cmark are read here and not only a note's blocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyromark

from infold.errors import ProtectedSpanBroken
from infold.vault.comments import MARK, comment_spans, mask
from infold.vault.edits import LocatedEdit, apply_changes
from infold.vault.front_matter import read_front_matter
from infold.vault.lines import BOM
from infold.vault.match import line_of
from infold.vault.outline import CharacterOffsets
from infold.vault.splices import Moved

_OPTIONS: Final = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_MATH
_KINDS: Final = {"CodeBlock": "code block", "Table": "table", "Heading": "heading", "HtmlBlock": "HTML block"}
_NO_COMMENTS: Final = frozenset(("Code", "InlineMath", "DisplayMath", "Html", "InlineHtml"))  # where %% means nothing
_EDITABLE: Final = frozenset(("code block", "table", "heading"))
# HTML that a blank line does not end: it runs to its closing mark, or to the end of the note.
_RUNS_ON: Final = re.compile(r"<(?:(!--)|(pre|script|style|textarea)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a note that stays whole, in characters, without its last line end."""

    kind: str
    start: int
    end: int
    is_open: bool = False  # a fence or comment that nothing closes


def check_protected(text: str, changes: Sequence[LocatedEdit]) -> None:
    """Refuses changes of a note that break a protected span, or that leave one open.

    Raises ProtectedSpanBroken, naming the span by its kind and line.
    """
    after = apply_changes(text, changes)
    if after == text:
        return
    _check_front_matter(text, after)
    moved = Moved([splice for change in changes for splice in change.splices])
    found = {(span.kind, span.start): span for span in protected_spans(after)}
    for span in protected_spans(text):
        now = found.pop((span.kind, moved.start(span.start)), None)
        if span.is_open and (now is None or now.is_open):
            continue
        if span.is_open or now is None or now.is_open or not _is_whole(text, after, span, now, moved):
            raise ProtectedSpanBroken(
                f"the edit breaks the {span.kind} at line {line_of(text, span.start)}",
                hint=_HINTS.get(span.kind, _HINT),
            )
    for span in found.values():
        if span.is_open or not moved.is_added(span.start, span.end):
            where = f"line {line_of(after, span.start)} of the edited note"
            what = "opens, and never closes, a" if span.is_open else "turns text of the note into a"
            raise ProtectedSpanBroken(f"the edit {what} {span.kind} at {where}", hint=_HINT)


_HINT: Final = "Put new text before or after it, with a blank line between, and leave it as it stands."
_HINTS: Final = {
    "table": "A new row goes on its own line right below a row, with | between its cells; other text goes after a "
    "blank line below the table.",
    "heading": "Put new text below the heading, after a blank line, and leave the heading's line as it stands.",
}


def protected_spans(text: str) -> list[Span]:
    """The protected spans of a note except its front matter, in order of their start."""
    front_matter = read_front_matter(text)
    start = front_matter.end if front_matter else 0
    start = start or int(text.startswith(BOM))
    body = text[start:]
    spans, code = _parsed(body, body)
    comments = comment_spans(body, code) if MARK in body else []
    if comments:
        spans, _ = _parsed(body, mask(body, comments))
        spans += [Span("comment", first, end) for first, end in comments]
    return sorted(
        (Span(s.kind, s.start + start, s.end + start, s.is_open) for s in spans), key=lambda s: (s.start, -s.end)
    )


def _is_whole(text: str, after: str, span: Span, now: Span, moved: Moved) -> bool:
    """Whether `now` is `span` as it was, or as an edit wholly inside it made it."""
    touching = moved.touching(span.start, span.end)
    if any(s.start < span.start or s.end > span.end for s in touching):
        return False
    if touching and span.kind not in _EDITABLE:
        return False
    end = moved.end(span.end)
    if now.end < end or now.end > end + len(moved.inserted_at(span.end)):
        return False
    if span.kind != "table":
        return now.end == end or span.kind in ("code block", "heading")
    return _rows_without_cells(after[now.start : now.end]) <= _rows_without_cells(text[span.start : span.end])


def _rows_without_cells(table: str) -> int:
    """How many lines of a table hold no |: any text right below a table is read as its last row."""
    return sum("|" not in row for row in table.splitlines())


def _check_front_matter(text: str, after: str) -> None:
    before, now = read_front_matter(text), read_front_matter(after)
    if before is None and now is None:
        return
    if before is None or now is None:
        raise ProtectedSpanBroken(
            f"the edit {'adds' if before is None else 'breaks'} the front matter at the top of the note",
            hint="Leave the --- lines and what stands between them as they are; new text goes below.",
        )
    if text[before.start : before.end] == after[now.start : now.end]:
        return
    missing = [str(key) for key in before.values if key not in now.values]
    if before.problem or now.problem or missing:
        why = now.problem or before.problem or f"the keys {', '.join(missing)} are gone"
        raise ProtectedSpanBroken(
            f"the edit breaks the front matter: {why}", hint="Keep it valid YAML with every key, or leave it alone."
        )


def _parsed(body: str, parsed: str) -> tuple[list[Span], list[tuple[int, int]]]:
    """The spans of `body` that stay whole, and those where %% means nothing. `parsed` is it, comments masked."""
    offsets = CharacterOffsets(body)
    spans: list[Span] = []
    code: list[tuple[int, int]] = []
    for event, place in pyromark.events_with_range(parsed, options=_OPTIONS):
        if not isinstance(event, dict):
            continue
        tag = event.get("Start")
        name = (next(iter(tag)) if isinstance(tag, dict) else str(tag)) if tag else next(iter(event))
        if name not in _KINDS and name not in _NO_COMMENTS:
            continue
        if name in _KINDS and not tag:
            continue
        start, end = offsets(place["start"]), offsets(place["end"])
        if name in _NO_COMMENTS or name == "CodeBlock":
            code.append((start, end))
        is_fenced = isinstance(tag, dict) and tag.get("CodeBlock", "Indented") != "Indented"
        span = _span(name, body, start, start + len(body[start:end].rstrip("\r\n")), is_fenced=is_fenced)
        if span:
            spans.append(span)
    return spans, code


def _span(name: str, body: str, start: int, end: int, *, is_fenced: bool) -> Span | None:
    if name == "DisplayMath":
        return Span("math block", start, end)
    if name not in _KINDS and name != "InlineHtml":
        return None
    if name not in ("HtmlBlock", "InlineHtml"):
        return Span(_KINDS[name], start, end, is_open=is_fenced and not _is_closed(body[start:end]))
    runs_on = _RUNS_ON.match(body[start:end].lstrip())
    if not runs_on:
        return None
    closing = "-->" if runs_on[1] else f"</{runs_on[2]}"
    is_open = name == "HtmlBlock" and closing.casefold() not in body[start:end].casefold()
    return Span("HTML comment" if runs_on[1] else "HTML block", start, end, is_open=is_open)


def _is_closed(fenced: str) -> bool:
    """Whether fenced code ends with a fence that matches its first line."""
    lines = fenced.splitlines()
    opening = lines[0].lstrip()
    fence = opening[:1]
    width = len(opening) - len(opening.lstrip(fence))
    last = lines[-1].strip(" \t>")
    return len(lines) > 1 and len(last) >= width and not last.strip(fence)

"""Differences on the screen: whole and coloured for `diff`, short and per edit for `integrate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from infold.vault.differences import Row, Segment, hunks

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_MOST_LINES: Final = 8
_MOST_CHARACTERS: Final = 420
_CONTEXT_CHARACTERS: Final = 72
_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~", "same": " "}
_STYLES: Final = {"added": "green", "removed": "red strike", "same": "dim"}


def coloured(diff: str) -> Text:
    """A unified diff with colours."""
    from rich.text import Text

    text = Text()
    for line in diff.splitlines(keepends=True):
        text.append(line, style=_line_style(line))
    return text


def _line_style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def short(find: str, replace: str) -> Table:
    """One edit in a few lines: what comes in, what goes, and the line beside it. Blank lines are left out."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    rows = [row for row in _rows(find, replace) if any(segment.text.strip() for segment in row.segments)]
    for row in rows[:_MOST_LINES]:
        line = Text()
        for segment in row.segments:
            line.append(_abridged_segment(row, segment), style=_STYLES[segment.kind])
        grid.add_row(Text(_SIGNS[row.kind], style=_STYLES.get(row.kind, "yellow").removesuffix(" strike")), line)
    if len(rows) > _MOST_LINES:
        grid.add_row(Text(""), Text(f"… {len(rows) - _MOST_LINES} more lines", style="dim"))
    return grid


def _rows(find: str, replace: str) -> Iterator[Row]:
    for hunk in hunks(find, replace, context=1):
        yield from hunk.rows


def _abridged_segment(row: Row, segment: Segment) -> str:
    if segment.kind != "same":
        indent = segment.text[: len(segment.text) - len(segment.text.lstrip(" \t"))]  # code means something by it
        return indent + abridged(segment.text, _MOST_CHARACTERS) if row.kind != "changed" else segment.text
    if row.kind == "same":
        return abridged(segment.text, _CONTEXT_CHARACTERS)
    half = _CONTEXT_CHARACTERS // 2
    text = segment.text
    return text if len(text) <= 2 * half + 3 else f"{text[:half]} … {text[-half:]}"


def abridged(text: str, most: int) -> str:
    """`text` on one line, cut at a word with an ellipsis where it is longer than `most` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[:most].rsplit(" ", 1)[0] + " …"

"""Differences as a person reads them: unified and whole for `diff`, short and per edit for `integrate`."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_MOST_LINES: Final = 8
_MOST_CHARACTERS: Final = 420
_CONTEXT_CHARACTERS: Final = 72


def unified(before: str, after: str, path: str) -> str:
    """The unified diff of one note, as `patch` reads it."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def coloured(diff: str) -> Text:
    """A unified diff with colours."""
    from rich.text import Text

    text = Text()
    for line in diff.splitlines(keepends=True):
        text.append(line, style=_style(line))
    return text


def _style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def short(find: str, replace: str) -> Table:
    """One edit in a few lines: what comes in, what goes, and the line beside it."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    rows = list(_rows(find, replace))
    for sign, line in rows[:_MOST_LINES]:
        style = {"+": "green", "-": "red"}.get(sign, "dim")
        most = _MOST_CHARACTERS if sign.strip() else _CONTEXT_CHARACTERS
        grid.add_row(Text(sign, style=style), Text(abridged(line, most), style=style))
    if len(rows) > _MOST_LINES:
        grid.add_row(Text(""), Text(f"… {len(rows) - _MOST_LINES} more lines", style="dim"))
    return grid


def _rows(find: str, replace: str) -> list[tuple[str, str]]:
    """(sign, line) of one edit without blank lines, at most one unchanged line before and after each change."""
    old, new = find.splitlines(), replace.splitlines()
    diff = difflib.unified_diff(old, new, n=1, lineterm="")
    return [(line[0], line[1:]) for line in list(diff)[2:] if line[0] in " +-" and line[1:].strip()]


def abridged(text: str, most: int) -> str:
    """`text` on one line, cut at a word with an ellipsis where it is longer than `most` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[:most].rsplit(" ", 1)[0] + " …"

"""What changed in one text, as `patch` reads it."""

from __future__ import annotations

import difflib
import re
from typing import Final

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def unified(before: str | None, after: str | None, path: str) -> str:
    """The unified diff of one file; None where it is not there, '' where nothing changed."""
    old, new = _LINE.findall(before or ""), _LINE.findall(after or "")
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    lines = difflib.unified_diff(old, new, *names)
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines)

"""Links in `.canvas` files: JSON whose cards name files of the vault or hold Markdown of their own.

Only the JSON strings that change are written again; every other byte stays. A file that is no JSON has no links.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_COLON: Final = re.compile(r"\s*:\s*")


def rewrite_canvas(source: str, file: Callable[[str], str], markdown: Callable[[str], str]) -> str:
    """`source` with each card's `file` and Markdown `text` as these functions turn them."""
    try:
        json.loads(source)
    except (ValueError, RecursionError):
        return source
    parts: list[str] = []
    at, key, value_at = 0, "", -1
    for match in _STRING.finditer(source):
        colon = _COLON.match(source, match.end())
        if colon is not None:
            key, value_at = json.loads(match[0]), colon.end()
            continue
        turn = {"file": file, "text": markdown}.get(key) if match.start() == value_at else None
        if turn is None:
            continue
        value = json.loads(match[0])
        new = turn(value)
        if new != value:
            parts += [source[at : match.start()], json.dumps(new, ensure_ascii=match[0].isascii())]
            at = match.end()
    return "".join([*parts, source[at:]])

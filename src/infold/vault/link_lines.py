"""Lines that say where links lead and nothing else: they are for programs to follow, and no prose to read or to search.

Definitions of links, and rows of a table that hold only links. Told by the look of a line, so that a part of a note can
be asked too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Span = tuple[int, int]

_DEFINITION: Final = re.compile(r"^ {0,3}\[(?!\^)[^\]\r\n]{1,300}\]:[ \t]*\S[^\r\n]*", re.MULTILINE)
_ROW: Final = re.compile(r"^[ \t]*\|[^\r\n]*", re.MULTILINE)
_LINK: Final = re.compile(
    r"!?\[\[[^\[\]\n]{1,300}\]\]|!?\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,300}\])|<?https?://[^\s|>]+>?"
)
_BETWEEN_LINKS: Final = re.compile(r"[\s,;:·•|\\-]*")


def link_lines(text: str) -> Iterator[Span]:
    """The lines that say where links lead and nothing else: definitions of links, table rows that hold only links."""
    if "]:" in text:
        yield from (match.span() for match in _DEFINITION.finditer(text))
    if "|" in text:
        for row in _ROW.finditer(text):
            rest, links = _LINK.subn("", row[0])
            if links and _BETWEEN_LINKS.fullmatch(rest):
                yield row.span()


def without_link_lines(text: str) -> str:
    """`text` with these lines empty."""
    at, kept = 0, []
    for start, end in sorted(link_lines(text)):
        kept.append(text[at:start])
        at = end
    return "".join((*kept, text[at:])) if kept else text

"""One entry of a daily log as Markdown: a heading with the time, then the rest; never anything that breaks the log.

Pure text in, pure text out. The first line becomes the heading and is not said twice, unless it is too long or no plain
line (a list, a table, code): then the heading is a short form of it and the whole entry stands below. Headings inside
an entry go below its own, and what it leaves open (code, a comment) is closed. An entry that would break the log
nevertheless is quoted whole, as code. Where an entry goes belongs to `notebook.daily`.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import product
from typing import Final

from infold.notebook.placing import cleaned
from infold.vault.comments import MARK
from infold.vault.note import Heading, parse

ENTRY_LEVEL: Final = 2
MAX_HEADING: Final = 100  # characters of a first line that is a heading as it stands
_SHORT_HEADING: Final = 60
_OWN_TIME: Final = re.compile(r"(?:#{1,6}[ \t]+)?([01]?\d|2[0-3]):([0-5]\d)[ \t]*(?:[—–:-][ \t]*)(?=\S)")
_HEADING: Final = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE: Final = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*")
_NO_PLAIN_LINE: Final = re.compile(
    r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|>|\||`{3}|~{3}|<[A-Za-z!/]|%%|\$\$|\[\^[^\]]*\]:|\[[^\]]*\]:[ \t]|([-*_=])"
    r"[ \t]*(?:\1[ \t]*)+\Z)|\t|[ ]{4}"
)
_LEADING_SIGNS: Final = re.compile(r"^[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|>|\[.\]|#{1,6})[ \t]+|[|`~>%$\s=*_-]+)+")
_TAG: Final = re.compile(r"<[^<>]*>?")
_FENCES: Final = re.compile(r"^[ \t>]*(`{3,}|~{3,})", re.MULTILINE)
_CLOSERS: Final = (MARK, "-->", "</pre>", "</script>", "</style>", "</textarea>")
_NEXT: Final = "Next entry"
_PROBE: Final = f"\n\n## {_NEXT}\n\n{MARK}\n"


def entry_text(entry: str, at: datetime) -> str:
    """`entry`, said at `at`, as the log gets it: `## HH:MM — first line`, then the rest. Ends without a line end.

    An entry that brings its own time (`14:05 — Lunch`) keeps that. Raises UsageError where there is nothing to say.
    """
    text = cleaned(entry)
    clock = f"{at:%H:%M}"
    if own := _OWN_TIME.match(text):
        clock, text = f"{int(own[1]):02}:{own[2]}", text[own.end() :]
    title, body = _title_and_body(text)
    heading = f"{'#' * ENTRY_LEVEL} {clock} — "
    block = "\n".join(filter(None, (heading + title, _below_entry(body))))
    block += closing_of(block)
    if _is_one_section(block):
        return block
    fence = "~" * (1 + max((len(found[1]) for found in _FENCES.finditer(text)), default=2))
    return f"{heading}{_short(text.replace(MARK, ' '))}\n{fence}\n{text}\n{fence}"


def closing_of(text: str) -> str:
    """What has to follow `text` for the next entry to be read as one: '' unless a fence or comment is open."""
    if not _swallows(text):
        return ""
    fences = [found[1] for found in _FENCES.finditer(text)]
    single = [f"\n{closer}" for closer in dict.fromkeys((*reversed(fences[-3:]), *fences[:1], *_CLOSERS))]
    pairs = [first + second for first, second in product(single, repeat=2)]
    return next((closer for closer in (*single, *pairs) if not _swallows(text + closer)), "")


def _swallows(text: str) -> bool:
    """Whether a heading after `text` would be no heading, to whoever knows `%% comments %%` or to who does not.

    Both count: what is code within a comment decides where the comments of later entries are.
    """
    return any(_titles(reading)[-1:] != [_NEXT] for reading in (text, text.replace(MARK, "xx")))


def _is_one_section(block: str) -> bool:
    """Whether an entry, as it is to stand in the log, is one heading and what goes below it."""
    titles = _titles(block)
    return len(titles) == 2 and titles[-1] == _NEXT and not _swallows(block)


def _titles(text: str) -> list[str]:
    """The titles of the sections of the level of an entry or above, with one that follows `text`."""
    headings = parse("", f"\n{text}{_PROBE}", with_blocks=False).headings
    return [heading.title for heading in headings if heading.level <= ENTRY_LEVEL]


def _title_and_body(text: str) -> tuple[str, str]:
    first, _, rest = text.partition("\n")
    second, _, after = rest.partition("\n")
    heading = _HEADING.fullmatch(first)
    if heading and heading[1] and len(heading[1]) <= MAX_HEADING:
        return heading[1], cleaned_or_empty(rest)
    if not heading and not _NO_PLAIN_LINE.match(first) and len(first) <= MAX_HEADING:
        return first.strip(), cleaned_or_empty(after if _UNDERLINE.fullmatch(second) else rest)
    return _short(text), text


def cleaned_or_empty(text: str) -> str:
    """`text` without blank lines at its ends."""
    return cleaned(text) if text.strip() else ""


def _short(text: str) -> str:
    """The first words that `text` says, without the signs of lists and code."""
    lines = (_LEADING_SIGNS.sub("", _TAG.sub("", line)).strip(" \t|`*_") for line in text.split("\n"))
    said = next((line for line in lines if any(map(str.isalnum, line))), "Note")
    if len(said) <= _SHORT_HEADING:
        return said
    cut = said[: _SHORT_HEADING + 1]
    return f"{(cut.rpartition(' ')[0] or cut[:-1]).rstrip(' ,;:.')}…"


def _below_entry(body: str) -> str:
    """`body` with its headings below the level of an entry, in their order; nothing else changes."""
    headings = parse("", f"\n{body}", with_blocks=False).headings
    highest = min((heading.level for heading in headings), default=ENTRY_LEVEL + 1)
    shift = ENTRY_LEVEL + 1 - highest
    if shift <= 0:
        return body
    for heading in reversed(headings):
        start, end = heading.start - 1, heading.end - 1
        body = body[:start] + _as_heading(body[start:end], heading, shift) + body[end:]
    return body


def _as_heading(source: str, heading: Heading, shift: int) -> str:
    marks = "#" * min(6, heading.level + shift)
    if source.lstrip(" ").startswith("#"):
        return f"{marks}{source.lstrip(' ')[heading.level :]}"
    lines = source.split("\n")[:-1]  # an underlined heading may have several lines
    return f"{marks} {' '.join(line.strip() for line in lines)}"

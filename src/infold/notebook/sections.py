"""What a note's text becomes when text is added to it, or takes the place of a section or of all of it.

Pure text in, pure text out. Every byte outside the place that is written stays. How text is placed belongs to
`notebook.placing`, files to `notebook.pages`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from infold.errors import EditRefused, UsageError
from infold.notebook.placing import (
    UNPRINTABLE,
    blank_lines_end,
    body_start,
    cleaned,
    doubled_front_matter,
    front_matter_of,
    heading_gap,
    insert,
    placed,
    refuse_front_matter,
    with_line_ends,
)
from infold.text import collapse_spaces
from infold.vault.lines import LINE_END
from infold.vault.names import folded
from infold.vault.note import Heading, Note, parse

SECTION_LEVEL: Final = 2  # of a heading that is made (spec 3, section 6)
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*", re.DOTALL)
_ABOVE: Final = " > "


@dataclass(frozen=True, slots=True)
class Revised:
    """A note's new text, and what was done to it in words that follow its name."""

    text: str
    what: str


def new_page(content: str, section: str | None) -> Revised:
    """A page that holds `content`, under the heading of `section` where one is named."""
    if section is None:
        return Revised(f"{cleaned(content)}\n", "is new")
    level, title = _wanted(section)
    return Revised(f"{_made(None, level, title, content)}\n", f"is new, with the section {title!r}")


def appended(text: str, content: str) -> Revised:
    """`text` with `content` after its last line."""
    added = cleaned(content)
    refuse_front_matter(added)
    note = parse("", text)
    return Revised(insert(note, body_start(note), len(text), added), "has the text at its end")


def replaced(text: str, content: str) -> Revised:
    """`text` with everything below its front matter in favour of `content`.

    The front matter stays. Content that brings the same again, as a page that was read and is written back does, may;
    one that brings another is refused.
    """
    note, new = parse("", text), cleaned(content)
    start = body_start(note)
    front = note.front_matter if start > 1 else None
    brought = front_matter_of(new)
    if brought and front is not None:
        if LINE_END.sub("\n", text[front.start : front.end]).rstrip() != brought.rstrip():
            raise doubled_front_matter()
        new = cleaned(new[len(brought) :])
    new = with_line_ends(new, text)
    body = text[start:]
    if not body.strip():
        gap = with_line_ends("\n\n", text) if front is not None else ""
        return Revised(f"{text[:start]}{gap}{new}{with_line_ends(chr(10), text)}", "has the text")
    first, last = blank_lines_end(body), len(body.rstrip(" \t\r\n"))
    return Revised(text[:start] + body[:first] + new + body[last:], "is replaced")


def appended_to_section(text: str, section: str, content: str) -> Revised:
    """`text` with `content` at the end of a section's own body, before its sub-sections.

    A section that is missing is made, at the end. Content may begin with the section's heading, which is not doubled.
    """
    note = parse("", text)
    heading = find_section(note, section)
    if heading is None:
        level, title = _wanted(section)
        made = _made(note, level, title, content)
        return Revised(insert(note, body_start(note), len(text), made), f"has a new section {title!r} at its end")
    added = _section_content(content, heading.level, heading.title)
    end = min((other.start for other in note.headings if other.start > heading.start), default=len(text))
    return Revised(insert(note, heading.end, end, added), f"has the text at the end of {heading.title!r}")


def replaced_section(text: str, section: str, content: str) -> Revised:
    """`text` with a section's body, its sub-sections included, in favour of `content`.

    A section that is missing is made, at the end. A section ends before the next heading of its level or above. A title
    over other sections is refused: that would be the whole page.
    """
    note = parse("", text)
    heading = find_section(note, section)
    if heading is None:
        return appended_to_section(text, section, content)
    added = _section_content(content, heading.level, heading.title)
    below = [other for other in note.headings if other.start > heading.start]
    end = next((other.start for other in below if other.level <= heading.level), len(text))
    inner = [other.title for other in below if other.start < end]
    if heading.level == 1 and inner:
        raise EditRefused(
            f"{heading.raw!r} is the title over {len(inner)} sections, not a section to replace.",
            hint="Name one of its sections, or leave the section out to replace the page.",
        )
    body = text[heading.end : end]
    if not body.strip():
        return Revised(insert(note, heading.end, end, added), f"has the text in {heading.title!r}, which was empty")
    first, last = heading.end + blank_lines_end(body), heading.end + len(body.rstrip(" \t\r\n"))
    gone = f", with its sub-sections {', '.join(map(repr, inner))}" if inner else ""
    return Revised(placed(note, first, last, added), f"has {heading.title!r} replaced{gone}")


def find_section(note: Note, section: str) -> Heading | None:
    """The heading that `section` names, `## Groceries` or `Groceries` or `Food > Groceries`; None where there is none.

    The level that is written counts, else the second, else any. Raises EditRefused where several are meant.
    """
    level, title = _wanted(section)
    found = _named(note, title)
    if not found and _ABOVE in title:
        *above, last = (part.strip() for part in title.split(_ABOVE))
        found = [heading for heading in _named(note, last) if _trail(note, heading)[-len(above) :] == above]
    for wanted in (level, SECTION_LEVEL):
        found = [heading for heading in found if heading.level == wanted] or found
    if len(found) > 1:
        lines = ", ".join(str(heading.line) for heading in found)
        raise EditRefused(
            f"{title!r} is the heading of {len(found)} sections, at the lines {lines}.",
            hint="Name the heading above it too, such as 'Food > Groceries'.",
        )
    return found[0] if found else None


def _named(note: Note, title: str) -> list[Heading]:
    exact = [heading for heading in note.headings if title in (heading.title, _wanted_or(heading.raw))]
    if exact:
        return exact
    wanted = folded(collapse_spaces(_plain(title)))
    return [heading for heading in note.headings if folded(collapse_spaces(heading.title)) == wanted]


def _wanted_or(raw: str) -> str:
    found = _HEADING.fullmatch(raw)
    return found[2] if found else raw


def _plain(title: str) -> str:
    """A title as a heading shows it, without marks of emphasis and links."""
    headings = parse("", f"# {title}\n", with_blocks=False).headings
    return headings[0].title if headings else title


def _trail(note: Note, heading: Heading) -> list[str]:
    above: list[Heading] = []
    for other in note.headings:
        while above and above[-1].level >= other.level:
            above.pop()
        if other is heading:
            break
        above.append(other)
    return [other.title for other in above]


def _wanted(section: str) -> tuple[int | None, str]:
    """The level that a section's name gives, or None, and its title. Raises UsageError for what can be no heading."""
    name = section.strip()
    found = _HEADING.fullmatch(name)
    level, title = (len(found[1]), found[2].strip()) if found else (None, name)
    if not title.strip("#") or LINE_END.search(title) or UNPRINTABLE.search(title):
        raise UsageError(f"{section!r} is not the name of a section.", hint="Give one line, such as 'Groceries'.")
    return level, title


def _made(note: Note | None, level: int | None, title: str, content: str) -> str:
    """A new section."""
    marks = level or SECTION_LEVEL
    return f"{'#' * marks} {title}{heading_gap(note)}{_section_content(content, marks, title)}"


def _section_content(content: str, level: int, title: str) -> str:
    """What goes below a section's heading. Raises EditRefused for what would end the section."""
    content = cleaned(content)
    refuse_front_matter(content)
    inside = parse("", f"\n{content}", with_blocks=False)
    first = next(iter(inside.headings), None)
    if first is not None and first.line == 2 and first.level == level and folded(first.title) == folded(_plain(title)):
        content = cleaned(content[first.end - 1 :])
        inside = parse("", f"\n{content}", with_blocks=False)
    for heading in inside.headings:
        if heading.level <= level:
            raise EditRefused(
                f"The text holds the heading {heading.raw!r} at its line {heading.line - 1}: it would end the section.",
                hint=f"Write that section by itself, or give the heading at least {level + 1} #.",
            )
    return content

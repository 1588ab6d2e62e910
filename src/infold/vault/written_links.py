"""Links as they are written in a note, as records; those that lead out of the vault are left out."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Final
from urllib.parse import unquote

from infold.vault.blocks import Source
from infold.vault.comments import MARK, MASKED
from infold.vault.front_matter import strings
from infold.vault.outline import Outline, RawLink
from infold.vault.records import FrontMatter, Link

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_WEB_SCHEME: Final = re.compile(r"(?:https?|ftp|file|mailto|obsidian):", re.IGNORECASE)
_START: Final = attrgetter("start")
_WIKI: Final = re.compile(r"(!?)\[\[([^\[\]\r\n]+)\]\]")


def read_links(found: Outline, source: Source) -> list[Link]:
    """The links of the body, in the order they begin."""
    ordered = sorted((raw for raw in found.links if raw.is_wiki or not _leads_out(raw.destination)), key=_START)
    begins = source.offsets.many([raw.start for raw in ordered], source.base)
    ends = source.offsets.many([raw.end for raw in ordered], source.base)
    links = (_link(raw, source, begin, end) for raw, begin, end in zip(ordered, begins, ends, strict=True))
    return [link for link in links if link is not None]


def read_front_matter_links(front_matter: FrontMatter, source: Source) -> list[Link]:
    """Links in quoted values of the front matter, as Obsidian's properties hold them."""
    if not front_matter.values or source.text.find("[[", 0, front_matter.end) < 0:
        return []
    quoted = "\n".join(strings(front_matter.values))  # an unquoted [[x]] is a list in a list, so not among these
    links: list[Link] = []
    for match in _WIKI.finditer(source.text, front_matter.start, front_matter.end):
        target, bar, alias = match[2].partition("|")
        raw = RawLink(match.start(), match.end(), target, True, bool(bar), bool(match[1]), [alias])
        link = _link(raw, source, match.start(), match.end()) if match[0] in quoted else None
        if link is not None:
            links.append(link)
    return links


def _leads_out(destination: str) -> bool:
    """Whether a Markdown link leads out of the vault, or nowhere."""
    return not destination or _SCHEME.match(destination) is not None


def _link(raw: RawLink, source: Source, start: int, end: int) -> Link | None:
    """The record of a link, or None where it leads out of the vault or nowhere."""
    destination = raw.destination
    if raw.is_wiki:
        if raw.has_alias:
            destination = destination.removesuffix("\\")
        if "\n" in destination or "\r" in destination or _WEB_SCHEME.match(destination):
            return None
    target, _, anchor = destination.partition("#")
    if not raw.is_wiki and "%" in destination:
        target, anchor = unquote(target), unquote(anchor)
    target = target.strip()
    if anchor:
        anchor = "#".join(part.strip() for part in anchor.split("#") if part.strip())
    if not target and not anchor:
        return None
    shown = "".join(raw.shown).strip() if raw.has_alias or not raw.is_wiki else ""
    if MARK in shown:
        shown = MASKED.sub("", shown).strip()
    return Link(
        target=target,
        anchor=anchor,
        alias=shown if shown and shown != target else None,
        raw=source.text[start:end],
        is_wiki=raw.is_wiki,
        is_embed=raw.is_embed,
        start=start,
        end=end,
        line=source.lines.number(start),
        context=source.lines.context(start, end),
    )

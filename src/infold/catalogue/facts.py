"""What is kept of one note: all that its text tells, parsed once.

Plain values only, so that facts pass between processes cheaply. Reading files belongs to `catalogue.reading`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.catalogue.days import day_in_front_matter
from infold.catalogue.link_blob import NO_NOTE, NOTHING, LinkRow, pack_links, pack_targets
from infold.catalogue.outline_blob import pack_outline, pack_passages
from infold.catalogue.passages import cuts
from infold.catalogue.records import packed_strings
from infold.text import token_count, word_count
from infold.vault.front_matter import text_value, trust_of
from infold.vault.lines import Lines
from infold.vault.links import is_attachment
from infold.vault.note import plain_text
from infold.vault.outline import MAX_PARTS
from infold.vault.records import Link, Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infold.catalogue.cutting import Cutting
    from infold.catalogue.passages import PassageCut

MAX_TAGS: Final = 100  # of a note; each passage of it carries them
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class NoteFacts(NamedTuple):
    """The facts of one note. What is looked at one note at a time is packed."""

    path: str
    sha256: str
    title: str
    words: int
    tokens: int
    headings: bytes  # packed, lines as written
    tags: str  # JSON
    aliases: str  # JSON
    front_day: str
    origin: str
    trust: str
    problem: str | None  # of the front matter, or of a note that is too much
    outline: bytes
    passages: bytes
    targets: bytes  # of its links, as long as none is known to lead anywhere
    links: bytes  # what they say
    link_places: bytes


def cut_as(note: Note, cutting: Cutting) -> list[PassageCut]:
    """Where the passages of a note stand, cut so."""
    return cuts(note, cutting.passage_tokens, cutting.overlap_tokens, cutting.max_passages)


def facts_of(note: Note, digest: str, cutting: Cutting, passages: Sequence[PassageCut] | None = None) -> NoteFacts:
    """The facts of a parsed note whose bytes have the hash `digest`; `passages` are its own, where they are cut."""
    values = note.front_matter.values if note.front_matter is not None else {}
    origin = _encodable(text_value(values, "origin"))
    passages = cut_as(note, cutting) if passages is None else passages
    links = [link_row(link) for link in note.links]
    said, places = pack_links(links)
    return NoteFacts(
        path=note.path,
        sha256=digest,
        title=_encodable(note.title),
        words=word_count(plain_text(note)),
        tokens=token_count(note.text),
        headings=packed_strings(_json([heading.raw for heading in note.headings])),
        tags=_json(note.tags[:MAX_TAGS]),
        aliases=_json(note.aliases),
        front_day=day_in_front_matter(values) or "",
        origin=origin,
        trust=_encodable(trust_of(values)),
        problem=_problem(note, passages, cutting) or None,
        outline=pack_outline(note),
        passages=pack_passages(passages),
        targets=pack_targets(NO_NOTE if link.is_attachment else NOTHING for link in links),
        links=said,
        link_places=places,
    )


def _problem(note: Note, passages: Sequence[PassageCut], cutting: Cutting) -> str:
    """What of the note is not taken up; "" where all of it is."""
    found = []
    if note.front_matter is not None and note.front_matter.problem:
        found.append(note.front_matter.problem)
    if note.plain_from is not None:
        line = note.text.count("\n", 0, note.plain_from) + 1
        found.append(
            f"line {line}: over {MAX_PARTS:,} blocks and links stand above; what follows is read as plain text"
        )
    if len(passages) >= cutting.max_passages and note.text[(end := passages[-1][1]) :].strip():
        line, most = Lines(note.text).number(end - 1), cutting.max_passages
        found.append(f"line {line}: {most:,} passages end here (search.max_passages); search does not find the rest")
    if len(note.tags) > MAX_TAGS:
        found.append(f"{len(note.tags):,} tags; the first {MAX_TAGS:,} are taken up")
    return "; ".join(found)


def link_row(link: Link) -> LinkRow:
    """The row of one link of a note."""
    return LinkRow(
        link.target,
        link.anchor,
        link.alias,
        link.is_wiki,
        link.is_embed,
        bool(link.target) and is_attachment(link.target, is_wiki=link.is_wiki),
        link.start,
        link.end,
        link.line,
    )


def _json(values: Sequence[str]) -> str:
    """These strings as a row has them; empty where there are none."""
    return _encodable(json.dumps(values, ensure_ascii=False, separators=(",", ":"))) if values else ""


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which YAML's escapes can make and UTF-8 has no form for."""
    return text.encode("utf-8", "replace").decode() if _SURROGATES.search(text) else text

"""The links of a note as they are kept: what they say, where they stand, and where they lead, a blob each.

What they say is packed into a third of a row a link, and read a note at a time. Where they lead is a number a link, so
that the graph of all notes is read without the rest, and links to one note are looked for by its number.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from infold.catalogue.records import RAW
from infold.errors import CatalogueFault

NOTHING: Final = 0  # in place of a note's id: the link should lead to a note and leads to none
NO_NOTE: Final = 0xFFFF_FFFF  # it leads to no note by its form
_WIKI, _EMBED, _ATTACHMENT = 1, 2, 4
_STRINGS, _NUMBERS = 3, 3  # of a link
_END: Final = "\0"  # of a string

Name = tuple[str, str, int]  # a link's name, alias ("" for none) and flags: what decides where it leads


class LinkRow(NamedTuple):
    """A link as the note writes it. Where it leads stands beside it in the catalogue."""

    name: str  # the target as written, decoded and without anchor
    anchor: str
    alias: str | None
    is_wiki: bool
    is_embed: bool
    is_attachment: bool  # leads to no note by its form, so it cannot dangle
    start: int
    end: int
    line: int


def pack_links(links: Sequence[LinkRow]) -> tuple[bytes, bytes]:
    """What these links say, and where they stand; nothing where there are none."""
    if not links:
        return b"", b""
    import zlib

    import msgpack

    flags = ""
    strings: list[str] = []
    numbers: list[int] = []
    position = above = 0
    for name, anchor, alias, is_wiki, is_embed, is_attachment, start, end, line in links:
        flags += str(_WIKI * is_wiki | _EMBED * is_embed | _ATTACHMENT * is_attachment)
        strings += (name, anchor, alias or "")
        numbers += (start - position, end - start, line - above)  # small numbers take a byte
        position, above = end, line
    said = _END.join((flags, *strings))
    if said.count(_END) > len(strings):  # a link may be decoded to anything
        said = json.dumps((flags, *strings))
    return zlib.compress(said.encode(), 6, RAW), msgpack.packb(numbers)


def unpack_links(said: bytes, places: bytes) -> list[LinkRow]:
    """The links, as they were given to `pack_links`."""
    import msgpack

    numbers = msgpack.unpackb(places) if places else ()
    strings = _strings(said)
    rows: list[LinkRow] = []
    end = line = 0
    for (name, alias, flags), anchor, gap, length, lines in zip(
        _names(strings), strings[2::_STRINGS], *(numbers[at::_NUMBERS] for at in range(_NUMBERS)), strict=True
    ):
        start = end + gap
        end = start + length
        line += lines
        is_wiki, is_embed, is_attachment = bool(flags & _WIKI), bool(flags & _EMBED), bool(flags & _ATTACHMENT)
        rows.append(LinkRow(name, anchor, alias or None, is_wiki, is_embed, is_attachment, start, end, line))
    return rows


def names_of(said: bytes) -> Iterator[Name]:
    """What decides where the links lead, in their order."""
    return _names(_strings(said))


def shown_names_of(said: bytes) -> Sequence[str]:
    """What each link to a note as a whole shows; "" for those that show its name, or lead to a part, or show it all."""
    strings = _strings(said)
    aliases = strings[3::_STRINGS]
    if not any(aliases):
        return aliases
    return [
        "" if anchor or int(flags) & _EMBED else alias
        for alias, anchor, flags in zip(aliases, strings[2::_STRINGS], strings[0], strict=True)
    ]


def is_wiki(flags: int) -> bool:
    """Whether the link of these flags is written `[[so]]`."""
    return bool(flags & _WIKI)


def no_target(flags: int) -> int:
    """What stands in place of a note's id where the link of these flags leads to none."""
    return NO_NOTE if flags & _ATTACHMENT else NOTHING


def pack_targets(targets: Iterable[int]) -> bytes:
    """Where links lead: an id of a note each, NOTHING or NO_NOTE."""
    return array("I", targets).tobytes()


def unpack_targets(packed: bytes) -> array[int]:
    """The numbers that were given to `pack_targets`."""
    return array("I", packed)


def led_before(
    targets: bytes, said: bytes, known_targets: bytes | None, known_said: bytes | None
) -> tuple[bytes, bool]:
    """Where these links lead as far as equal ones are known to, else as `targets` says; and whether all are known."""
    if known_targets is None or known_said is None:
        return targets, not said
    known = dict(zip(names_of(known_said), unpack_targets(known_targets), strict=True))
    names = list(names_of(said))
    found = pack_targets(known.get(name, target) for name, target in zip(names, unpack_targets(targets), strict=True))
    return found, known.keys() >= set(names)


def _strings(said: bytes) -> list[str]:
    """The flags of all links, a digit each; then name, anchor and alias of each."""
    if not said:
        return [""]
    import zlib  # here, as the above: most commands read no link

    try:
        text = zlib.decompress(said, RAW).decode()
        return json.loads(text) if text.startswith("[") else text.split(_END)
    except (ValueError, zlib.error) as error:
        raise CatalogueFault(f"The links of a note cannot be read: {error}.") from error


def _names(strings: Sequence[str]) -> Iterator[Name]:
    return zip(strings[1::_STRINGS], strings[3::_STRINGS], map(int, strings[0]), strict=True)

"""The links of a note as they are kept: what they say in one blob, where they lead in another.

What they say is packed into a third of the size of a row a link, and read a note at a time. Where they lead is a number
a link, so that the graph of all notes is read without the rest, and links to one note are looked for by its number.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from infold.catalogue.records import RAW
from infold.errors import CatalogueFault

NOTHING: Final = 0  # in place of a note's id: the link should lead to a note and leads to none
NO_NOTE: Final = 0xFFFF_FFFF  # it leads to no note by its form
_WIKI, _EMBED, _ATTACHMENT = 1, 2, 4
_STRINGS, _NUMBERS = 3, 4  # of a link

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


def pack_links(links: Sequence[LinkRow]) -> bytes:
    """What these links say; nothing where there are none."""
    if not links:
        return b""
    import zlib

    import msgpack

    strings: list[str] = []
    numbers: list[int] = []
    position = above = 0
    for name, anchor, alias, is_wiki, is_embed, is_attachment, start, end, line in links:
        strings += (name, anchor, alias or "")
        flags = _WIKI * is_wiki | _EMBED * is_embed | _ATTACHMENT * is_attachment
        numbers += (flags, start - position, end - start, line - above)  # small numbers take a byte
        position, above = end, line
    joined = "\0".join(strings)
    is_plain = joined.count("\0") == len(strings) - 1  # a link may be decoded to anything
    packed: bytes = msgpack.packb((zlib.compress(joined.encode(), 6, RAW) if is_plain else strings, numbers))
    return packed


def unpack_links(packed: bytes) -> list[LinkRow]:
    """The links, as they were given to `pack_links`."""
    strings, numbers = _unpacked(packed)
    rows: list[LinkRow] = []
    end = line = 0
    for (name, alias, flags), anchor, gap, length, lines in zip(
        _names(strings, numbers), strings[1::_STRINGS], *(numbers[at::_NUMBERS] for at in (1, 2, 3)), strict=True
    ):
        start = end + gap
        end = start + length
        line += lines
        is_wiki, is_embed, is_attachment = bool(flags & _WIKI), bool(flags & _EMBED), bool(flags & _ATTACHMENT)
        rows.append(LinkRow(name, anchor, alias or None, is_wiki, is_embed, is_attachment, start, end, line))
    return rows


def names_of(packed: bytes) -> Iterator[Name]:
    """What decides where the links lead, in their order."""
    return _names(*_unpacked(packed))


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
    targets: bytes, links: bytes, known_targets: bytes | None, known_links: bytes | None
) -> tuple[bytes, bool]:
    """Where these links lead as far as equal ones are known to, else as `targets` says; and whether all are known."""
    if known_targets is None or known_links is None:
        return targets, not links
    known = dict(zip(names_of(known_links), unpack_targets(known_targets), strict=True))
    names = list(names_of(links))
    found = pack_targets(known.get(name, target) for name, target in zip(names, unpack_targets(targets), strict=True))
    return found, known.keys() >= set(names)


def _unpacked(packed: bytes) -> tuple[list[str], list[int]]:
    if not packed:
        return [], []
    import zlib  # here, as the above: most commands read no link

    import msgpack

    try:
        strings, numbers = msgpack.unpackb(packed)
        return strings if isinstance(strings, list) else zlib.decompress(strings, RAW).decode().split("\0"), numbers
    except (TypeError, ValueError, zlib.error) as error:
        raise CatalogueFault(f"The links of a note cannot be read: {error}.") from error


def _names(strings: Sequence[str], numbers: Sequence[int]) -> Iterator[Name]:
    return zip(strings[0::_STRINGS], strings[2::_STRINGS], numbers[0::_NUMBERS], strict=True)

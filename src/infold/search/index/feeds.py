"""Where the index gets its points from: feeds of files, each of which gives the points of one note, or a reason.

A feed lists what there is by path, time and size, and reads one item at a time, in this process or in a worker. When
something is read, and what leaves the index, belongs to `search.index.sync`. The vault's notes are a feed here; whoever
has other texts to search brings a feed of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from infold.catalogue.kinds import kind_of
from infold.errors import NoteUnreadable, PathRefused, VaultNotFound
from infold.search.index.manifest import NOTES
from infold.settings import Params
from infold.text import content_hash
from infold.vault.daily_notes import daily_notes
from infold.vault.files import Skipped, decode, read_bytes, scan

if TYPE_CHECKING:
    from infold.search.index.points import NotePoints

UNINDEXED_KINDS: Final = frozenset({"inbox"})
DAILY: Final = "daily"


class Item(NamedTuple):
    """A file that a feed has something to say about. `variant` is what else its points depend on."""

    path: str
    mtime_ns: int
    size: int
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a feed has, and what it passed over: that is taken from the index, unless it is only out of reach."""

    items: Sequence[Item]
    skipped: Sequence[Skipped] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of one item: its points; nothing new (`points` None, no reason); or why it cannot be read.

    `is_kept`: it may well be readable later, so what the index has of it stays.
    """

    item: Item
    sha256: str = ""
    points: NotePoints | None = None
    reason: str = ""
    is_kept: bool = False


class Feed(Protocol):
    """Something to search. Is pickled where many items are read, by worker processes."""

    @property
    def name(self) -> str:
        """What its rows in the manifest are kept under. Its paths are no other feed's."""

    @property
    def is_guarded(self) -> bool:
        """Whether nothing at all, where there was something, is taken for an absent folder, and empties nothing."""

    def items(self, paths: Sequence[str] | None = None) -> Listing:
        """What there is; only what is at `paths`, where they are given. Raises VaultNotFound."""

    def read(self, item: Item, known_sha256: str) -> Reading:
        """The points of an item, unless its bytes have the hash known. Never raises for what one item can be."""


@dataclass(frozen=True, slots=True)
class NotesFeed:
    """The notes of a vault, the inbox left out: it is what is still to be folded in."""

    vault: Path
    params: Params

    name = NOTES
    is_guarded = True

    def items(self, paths: Sequence[str] | None = None) -> Listing:
        """The vault's notes by the rules of `vault.files`."""
        found = scan(self.vault, self.params.vault, near=paths)
        wanted = None if paths is None else frozenset(paths)
        kind = kind_of(self.params, self.vault)
        items = [
            Item(file.path, file.mtime_ns, file.size, kind(file.path))
            for file in found.files
            if wanted is None or file.path in wanted
        ]
        return Listing([item for item in items if item.variant not in UNINDEXED_KINDS], found.skipped)

    def read(self, item: Item, known_sha256: str) -> Reading:
        """The passages of a note."""
        try:
            data = read_bytes(self.vault, item.path, self.params.vault.max_note_bytes)
            sha256 = content_hash(data)
            if sha256 == known_sha256:
                return Reading(item, sha256)
            # Here, because a search of an unchanged vault does without the parser.
            from infold.search.index.points import note_points
            from infold.vault.note import parse

            note = parse(item.path, decode(data, item.path))
        except (NoteUnreadable, PathRefused) as error:
            cause = error.__cause__
            is_kept = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
            return Reading(item, reason=str(error), is_kept=is_kept)
        is_daily = item.variant == DAILY
        day = daily_notes(self.vault, self.params.notebook).day(item.path) if is_daily else None
        return Reading(item, sha256, note_points(note, item.variant, self.params.search, day))


def listed(feed: Feed, paths: Sequence[str] | None, *, is_held: bool) -> Listing:
    """What a feed has. A folder that is not there, where the index holds something of it, is only out of reach.

    Raises VaultNotFound where the index holds nothing of it.
    """
    try:
        return feed.items(paths)
    except VaultNotFound as error:
        if not is_held:
            raise
        return Listing((), (Skipped(".", str(error), is_kept=True),))


class Wanted(NamedTuple):
    """An item to be read, and the hash that the index has of it."""

    item: Item
    known_sha256: str


def read_item(wanted: Wanted, feed: Feed, with_texts: bool) -> Reading:
    """Reads one item, as workers do; without the texts to embed where nobody will embed them."""
    reading = feed.read(wanted.item, wanted.known_sha256)
    if with_texts or reading.points is None:
        return reading
    return replace(reading, points=replace(reading.points, texts=[""] * len(reading.points.texts)))

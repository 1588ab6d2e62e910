"""Where the index gets its points from: feeds, of files that are compared, or of changes that a store remembers.

A feed of files lists what there is by path, time and size, and reads one item at a time, in this process or in a
worker. When something is read, and what leaves the index, belongs to `search.index.sync`. The vault's notes are a feed
here; whoever has other texts to search brings a feed of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from infold.catalogue.kinds import kind_of, kinds_told_by
from infold.catalogue.sync import CatalogueSync, sync_catalogue
from infold.errors import NoteUnreadable, PathRefused, VaultNotFound
from infold.search.index.manifest import NOTES
from infold.settings_record import plain_settings
from infold.text import content_hash
from infold.vault.daily_notes import daily_notes
from infold.vault.names import stem
from infold.vault.scanning import FileStat, Scan, Skipped, scan

if TYPE_CHECKING:
    from infold.catalogue.records import WrittenNote
    from infold.catalogue.store import Catalogue
    from infold.catalogue.sync import CatalogueResult, CountProgress
    from infold.search.index.contract import IndexPoint
    from infold.search.index.points import NotePoints
    from infold.settings import Params

UNINDEXED_KINDS: Final = frozenset({"inbox"})
DAILY: Final = "daily"


class Item(NamedTuple):
    """A file that a feed has something to say about. `variant` is what else its points depend on."""

    path: str
    mtime_ns: int
    size: int
    variant: str = ""


class Listing:
    """What a feed has, and what it passed over: that is taken from the index, unless it is only out of reach.

    `items` may be given as what makes them, when they are first asked for: whoever knows the `digest`, which differs
    where they do, needs none of them. Without one nothing is known by it.
    """

    def __init__(
        self,
        items: Sequence[Item] | Callable[[], Sequence[Item]],
        skipped: Sequence[Skipped] = (),
        digest: bytes = b"",
    ) -> None:
        self._items, self.skipped, self.digest = items, skipped, digest

    @cached_property
    def items(self) -> Sequence[Item]:
        """Every file, by path."""
        return self._items() if callable(self._items) else self._items


class ReadResult(NamedTuple):
    """What came of one item: its points; nothing new (`points` None, no reason); or why it cannot be read.

    `is_kept`: it may well be readable later, so what the index has of it stays.
    """

    item: Item
    sha256: str = ""
    points: NotePoints | None = None
    reason: str = ""
    is_kept: bool = False


class FileFeed(Protocol):
    """Something to search that lies in files. Is pickled where many items are read, by worker processes."""

    @property
    def name(self) -> str:
        """What its rows in the manifest are kept under. Its paths are no other feed's."""

    @property
    def is_guarded(self) -> bool:
        """Whether nothing at all, where there was something, is taken for an absent folder, and empties nothing."""

    def items(self, paths: Sequence[str] | None = None) -> Listing:
        """What there is; only what is at `paths`, where they are given. Raises VaultNotFound."""

    def read(self, item: Item, known_sha256: str) -> ReadResult:
        """The points of an item, unless its bytes have the hash known. Never raises for what one item can be."""


class ChangedPoints(NamedTuple):
    """Points that are new, or not as they were, each with the key and the text of its vector; and ids that are gone.

    `token` is the feed's own, by which it knows what was confirmed.
    """

    points: list[IndexPoint]
    keys: list[str]
    texts: list[str]
    gone: list[str]
    token: object = None


@runtime_checkable
class ChangeFeed(Protocol):
    """Something to search that knows itself what changed since the index last heard of it.

    Killed anywhere, what was not confirmed is given again. Whoever brings the index up to date is one at a time.
    """

    @property
    def name(self) -> str:
        """What its paths are noted under in the manifest. They are no other feed's."""

    def heard(self) -> str:
        """The generation of the index that has heard of all that does not wait; "" where none has."""

    def begin(self, generation: str) -> None:
        """From now on everything waits, for this generation, which holds nothing of it."""

    def waiting(self) -> int:
        """About how many points wait."""

    def changes(self) -> ChangedPoints | None:
        """Some of what waits; None where nothing does."""

    def confirm(self, changes: ChangedPoints) -> None:
        """The index has these for good."""

    def current(self, ids: Sequence[str]) -> ChangedPoints:
        """These points as they are now."""


Feed = FileFeed | ChangeFeed


class NotesFeed:
    """The notes of a vault, the inbox left out: it is what is still to be folded in. A feed is for one sync.

    They are taken from the catalogue, which is brought up to date first, unless a sync has just `seen` everything.
    """

    name = NOTES
    is_guarded = True

    def __init__(
        self, catalogue: Catalogue, seen: CatalogueResult | None = None, progress: CountProgress | None = None
    ) -> None:
        self.catalogue, self.seen, self._progress = catalogue, seen, progress

    def __getstate__(self) -> Catalogue:
        return self.catalogue

    def __setstate__(self, catalogue: Catalogue) -> None:
        self.__init__(catalogue)  # type: ignore[misc]

    def items(self, paths: Sequence[str] | None = None) -> Listing:
        """The vault's notes by the rules of `vault.scanning`."""
        found = self.seen if paths is None else None
        if found is None:
            found = sync_catalogue(self.catalogue, paths, self._progress)
        if paths is None:
            self.seen = found
        params, vault = self.catalogue.params, self.catalogue.vault
        digest = found.digest if paths is None else b""
        if digest:
            digest = content_hash(digest + kinds_told_by(params, vault).encode()).encode()
        return Listing(lambda: _items(found.files, params, vault), found.skipped, digest)

    def ahead(self, *, with_texts: bool) -> tuple[int, Generator[ReadResult]]:
        """The points of what the catalogue has to read anyway, made on the way: each note is read and parsed once.

        How many files that are, and what comes of those that can be read. Afterwards nothing is looked at again. Raises
        VaultNotFound.
        """
        if self.seen is not None:
            return 0, (_ for _ in ())
        make = _PointsOf(self.catalogue.vault, plain_settings(self.catalogue.params), with_texts=with_texts)
        sync = CatalogueSync(self.catalogue, None, self._progress, make)
        return sync.begin(), self._read_by(sync)

    def _read_by(self, sync: CatalogueSync) -> Generator[ReadResult]:
        for (path, size, mtime_ns), reading in sync.read():
            if isinstance(reading.made, _Made) and reading.facts is not None:
                variant, points = reading.made
                yield ReadResult(Item(path, mtime_ns, size, variant), reading.facts.sha256, points)
        self.seen = sync.end()

    def read(self, item: Item, known_sha256: str) -> ReadResult:
        """The passages of a note."""
        if known_sha256 and self.catalogue.known_hash(item.path) == known_sha256:
            return ReadResult(item, known_sha256)
        try:
            found = self.catalogue.written(item.path, with_blocks=False)
        except (NoteUnreadable, PathRefused) as error:
            cause = error.__cause__
            is_kept = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
            return ReadResult(item, reason=str(error), is_kept=is_kept)
        from infold.search.index.points import note_points  # here: a search of an unchanged vault does without

        kind, day = _kind_and_day(item.variant)
        points = note_points(found.note, kind, self.catalogue.params.search, day, found.passages)
        return ReadResult(item, found.sha256, points)


class _Made(NamedTuple):
    """The points of a note, and what they depend on beside it."""

    variant: str
    points: NotePoints


class _PointsOf:
    """What makes the points of notes that were read just now, in a worker or not; None of one that is not indexed."""

    def __init__(self, vault: Path, params: Params, *, with_texts: bool) -> None:
        self._vault, self._params, self._with_texts = vault, params, with_texts

    def __call__(self, written: Sequence[WrittenNote]) -> list[_Made | None]:
        from infold.search.index.points import NoteToIndex, points_of

        variant = _variant_of(self._params, self._vault)
        variants = [variant(each.note.path) for each in written]
        wanted = [
            NoteToIndex(note, *_kind_and_day(variant), passages)
            for (note, _, passages), variant in zip(written, variants, strict=True)
            if variant not in UNINDEXED_KINDS
        ]
        made = iter(points_of(wanted, self._params.search, with_texts=self._with_texts))
        return [None if variant in UNINDEXED_KINDS else _Made(variant, next(made)) for variant in variants]


def _variant_of(params: Params, vault: Path) -> Callable[[str], str]:
    """What a note's points take from its path: its kind, and the day of a daily note whose name is no ISO date."""
    kind, daily = kind_of(params, vault), daily_notes(vault, params.notebook)

    def variant(path: str) -> str:
        told = kind(path)
        day = daily.day(path) if told == DAILY else None
        return told if day is None or day.isoformat() == stem(path) else f"{told} {day.isoformat()}"

    return variant


def _kind_and_day(variant: str) -> tuple[str, str | None]:
    kind, _, day = variant.partition(" ")
    return kind, day or None


def notes_in(vault: Path, params: Params, seen: Scan | None = None) -> Listing:
    """The notes that there are to index, by a look at the files or as just seen. Raises VaultNotFound."""
    found = seen or scan(vault, params.vault)
    return Listing(_items(found.files, params, vault), found.skipped)


def _items(files: Iterable[FileStat], params: Params, vault: Path) -> list[Item]:
    variant = _variant_of(params, vault)
    items = [Item(path, mtime_ns, size, variant(path)) for path, size, mtime_ns in files]
    return [item for item in items if item.variant not in UNINDEXED_KINDS]


def listed(feed: FileFeed, paths: Sequence[str] | None, *, is_held: bool) -> Listing:
    """What a feed has. A folder that is not there, where the index holds something of it, is only out of reach.

    Raises VaultNotFound where the index holds nothing of it.
    """
    try:
        return feed.items(paths)
    except VaultNotFound as error:
        if not is_held:
            raise
        return Listing((), (Skipped(".", str(error), is_kept=True),))


class ReadRequest(NamedTuple):
    """An item to be read, and the hash that the index has of it."""

    item: Item
    known_sha256: str


def read_items(wanted: Sequence[ReadRequest], feed: FileFeed, with_texts: bool) -> list[ReadResult]:
    """Reads items, as workers do; without the texts to embed where nobody will embed them."""
    read = [feed.read(item, known_sha256) for item, known_sha256 in wanted]
    if with_texts:
        return read
    return [each._replace(points=each.points.without_texts()) if each.points is not None else each for each in read]

"""Writing to the index: the words of what changed, round by round, and its vectors, with them or after.

What is written counts as there once it is durable and the manifest says so; killed anywhere, the next sync does again
what was in progress. What changed belongs to `search.index.change_detection`, which index is written to
`search.index.sync`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.progress import Progress
from infold.search.embed.embedder import vectors_of
from infold.search.index.change_detection import rounds, write_rounds
from infold.search.index.contract import AnyVector, IndexPoint, VectorIndex, VectorRecord
from infold.search.index.disk_space import require_room
from infold.search.index.feeds import ChangeFeed, Feed, FileFeed, Item, ReadRequest, ReadResult
from infold.search.index.manifest import DueVectors, IndexedNote, Manifest
from infold.search.index.point_ids import point_number
from infold.search.index.sync_stats import SyncCounts
from infold.workers import MANY, Crew, processors

if TYPE_CHECKING:
    from infold.catalogue.embeddings import KnownVectors
    from infold.search.embed.embedder import Embedder
    from infold.search.index.note_vectors import NoteVectors
    from infold.search.index.word_writer import WordWriter

VECTOR_BATCH: Final = 512


class Target(NamedTuple):
    """An index being brought up to date, each side opened when it is first written to, and what goes with it."""

    manifest: Manifest
    open_words: Callable[[], WordWriter]
    open_vectors: Callable[[], VectorIndex]
    open_note_vectors: Callable[[], NoteVectors]
    known_vectors: KnownVectors
    embedder: Embedder
    progress: Progress
    counts: SyncCounts
    started_ns: int
    at_once: bool = False  # vectors are written with the words


class _Texts(NamedTuple):
    """Points, with the keys and the texts of their vectors."""

    points: Sequence[IndexPoint]
    keys: Sequence[str]
    texts: Sequence[str]


_NO_TEXTS: Final = _Texts((), (), ())


def readings(feed: FileFeed, wanted: Sequence[ReadRequest], *, with_texts: bool) -> Iterator[ReadResult]:
    """What comes of each item, in any order; by worker processes where there are many."""
    workers = processors() if len(wanted) > MANY else 1
    with closing(Crew("infold.search.index.feeds:read_items", workers, by=_path_of)) as crew:
        for batch in crew.each(wanted, feed, with_texts):
            for _, reading in batch:
                yield reading


def _path_of(wanted: ReadRequest) -> str:
    return wanted.item.path


def write_files(
    target: Target,
    feed: str,
    found: Iterable[ReadResult],
    gone: Sequence[str],
    known: Mapping[str, IndexedNote],
    total: int,
) -> list[ReadResult]:
    """Writes what was read and takes away what is gone; gives back what could not be read."""
    progress, counts = target.progress, target.counts
    failed: list[ReadResult] = []
    done = 0
    leaving: Sequence[str] = gone
    if total:
        progress("keywords", 0, total)
    for batch in write_rounds(found, total):
        _write(target, feed, batch, leaving, known)
        counts.removed += len(leaving)
        leaving = ()
        failed += [reading for reading in batch if reading.reason]
        done += len(batch)
        progress("keywords", done, total)
    if leaving:
        _write(target, feed, (), leaving, known)
        counts.removed += len(leaving)
    return failed


def _write(
    target: Target, feed: str, batch: Sequence[ReadResult], leaving: Sequence[str], known: Mapping[str, IndexedNote]
) -> None:
    """One round: in progress, written, durable, recorded."""
    manifest, counts = target.manifest, target.counts
    read = [reading for reading in batch if reading.points is not None]
    same = [
        _seen(known[reading.item.path], reading.item, target.started_ns)
        for reading in batch
        if reading.points is None and not reading.reason and reading.item.path in known
    ]
    if same:
        manifest.touch(same)
    if not read and not leaving:
        return
    done = [_row(feed, reading, target.started_ns) for reading in read]
    texts = _texts_of(read)
    require_room(manifest.file.parent)
    words = target.open_words()
    old = [*(note.path for note in done if note.path in known), *leaving]
    manifest.begin(feed, [*(note.path for note in done), *leaving], _numbers(target, old))
    words.replace(old, texts.points)
    words.commit()
    due: list[DueVectors] = []
    if not target.embedder.traits.is_empty:
        due = [DueVectors(note.path, note.passages) for note in done]
        due += [DueVectors(path, 0) for path in leaving] if manifest.has_vectors else []
    try:
        if target.at_once:
            _write_whole(target, old, texts)
            due = []
    finally:  # the words are there whatever became of the vectors
        manifest.finish(feed, done, leaving, due)
    counts.changed += len(done)
    counts.created += len(texts.points)


def write_changes(target: Target, feed: ChangeFeed, generation: str) -> None:
    """Brings the index up to date with a feed that knows what changed."""
    manifest, counts = target.manifest, target.counts
    if feed.heard() != generation:
        _forget_all(target, feed.name)
        feed.begin(generation)
    total, sent = feed.waiting(), 0
    known = set(manifest.notes(feed.name)) if total else set()
    while changes := feed.changes():
        require_room(manifest.file.parent)
        new = sorted({point.path for point in changes.points} - known)
        manifest.finish(feed.name, [_tree(feed.name, path) for path in new], [])  # so that they are found to take away
        known.update(new)
        words = target.open_words()
        words.delete(changes.gone)
        words.put(changes.points)
        words.commit()
        if target.at_once:
            _write_vectors(target, _Texts(changes.points, changes.keys, changes.texts), changes.gone)
        elif not target.embedder.traits.is_empty:
            lacking = zip(changes.points, changes.texts, strict=True)
            due = [
                *(DueVectors(one.id, int(bool(text.strip()))) for one, text in lacking),
                *(DueVectors(i, 0) for i in changes.gone),
            ]
            manifest.finish(feed.name, [], [], due)
        feed.confirm(changes)
        counts.created += len(changes.points)
        counts.removed += len(changes.gone)
        sent += len(changes.points) + len(changes.gone)
        target.progress(feed.name, sent, max(total, sent))


def _forget_all(target: Target, feed: str) -> None:
    """Takes everything of a feed from the index."""
    paths = sorted(target.manifest.notes(feed))
    if not paths:
        return
    target.manifest.begin(feed, paths, _numbers(target, paths))
    words = target.open_words()
    words.replace(paths, [])
    words.commit()
    _write_vectors(target, _NO_TEXTS)
    target.manifest.finish(feed, [], paths)
    target.manifest.settle(feed, [one.key for one in target.manifest.due(feed)])


def fill_vectors(target: Target, feeds: Sequence[Feed], until: float | None = None) -> None:
    """Writes the vectors that are missing, batch by batch, and takes away those that nothing has any more.

    Ends with a batch, at the moment `until` of the monotonic clock or soon after; the rest is for the next time.
    """
    manifest = target.manifest
    total = manifest.pending_count()
    done = 0
    for feed in feeds:
        for batch in rounds(manifest.due(feed.name), lambda one: one.passages, VECTOR_BATCH, VECTOR_BATCH):
            if total:
                target.progress("vectors", done, max(total, done))
            require_room(manifest.file.parent)
            manifest.settle(feed.name, _fill(target, feed, batch))
            done += sum(one.passages for one in batch)
            if until is not None and time.monotonic() >= until:
                return
    if total:
        target.progress("vectors", done, max(total, done))


def _fill(target: Target, feed: Feed, batch: Sequence[DueVectors]) -> list[str]:
    """Writes the vectors of a batch; gives those of which they are now as the words are."""
    keys = [one.key for one in batch]
    if isinstance(feed, ChangeFeed):
        now = feed.current(keys)
        _write_vectors(target, _Texts(now.points, now.keys, now.texts), now.gone)
        return keys
    known = target.manifest.notes(feed.name, keys)
    rows = [known[key] for key in keys if key in known]
    read = [feed.read(Item(row.path, row.mtime_ns, row.size, row.variant), "") for row in rows]
    same = [reading for row, reading in zip(rows, read, strict=True) if reading.points and reading.sha256 == row.sha256]
    settled = [*(reading.item.path for reading in same), *(key for key in keys if key not in known)]
    _write_whole(target, settled, _texts_of(same))
    return settled


def _write_whole(target: Target, paths: Sequence[str], texts: _Texts) -> None:
    """Writes the vectors of these texts, which are all there are of these paths, and what their notes are about."""
    written = _write_vectors(target, texts)
    if target.manifest.has_vectors:
        target.open_note_vectors().replace(paths, written)


def _write_vectors(target: Target, texts: _Texts, gone: Sequence[str] = ()) -> list[tuple[str, AnyVector]]:
    """Writes the vectors of these texts, durably, and gives them with their paths; takes away those of the ids `gone`.

    Those that are leaving go too, unless a point has them: the words are written already, and say so.
    """
    manifest = target.manifest
    found = _vectors_of(target, texts)
    numbers = [point_number(point.id) for point in texts.points]
    rows = [
        (point.path, VectorRecord(number, found[key]))
        for point, number, key in zip(texts.points, numbers, texts.keys, strict=True)
        if key in found and any(found[key])
    ]
    records = [record for _, record in rows]
    if records or manifest.has_vectors:
        leaving = manifest.leaving()
        written = {record.number for record in records}
        without = {*map(point_number, gone), *numbers} - written
        if former := set(leaving) - written - without:
            without.update(target.open_words().missing(former))
        _put(target.open_vectors(), records, sorted(without))
        if leaving:
            manifest.gone(leaving)
    return [(path, record.vector) for path, record in rows]


def _put(vectors: VectorIndex, records: Sequence[VectorRecord], gone: Sequence[int]) -> None:
    vectors.delete(gone)
    vectors.put(records)
    vectors.flush()


def _numbers(target: Target, paths: Sequence[str]) -> list[int]:
    """The numbers of the points that these paths have now, where those may have vectors."""
    return target.open_words().numbers(paths) if paths and target.manifest.has_vectors else []


def _vectors_of(target: Target, texts: _Texts) -> dict[str, AnyVector]:
    """By key: those that are known, and the others computed; each batch of them is kept before it is used."""
    embedder, counts = target.embedder, target.counts
    if not texts.points:
        return {}
    wanted = {key: text for key, text in zip(texts.keys, texts.texts, strict=True) if text.strip()}
    found = target.known_vectors.find(embedder.name, wanted)
    missing = [key for key in wanted if key not in found]
    for first in range(0, len(missing), VECTOR_BATCH):
        some = missing[first : first + VECTOR_BATCH]
        computed = dict(zip(some, vectors_of(embedder, [wanted[key] for key in some]), strict=True))
        found |= target.known_vectors.append(embedder.name, computed)
    counts.computed += len(missing)
    counts.cached += sum(key in found for key in texts.keys) - len(missing)
    return found


def _texts_of(read: Iterable[ReadResult]) -> _Texts:
    points: list[IndexPoint] = []
    keys: list[str] = []
    texts: list[str] = []
    for reading in read:
        if reading.points is not None:
            points += reading.points.points
            keys += reading.points.keys
            texts += reading.points.texts
    return _Texts(points, keys, texts)


def _row(feed: str, reading: ReadResult, moment_ns: int) -> IndexedNote:
    item, points = reading.item, reading.points
    return IndexedNote(
        feed=feed,
        path=item.path,
        mtime_ns=item.mtime_ns,
        size=item.size,
        sha256=reading.sha256,
        variant=item.variant,
        passages=len(points.points) if points else 0,
        language=points.language if points else "",
        indexed_ns=moment_ns,
    )


def _tree(feed: str, path: str) -> IndexedNote:
    """The row of what is no file: it says that there are points of this path, and counts none of them."""
    return IndexedNote(feed, path, 0, 0, feed, "", 0, "", 0)


def _seen(row: IndexedNote, item: Item, moment_ns: int) -> IndexedNote:
    """The row of a file whose bytes are as they were."""
    return row._replace(mtime_ns=item.mtime_ns, size=item.size, indexed_ns=moment_ns)

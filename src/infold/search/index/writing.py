"""Writing to an index: keywords of what changed, round by round, and the vectors that are still missing, after.

What is written counts as there once the index is flushed and the manifest says so; killed anywhere, the next sync does
again what was in progress. What changed belongs to `search.index.change_detection`, which index is written to
`search.index.sync`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from infold.catalogue.embeddings import EmbeddingStore
from infold.search.embed.embedder import Embedder
from infold.search.index.change_detection import passages_of, rounds
from infold.search.index.contract import Index, IndexPoint, Vector
from infold.search.index.disk_space import require_room
from infold.search.index.feeds import Feed, Item, Reading, Wanted
from infold.search.index.manifest import IndexedNote, Manifest, PendingVector
from infold.search.index.sync_stats import Counts, Progress
from infold.workers import MANY, Crew, processors

VECTOR_BATCH: Final = 512


@dataclass(frozen=True, slots=True)
class Target:
    """An index being brought up to date, opened when it is first written to, and what goes with it."""

    manifest: Manifest
    open_index: Callable[[], Index]
    store: EmbeddingStore
    embedder: Embedder | None
    progress: Progress
    counts: Counts
    started_ns: int


def readings(feed: Feed, wanted: Sequence[Wanted], *, with_texts: bool) -> Iterator[Reading]:
    """What comes of each item, in any order; by worker processes where there are many."""
    workers = processors() if len(wanted) > MANY else 1
    with closing(Crew("infold.search.index.feeds:read_item", workers)) as crew:
        for batch in crew.each(wanted, feed, with_texts):
            for _, reading in batch:
                yield reading


def write_keywords(
    target: Target,
    feed: str,
    found: Iterable[Reading],
    gone: Sequence[str],
    known: Mapping[str, IndexedNote],
    total: int,
) -> list[Reading]:
    """Writes what was read and takes away what is gone; gives back what could not be read.

    Kept vectors are written at once; the others are noted as pending.
    """
    progress, counts = target.progress, target.counts
    failed: list[Reading] = []
    done = 0
    leaving: Sequence[str] = gone
    if total:
        progress("keywords", 0, total)
    for batch in rounds(found, passages_of):
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
    target: Target, feed: str, batch: Sequence[Reading], leaving: Sequence[str], known: Mapping[str, IndexedNote]
) -> None:
    """One round: in progress, written, flushed, recorded."""
    manifest, counts = target.manifest, target.counts
    done: list[IndexedNote] = []
    points: list[IndexPoint] = []
    pending: list[PendingVector] = []
    same: list[IndexedNote] = []
    for reading in batch:
        row = known.get(reading.item.path)
        if reading.points is not None:
            done.append(_row(feed, reading, target.started_ns))
        elif not reading.reason and row is not None:
            same.append(_seen(row, reading.item, target.started_ns))
    if same:
        manifest.touch(same)
    if not done and not leaving:
        return
    kept = _kept(target, batch)
    for reading in batch:
        if reading.points is None:
            continue
        given = reading.points
        for point, key, text in zip(given.points, given.keys, given.texts, strict=True):
            if key in kept:
                points.append(replace(point, dense=kept[key]))
                continue
            points.append(point)
            if target.embedder is not None:
                pending.append(PendingVector(point.id, point.path, key, text))
    require_room(manifest.file.parent)
    index = target.open_index()
    manifest.begin(feed, [*(note.path for note in done), *leaving])
    index.replace([*(note.path for note in done if note.path in known), *leaving], points)
    index.flush()
    manifest.finish(feed, done, leaving, pending)
    counts.changed += len(done)
    counts.created += len(points)
    counts.cached += len(points) - len(pending) if target.embedder is not None else 0


def fill_vectors(target: Target) -> None:
    """Computes the vectors that are missing, batch by batch; each batch is kept before it is written to the index."""
    manifest, embedder, counts = target.manifest, target.embedder, target.counts
    total = manifest.pending_count() if embedder is not None else 0
    if embedder is None or not total:
        return
    done = 0
    target.progress("vectors", 0, total)
    while batch := manifest.pending(VECTOR_BATCH):
        texts = {item.key: item.text for item in batch}
        vectors = target.store.find(embedder.name, texts)
        missing = [key for key in texts if key not in vectors]
        require_room(manifest.file.parent)
        if missing:
            computed = dict(zip(missing, embedder.embed([texts[key] for key in missing]), strict=True))
            vectors |= target.store.append(embedder.name, computed)
        index = target.open_index()
        index.add_vectors({item.id: vectors[item.key] for item in batch if vectors[item.key].any()})
        index.flush()
        manifest.filled(item.id for item in batch)
        counts.computed += len(missing)
        counts.cached += len(batch) - len(missing)
        done += len(batch)
        target.progress("vectors", done, max(total, done))


def _kept(target: Target, batch: Iterable[Reading]) -> Mapping[str, Vector]:
    if target.embedder is None:
        return {}
    keys = {key for reading in batch if reading.points is not None for key in reading.points.keys}
    return target.store.find(target.embedder.name, keys)


def _row(feed: str, reading: Reading, moment_ns: int) -> IndexedNote:
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
        title=points.title if points else "",
        indexed_ns=moment_ns,
    )


def _seen(row: IndexedNote, item: Item, moment_ns: int) -> IndexedNote:
    """The row of a file whose bytes are as they were."""
    return row._replace(mtime_ns=item.mtime_ns, size=item.size, indexed_ns=moment_ns)

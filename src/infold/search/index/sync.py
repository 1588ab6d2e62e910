"""Bringing the index up to date: only what changed is read, keywords come first, vectors after.

One process syncs at a time; whoever searches meanwhile is served by the index as it is. An index that was made
otherwise (schema, tokeniser, model, passages, language, engine) or is damaged is made anew beside the old one, which
serves until the new one has its keywords; vectors that were kept are not computed again. A vault that is suddenly empty
empties nothing.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from infold.catalogue.embeddings import EmbeddingStore
from infold.catalogue.store import FILE_NAME, Catalogue
from infold.errors import IndexFault, VaultBusy
from infold.search import terms
from infold.search.embed.embedder import Embedder
from infold.search.index.change_detection import RACE_NS, failures, gone, is_unchanged, to_read
from infold.search.index.compaction import compact, is_loose
from infold.search.index.contract import SCHEMA, Filter, Index, Source
from infold.search.index.engines import open_engine
from infold.search.index.feeds import Feed, Listing, NotesFeed, listed
from infold.search.index.generations import SYNC_WAIT_SECONDS, IndexFolder
from infold.search.index.manifest import Identity, Manifest
from infold.search.index.sync_stats import Counts, Progress, SyncResult, silent
from infold.search.index.writing import Target, fill_vectors, readings, write_keywords
from infold.search.languages import check_language
from infold.settings import Params
from infold.workers import MANY, without_collection

__all__ = ["Progress", "SyncResult", "sync_index"]

OF_FEEDS: Final = Filter(sources=(Source.NOTEBOOK, Source.DAILY, Source.SESSIONS, Source.EXTERNAL))


def sync_index(
    vault: Path,
    index_dir: Path,
    embeddings_dir: Path,
    params: Params,
    embedder: Embedder | None,
    progress: Progress | None = None,
    *,
    feeds: Sequence[Feed] | None = None,
    rebuild: bool = False,
    paths: Sequence[str] | None = None,
    vectors: bool = True,
    wait_seconds: float = SYNC_WAIT_SECONDS,
) -> SyncResult:
    """Makes the index hold what the feeds have: the vault's notes, where no others are given.

    With `paths` nothing else is looked at. `rebuild` makes the index anew, without computing a kept vector again; notes
    are part of every new index, other feeds where they are given, or when they are given next.
    Without `vectors` those that are missing are left to a later sync. While another process syncs, `progress` is told
    "waiting". Raises VaultBusy where it still does after `wait_seconds`, VaultNotFound, SettingInvalid, IndexFault.
    """
    started = time.perf_counter()
    check_language(params.search.language)
    folder = IndexFolder(index_dir)
    store = EmbeddingStore(embeddings_dir)
    progress = progress or silent
    with _turn(folder, progress, wait_seconds):
        catalogue = Catalogue(index_dir.with_name(FILE_NAME), vault, params)
        sync = _Sync(folder, store, params, embedder, progress, NotesFeed(catalogue), feeds)
        try:
            try:
                sync.run(rebuild=rebuild, paths=paths, vectors=vectors)
            except IndexFault:
                if sync.is_new:
                    raise
                sync.start_again()
                sync.run(rebuild=True, paths=None, vectors=vectors)
        finally:
            sync.close()
            catalogue.close()
    return sync.result(round((time.perf_counter() - started) * 1000))


@contextlib.contextmanager
def _turn(folder: IndexFolder, progress: Progress, wait_seconds: float) -> Iterator[None]:
    """While this process is the one that syncs."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(folder.syncing(0))
        except VaultBusy:
            if wait_seconds <= 0:
                raise
            progress("waiting", 0, 1)
            stack.enter_context(folder.syncing(wait_seconds))
            progress("waiting", 1, 1)
        yield


class _Sync:
    """One sync while it runs, with what it has counted so far."""

    def __init__(
        self,
        folder: IndexFolder,
        store: EmbeddingStore,
        params: Params,
        embedder: Embedder | None,
        progress: Progress,
        notes: Feed,
        feeds: Sequence[Feed] | None,
    ) -> None:
        self.is_new = False
        self._folder, self._engine = folder, open_engine(folder.folder)
        self._store, self._params, self._embedder, self._progress = store, params, embedder, progress
        self._notes, self._feeds = notes, tuple(feeds or (notes,))
        self._started_ns = time.time_ns()
        self._counts = Counts()
        self._emptied, self._rebuilt, self._pending, self._generation = False, False, 0, ""
        self._manifest: Manifest | None = None
        self._index: Index | None = None

    def run(self, *, rebuild: bool, paths: Sequence[str] | None, vectors: bool) -> None:
        """Brings the index up to date, or makes a new one."""
        before = self._folder.current()
        self._generation = before or ""
        self._manifest = None if rebuild else self._as_wanted(before)
        if self._manifest is None:
            paths = None
            if all(feed.name != self._notes.name for feed in self._feeds):
                self._feeds = (self._notes, *self._feeds)  # a new index without the notes would be none
        found = self._listed(paths, before)
        if self._manifest is None:
            if self._emptied:
                return
            self._make_new(before)
        for feed, listing in found:
            self._bring_in(feed, listing, paths)
        manifest = self._used
        if paths is None:
            manifest.mark_synced(self._started_ns)
        if self.is_new:
            self._publish()
        if vectors:
            fill_vectors(self._target())
            if paths is None:
                self._compact()
        self._pending = manifest.pending_count()

    def start_again(self) -> None:
        """Forgets a failed attempt."""
        with contextlib.suppress(IndexFault):
            self.close()
        self._counts, self._emptied = Counts(), False

    def close(self) -> None:
        """Lets go of index and manifest."""
        manifest, self._manifest = self._manifest, None
        try:
            self._close_index()
        finally:
            if manifest is not None:
                manifest.close()

    def _close_index(self) -> None:
        index, self._index = self._index, None
        if index is not None:
            index.close()

    def result(self, duration_ms: int) -> SyncResult:
        """The record of what was done."""
        return self._counts.result(
            duration_ms=duration_ms,
            emptied=self._emptied,
            rebuilt=self._rebuilt,
            pending=self._pending,
            generation=self._generation,
        )

    @property
    def _used(self) -> Manifest:
        if self._manifest is None:
            raise IndexFault("The search index is not open.")
        return self._manifest

    def _as_wanted(self, generation: str | None) -> Manifest | None:
        """The manifest of this generation, where it is whole and was made as the settings say."""
        if generation is None or self._folder.is_damaged or not self._engine.exists(generation):
            return None
        file = self._folder.manifest_of(generation)
        if not file.exists():
            return None
        try:
            manifest = Manifest(file)
        except IndexFault:
            return None
        identity = None
        with contextlib.suppress(IndexFault):
            identity = manifest.identity()
        if identity is not None and replace(identity, vector_size=0) == self._identity(0):
            return manifest
        manifest.close()
        return None

    def _identity(self, vector_size: int) -> Identity:
        search = self._params.search
        return Identity(
            schema=SCHEMA,
            tokeniser=terms.VERSION,
            model=self._embedder.name if self._embedder else "",
            vector_size=vector_size,
            passages=f"{search.passage_tokens}/{search.overlap_tokens}",
            language=search.language,
            engine=self._engine.name,
        )

    def _listed(self, paths: Sequence[str] | None, before: str | None) -> list[tuple[Feed, Listing]]:
        """What each feed has; those that are suddenly empty are left out, and that is noted."""
        found: list[tuple[Feed, Listing]] = []
        for feed in self._feeds if paths is None or paths else ():
            held = self._held(feed.name, before)
            listing = listed(feed, paths, is_held=held)
            is_empty = not listing.items and (paths is None or not listed(feed, None, is_held=held).items)
            self._counts.scanned += len(listing.items)
            self._counts.skipped += listing.skipped
            if feed.is_guarded and held and is_empty:
                self._emptied = True
            else:
                found.append((feed, listing))
        return found

    def _held(self, feed: str, generation: str | None) -> bool:
        """Whether the index as it stands holds anything of a feed; where that cannot be told, it is taken to."""
        if self._manifest is not None:
            return self._manifest.has(feed)
        if generation is None:
            return False
        try:
            with contextlib.closing(Manifest(self._folder.manifest_of(generation), read_only=True)) as manifest:
                return manifest.has(feed)
        except IndexFault:
            return True

    def _make_new(self, before: str | None) -> None:
        """A new index, empty. Where nothing else can serve meanwhile it is put to use at once."""
        self.is_new, self._rebuilt = True, before is not None
        has_old = not self._folder.is_damaged
        self._generation = self._folder.new_generation()
        identity = self._identity(self._embedder.size if self._embedder else 0)
        self._index = self._engine.create(self._generation, identity.vector_size)
        self._manifest = Manifest(self._folder.manifest_of(self._generation))
        self._manifest.set_identity(identity, self._generation)
        if not has_old:
            self._publish()

    def _publish(self) -> None:
        """Puts the new index to use, and takes the old ones away."""
        self._close_index()
        if self._folder.current() != self._generation:
            self._compact()
            self._folder.publish(self._generation)
            self._folder.sweep(self._engine.drop)

    def _compact(self) -> None:
        """Has an index that is mostly new written so that it opens fast."""
        manifest, is_seen = self._used, self._folder.current() == self._generation
        if is_loose(manifest, is_seen=is_seen):
            self._close_index()
            compact(self._engine, self._generation, manifest, self._progress, is_seen=is_seen)

    def _target(self) -> Target:
        return Target(
            manifest=self._used,
            open_index=self._opened,
            store=self._store,
            embedder=self._embedder,
            progress=self._progress,
            counts=self._counts,
            started_ns=self._started_ns,
        )

    def _opened(self) -> Index:
        if self._index is None:
            self._index = self._engine.open(self._generation)
            if self._used.passage_count() not in (None, self._index.count(OF_FEEDS)):
                raise IndexFault("The search index has lost passages.")
        return self._index

    def _bring_in(self, feed: Feed, listing: Listing, paths: Sequence[str] | None) -> None:
        """What changed in a feed is read and written, what is gone is taken away."""
        if paths is None and is_unchanged(listing.items, self._used.stamps(feed.name, RACE_NS)):
            return
        known = self._used.notes(feed.name)
        wanted = to_read(listing.items, known)
        leaving = gone(known, listing.items, listing.skipped, paths)
        if not wanted and not leaving:
            return
        target = self._target()
        read = readings(feed, wanted, with_texts=self._embedder is not None)
        with without_collection() if len(wanted) > MANY else contextlib.nullcontext():
            failed = write_keywords(target, feed.name, read, leaving, known, len(wanted))
        self._counts.skipped += failures(failed)
        lost = sorted(item.path for item in failures(failed) if not item.is_kept and item.path in known)
        write_keywords(target, feed.name, (), lost, known, 0)

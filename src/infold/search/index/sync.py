"""Bringing the index up to date: only what changed is read, keywords come first, vectors after.

One process syncs at a time; whoever searches meanwhile is served by the index as it is. An index that was made
otherwise (schema, tokeniser, model, passages, language, engine) or is damaged is made anew beside the old one, which
serves until the new one has its keywords; vectors that were kept are not computed again. A rebuild, which is for when
nothing is to be trusted, makes the catalogue anew too. A vault that is suddenly empty empties nothing.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold.catalogue.embeddings import EmbeddingStore, RecentVectors
from infold.catalogue.renewal import remove_unfinished, renewed
from infold.catalogue.schema import FILE_NAME
from infold.catalogue.store import Catalogue
from infold.errors import CatalogueFault, IndexFault, VaultBusy
from infold.progress import Progress, silent
from infold.search import terms
from infold.search.embed.embedder import Embedder
from infold.search.index.change_detection import RACE_NS, doubtful, failures, gone, is_certain, to_read
from infold.search.index.compaction import compact, is_loose
from infold.search.index.contract import SCHEMA, VectorIndex
from infold.search.index.engines import open_engine
from infold.search.index.feeds import ChangeFeed, Feed, FileFeed, Listing, NotesFeed, ReadRequest, listed
from infold.search.index.generations import SYNC_WAIT_SECONDS, Generations
from infold.search.index.manifest import Identity, IndexedNote, Manifest
from infold.search.index.note_vectors import NoteVectors
from infold.search.index.sync_stats import SyncCounts, SyncResult
from infold.search.index.word_writer import WordWriter
from infold.search.index.writing import Target, fill_vectors, readings, write_changes, write_files
from infold.search.languages import check_language
from infold.workers import MANY, without_collection

if TYPE_CHECKING:
    from infold.settings import Params

__all__ = ["Progress", "SyncResult", "sync_index"]

_log: Final = logging.getLogger(__name__)
FEW: Final = 100  # changed notes, to which little memory is given


def sync_index(
    vault: Path,
    index_dir: Path,
    embeddings_dir: Path,
    params: Params,
    embedder: Embedder,
    progress: Progress | None = None,
    *,
    feeds: Sequence[Feed] | None = None,
    rebuild: bool = False,
    paths: Sequence[str] | None = None,
    vectors: bool = True,
    wait_seconds: float = SYNC_WAIT_SECONDS,
    until: float | None = None,
) -> SyncResult:
    """Makes the index hold what the feeds have: the vault's notes, where no others are given.

    With `paths` nothing else is looked at. `rebuild` reads every note and makes catalogue and index anew, while those
    of before serve, without computing a kept vector again; notes are part of every new index, other feeds where they
    are given, or when they are given next. Without `vectors` those that are missing are left to a later sync, and those
    that are when the monotonic clock says `until`; quick embeddings are computed with the words and not kept, others
    once all words are there. While another process syncs, `progress` is told "waiting". Raises VaultBusy where it still
    does after `wait_seconds`, VaultNotFound, SettingInvalid, IndexFault.
    """
    started = time.perf_counter()
    check_language(params.search.language)
    folder = Generations(index_dir)
    store = EmbeddingStore(embeddings_dir)
    progress = progress or silent
    with _turn(folder, progress, wait_seconds), contextlib.ExitStack() as stack:
        catalogue = stack.enter_context(contextlib.closing(Catalogue(index_dir.with_name(FILE_NAME), vault, params)))
        notes = NotesFeed(catalogue)
        if rebuild:
            notes = NotesFeed(stack.enter_context(renewed(catalogue)))
            feeds = [notes if isinstance(feed, NotesFeed) else feed for feed in feeds or (notes,)]
        else:
            remove_unfinished(catalogue)
        sync = _Sync(folder, store, params, embedder, progress, notes, feeds)
        try:
            try:
                sync.run(rebuild=rebuild, paths=paths, vectors=vectors, until=until)
            except IndexFault as fault:
                if sync.is_new:
                    raise
                _log.info("made anew: %s", fault)
                sync.start_again()
                sync.run(rebuild=True, paths=None, vectors=vectors, until=until)
        finally:
            sync.close()
    done = sync.result(round((time.perf_counter() - started) * 1000))
    _log.info(
        "%d files: %d changed, %d removed, %d skipped; %d passages, %d embeddings, %d to come; %d ms",
        *(done.files_scanned, done.files_changed, done.files_removed, len(done.skipped), done.chunks_created),
        *(done.embeddings_computed, done.pending, done.duration_ms),
    )
    return done


@contextlib.contextmanager
def _turn(folder: Generations, progress: Progress, wait_seconds: float) -> Iterator[None]:
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
        folder: Generations,
        store: EmbeddingStore,
        params: Params,
        embedder: Embedder,
        progress: Progress,
        notes: FileFeed,
        feeds: Sequence[Feed] | None,
    ) -> None:
        self.is_new = False
        self._folder, self._engine = folder, open_engine(folder.folder)
        self._store, self._params, self._embedder, self._progress = store, params, embedder, progress
        self._known_vectors = RecentVectors() if embedder.traits.is_quick else store
        self._notes, self._feeds = notes, tuple(feeds or (notes,))
        self._started_ns = time.time_ns()
        self._counts = SyncCounts()
        self._emptied, self._rebuilt, self._pending, self._generation = False, False, 0, ""
        self._manifest: Manifest | None = None
        self._words: WordWriter | None = None
        self._vectors: VectorIndex | None = None
        self._note_vectors: NoteVectors | None = None
        self._at_once, self._is_little = False, False

    def run(self, *, rebuild: bool, paths: Sequence[str] | None, vectors: bool, until: float | None) -> None:
        """Brings the index up to date, or makes a new one."""
        self._at_once = vectors and self._embedder.traits.is_quick
        before = self._folder.current()
        self._generation = before or ""
        self._manifest = None if rebuild else self._as_wanted(before)
        if self._manifest is None:
            paths = None
            if all(feed.name != self._notes.name for feed in self._feeds):
                self._feeds = (self._notes, *self._feeds)  # a new index without the notes would be none
            self._write_ahead(before)
        found = self._listed(paths, before)
        if self._manifest is None:
            if all(feed.name != self._notes.name for feed, _ in found):
                return
            self._make_new(before)
        for feed, listing in found:
            self._bring_in(feed, listing, paths)
        for changed in self._feeds if paths is None else ():
            if isinstance(changed, ChangeFeed):
                self._drain(changed)
        manifest = self._used
        if paths is None:
            manifest.mark_synced(self._started_ns)
        if self.is_new:
            self._publish()
        if vectors:
            self._bring_vectors(until, is_whole=paths is None)
        self._pending = manifest.pending_count()

    def start_again(self) -> None:
        """Forgets a failed attempt."""
        with contextlib.suppress(IndexFault):
            self.close()
        self._counts, self._emptied = SyncCounts(), False

    def close(self) -> None:
        """Lets go of index and manifest."""
        manifest, self._manifest = self._manifest, None
        try:
            self._let_go()
        finally:
            if manifest is not None:
                manifest.close()

    def _let_go(self) -> None:
        """Of words and vectors, so that what is open next sees what was written."""
        words, self._words = self._words, None
        vectors, self._vectors = self._vectors, None
        whole, self._note_vectors = self._note_vectors, None
        with contextlib.ExitStack() as stack:
            for opened in (whole, vectors, words):
                if opened is not None:
                    stack.callback(opened.close)

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
        if generation is None or self._folder.is_damaged:
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
        if identity is not None and identity == self._identity():
            return manifest
        manifest.close()
        if identity is not None and identity.schema != SCHEMA:
            self._folder.mark_damaged()  # nobody can search it while the new one is made
        return None

    def _identity(self) -> Identity:
        search = self._params.search
        return Identity(
            schema=SCHEMA,
            tokeniser=terms.VERSION,
            model=self._embedder.name,
            passages=f"{search.passage_tokens}/{search.overlap_tokens}/{search.max_passages}",
            language=search.language,
            engine=self._engine.name,
        )

    def _listed(self, paths: Sequence[str] | None, before: str | None) -> list[tuple[FileFeed, Listing]]:
        """What each feed has; those that are suddenly empty are left out, and that is noted."""
        found: list[tuple[FileFeed, Listing]] = []
        for feed in self._feeds if paths is None or paths else ():
            if isinstance(feed, ChangeFeed):
                continue
            held = self._held(feed.name, before)
            listing = listed(feed, paths, is_held=held)
            if paths is None and (known := self._known(feed, listing)) is not None:
                self._counts.scanned += known
                self._counts.skipped += listing.skipped
                continue
            is_empty = not listing.items and (paths is None or not listed(feed, None, is_held=held).items)
            self._counts.scanned += len(listing.items)
            self._counts.skipped += listing.skipped
            if feed.is_guarded and held and is_empty:
                self._emptied = True
            else:
                found.append((feed, listing))
        return found

    def _known(self, feed: FileFeed, listing: Listing) -> int | None:
        """How many files a feed lists, where the index is known to hold just these as they are; else None."""
        if self._manifest is None or not listing.digest:
            return None
        return self._manifest.is_listed(feed.name, listing.digest)

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
        self.is_new, self._rebuilt, self._emptied = True, before is not None, False
        if self._embedder.traits.is_quick:  # an earlier infold kept them
            self._counts.dropped += self._store.drop(self._embedder.name)
        has_old = not self._folder.is_damaged
        self._generation = self._folder.new_generation()
        self._open_words()
        self._manifest = Manifest(self._folder.manifest_of(self._generation))
        self._manifest.set_identity(self._identity(), self._generation)
        if not has_old:
            self._publish()

    def _publish(self) -> None:
        """Puts the new index to use, and takes the old ones away."""
        self._let_go()
        if self._folder.current() != self._generation:
            self._compact()
            self._folder.publish(self._generation)
            self._folder.sweep(self._engine.drop)

    def _compact(self) -> None:
        """Has an index that is mostly new written so that it opens fast."""
        if is_loose(self._used):
            self._let_go()
            compact(self._engine, self._generation, self._used, self._progress)
            self._open_note_vectors().compact()

    def _target(self) -> Target:
        return Target(
            manifest=self._used,
            open_words=self._open_words,
            open_vectors=self._open_vectors,
            open_note_vectors=self._open_note_vectors,
            known_vectors=self._known_vectors,
            embedder=self._embedder,
            progress=self._progress,
            counts=self._counts,
            started_ns=self._started_ns,
            at_once=self._at_once,
        )

    def _open_words(self) -> WordWriter:
        if self._words is None:
            file = self._folder.words_of(self._generation)
            is_new = self._manifest is None
            self._words = WordWriter(file, is_little=self._is_little)
            if not is_new and self._words.count() < (self._used.passage_count() or 0):
                raise IndexFault("The search index has lost passages.")
        return self._words

    def _open_vectors(self) -> VectorIndex:
        """Those of this generation; room is made for them with the first."""
        if self._vectors is None:
            manifest = self._used
            if manifest.has_vectors:
                self._vectors = self._engine.open(self._generation)
            else:
                self._vectors = self._engine.create(self._generation, self._embedder.size)
                manifest.mark_vectors()
        return self._vectors

    def _open_note_vectors(self) -> NoteVectors:
        if self._note_vectors is None:
            self._note_vectors = NoteVectors(self._folder.note_vectors_of(self._generation))
        return self._note_vectors

    def _bring_vectors(self, until: float | None, *, is_whole: bool) -> None:
        if is_whole:
            self._check_vectors()
        fill_vectors(self._target(), self._feeds, until)
        if is_whole:
            self._compact()

    def _check_vectors(self) -> None:
        """That those written before are there, also where nothing changed; a server that is out of reach says so."""
        if self._used.has_vectors and not self._engine.exists(self._generation):
            raise IndexFault("The search index has lost its vectors.")

    def _drain(self, feed: ChangeFeed) -> None:
        """What a feed knows to have changed."""
        if feed.heard() != self._generation or feed.waiting():
            write_changes(self._target(), feed, self._generation)

    def _bring_in(self, feed: FileFeed, listing: Listing, paths: Sequence[str] | None) -> None:
        """What changed in a feed is read and written, what is gone is taken away."""
        items, among = listing.items, None
        if paths is None:
            among = doubtful(items, self._used.stamps(feed.name, RACE_NS))
            items = [item for item in items if item.path in among] if among else ()
        known = self._used.notes(feed.name, among)
        wanted = to_read(items, known, self._started_ns)
        leaving = gone(known, items, listing.skipped, paths)
        is_whole = is_certain(items, self._started_ns)
        if wanted or leaving:
            is_whole = self._read_and_write(feed, wanted, leaving, known) and is_whole
        if listing.digest and is_whole:
            self._used.mark_listed(feed.name, listing.digest, len(listing.items))

    def _write_ahead(self, before: str | None) -> None:
        """A new index gets the notes that have to be read for the catalogue as they are read; no other is made."""
        for feed in self._feeds:
            if not isinstance(feed, NotesFeed):
                continue
            with contextlib.suppress(CatalogueFault), without_collection():  # it is made anew when it is asked again
                total, read = feed.ahead(with_texts=not self._embedder.traits.is_empty)
                with contextlib.closing(read):
                    if first := next(read, None):
                        self._make_new(before)
                        write_files(self._target(), feed.name, chain((first,), read), (), {}, total)

    def _read_and_write(
        self, feed: FileFeed, wanted: Sequence[ReadRequest], leaving: Sequence[str], known: Mapping[str, IndexedNote]
    ) -> bool:
        """Whether all that was wanted could be read."""
        self._is_little = len(wanted) < FEW
        target = self._target()
        read = readings(feed, wanted, with_texts=not self._embedder.traits.is_empty)
        with without_collection() if len(wanted) > MANY else contextlib.nullcontext():
            failed = write_files(target, feed.name, read, leaving, known, len(wanted))
        self._counts.skipped += failures(failed)
        lost = sorted(item.path for item in failures(failed) if not item.is_kept and item.path in known)
        write_files(target, feed.name, (), lost, known, 0)
        return not failures(failed)

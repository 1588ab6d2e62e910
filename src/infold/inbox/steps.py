"""The steps of the main job as plain calls: what a person at a prompt runs, and what cached tasks wrap.

Every model answer is kept by content in the state folder before it is read (`librarian.decisions`), so whoever runs a
step finds what another already paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from infold.catalogue.kinds import kind_of
from infold.catalogue.records import ListedNote
from infold.catalogue.store import Catalogue, catalogue_of
from infold.catalogue.summaries import SummaryStore
from infold.catalogue.sync import CatalogueResult, sync_catalogue
from infold.discovery import best_linked, find_root
from infold.errors import EndpointFault, EndpointUnreachable, IndexFault
from infold.inbox.chunking import Chunks, group_paragraphs
from infold.inbox.editing import ChunkEdits, ask_for_edits
from infold.inbox.exploration import Exploration, explore
from infold.inbox.planning import Prepared
from infold.inbox.run import Run, SkippedFile
from infold.inbox.runs import apply_run
from infold.inbox.settled_summaries import are_settled, settle
from infold.inbox.summarising import KeptSummaries, Summaries, signature_of, summarise_notes
from infold.inbox.summary_sources import SummarySource, notes_to_summarise, sources_of
from infold.inbox.vault_snapshot import NoteCards, VaultSnapshot
from infold.librarian.answers import Chunk, OpenNote, Paragraph
from infold.librarian.base import Librarian
from infold.librarian.offline.version import NAME as OFFLINE
from infold.librarian.spend import Usage
from infold.progress import Progress, silent
from infold.search.embed.embedder import Embedder
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.index.feeds import Feed, NotesFeed
from infold.search.index.sync import SyncResult, sync_index
from infold.search.query.searcher import Searcher
from infold.vault.records import Note
from infold.workspace import Workspace

Suggest = Callable[[Sequence[str], int], Sequence[str]]  # paragraphs and a limit to the notes they may belong in


def by_search(searcher: Searcher) -> Suggest:
    """Candidates by one search for all of a chunk's text."""
    return lambda texts, limit: searcher.candidates("\n\n".join(texts), limit)


class DirectSteps:
    """Carries the steps out in this process. Implements `integration.Steps`."""

    def __init__(
        self,
        workspace: Workspace,
        librarian: Librarian,
        progress: Progress = silent,
        *,
        embedder: Embedder = NO_EMBEDDER,
        on_open_index: Callable[[Searcher], Suggest] = by_search,
        feeds: Sequence[Feed] | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        self._workspace = workspace
        self._catalogue = catalogue or catalogue_of(workspace)
        self._kind = kind_of(workspace.params, workspace.vault)
        self._seen: CatalogueResult | None = None  # by a sync of the catalogue that no sync of the index followed yet
        self._listed: list[ListedNote] | None = None  # from the sync of the catalogue to the atlas
        self._librarian = librarian
        self.embedder = embedder
        self._on_open_index = on_open_index
        self._feeds = feeds
        self._searcher: Searcher | None = None
        self._suggest: Suggest | None = None
        self.progress = progress

    @property
    def librarian(self) -> Librarian:
        """Who decides."""
        return self._librarian

    @property
    def usage(self) -> Usage:
        """All that was paid so far."""
        return self._librarian.spend.usage

    async def prepare(self) -> Prepared:
        """Catalogue, summaries and index brought up to date; one bad file never stops the others, and is named."""
        found = self.sync_tables()
        if self._librarian.name == OFFLINE and are_settled(self._workspace, self._catalogue):
            summaries = Summaries(self._kept_summaries())
        else:
            summaries = await settle(self._workspace, self._catalogue, self._librarian.name, self.sync_summaries)
        return self.prepared(found, summaries, *self.sync_index_or_keywords())

    def prepared(
        self, found: CatalogueResult, summaries: Summaries, index: SyncResult, without_vectors: tuple[str, ...]
    ) -> Prepared:
        """What the three syncs leave for the chunks: the snapshot, and all that was passed over."""
        snapshot = self._snapshot(summaries.by_path)
        skipped = {file.path: file.reason for file in found.skipped} | dict(index.skipped)
        return Prepared(
            snapshot,
            tuple(SkippedFile(path=path, reason=reason) for path, reason in sorted(skipped.items())),
            (*self._warnings(found, snapshot), *without_vectors, *summaries.warnings),
        )

    def sync_tables(self) -> CatalogueResult:
        """Notes, links and passages, in step with the vault."""
        self._listed = None
        self._seen = sync_catalogue(self._catalogue, progress=lambda done, total: self.progress("tables", done, total))
        return self._seen

    def note(self, path: str) -> Note:
        """The note at a path, as the catalogue has it. Raises NoteUnreadable and PathRefused."""
        return self._catalogue.note(path)

    def export_tables(self) -> None:
        """The catalogue as parquet, for DVC and for programs that read tables. Raises StateUnwritable."""
        from infold.catalogue.export import export_tables  # here: it loads a table library

        export_tables(self._catalogue, self._workspace.tables)

    async def sync_summaries(self) -> Summaries:
        """A summary for every note; only what changed is asked for."""
        return await summarise_notes(
            self._summary_sources(),
            SummaryStore(self._workspace.summaries),
            self._librarian,
            self._workspace.params.summary,
            lambda done, total: self.progress("summaries", done, total),
        )

    def sync_index(self, *, rebuild: bool = False) -> SyncResult:
        """The search index, in step with the vault: as the catalogue has just found it, or else as it is now."""
        place, notes = self._workspace, NotesFeed(self._catalogue, self._seen)
        self._seen = None
        self._close_searcher()
        return sync_index(
            place.vault,
            place.index,
            place.embeddings,
            place.params,
            self.embedder,
            self.progress,
            feeds=[notes if isinstance(feed, NotesFeed) else feed for feed in self._feeds or (notes,)],
            rebuild=rebuild,
        )

    async def group(self, paragraphs: Sequence[Paragraph], snapshot: VaultSnapshot) -> Chunks:
        """Phase 1."""
        params = self._workspace.params.chunking
        _ = self.searcher  # the offline librarian groups by evidence too
        return await group_paragraphs(paragraphs, snapshot.sample_names(params), self._librarian, params)

    async def explore(self, chunk: Chunk, snapshot: VaultSnapshot) -> Exploration:
        """Phase 3, with the best search hits for the chunk beside the links."""
        params = self._workspace.params.exploration
        searcher = self.searcher
        suggest = self._suggest or by_search(searcher)
        candidates = suggest([p.text for p in chunk.paragraphs], params.search_candidates)
        return await explore(chunk, snapshot, candidates, self._librarian, params)

    async def edit(
        self, chunk: Chunk, exploration: Exploration, notes: tuple[OpenNote, ...], refused: str
    ) -> ChunkEdits:
        """Phase 4."""
        return await ask_for_edits(chunk, exploration, notes, self._librarian, self._workspace.params.editing, refused)

    async def apply(self, run_id: str) -> Run:
        """Writes a saved plan to the vault."""
        self.progress("apply", 0, 1)
        run = apply_run(self._workspace, run_id)
        self.progress("apply", 1, 1)
        return run

    @property
    def searcher(self) -> Searcher:
        """The index, opened on first use after a sync; whoever waits for it is told."""
        if self._searcher is None:
            try:
                self._searcher = self._opened()
            except IndexFault:  # damage shows when the index is opened; a sync then makes it anew from what is kept
                self.sync_index()
                self._searcher = self._opened()
            self._suggest = self._on_open_index(self._searcher)
        return self._searcher

    def close(self) -> None:
        """Lets go of index and catalogue."""
        self._close_searcher()
        self._catalogue.close()

    def _close_searcher(self) -> None:
        if self._searcher is not None:
            self._searcher.close()
            self._searcher = None

    def _opened(self) -> Searcher:
        return Searcher(self._workspace.index, self._workspace.params.search, self.embedder)

    def sync_index_or_keywords(self) -> tuple[SyncResult, tuple[str, ...]]:
        """The synced index. Where the embedding service is down the keywords, which come first, have to do."""
        try:
            return self.sync_index(), ()
        except (EndpointFault, EndpointUnreachable) as error:
            said = f"Search goes by keywords alone until the next run; no embeddings were to be had: {error}"
            return SyncResult(), (said,)

    def _summary_sources(self) -> list[SummarySource]:
        return sources_of(self._catalogue, self._listed_notes())

    def _kept_summaries(self) -> KeptSummaries:
        """The summaries of notes that all have theirs."""
        place = self._workspace
        return KeptSummaries(
            self._summary_sources, SummaryStore(place.summaries), signature_of(self._librarian), place.params.summary
        )

    def _listed_notes(self) -> list[ListedNote]:
        """The notes, the inbox aside: read once for summaries and atlas."""
        if self._listed is None:
            self._listed = notes_to_summarise(self._catalogue)
        return self._listed

    def _snapshot(self, summaries: Mapping[str, str]) -> VaultSnapshot:
        listed, self._listed = self._listed_notes(), None
        links = self._catalogue.outgoing()
        cards = NoteCards(listed, links)
        root: str | None = self._workspace.params.vault.root_file
        if root not in cards:
            reach = best_linked({path: links.get(path, ()) for path in cards})
            found = find_root(list(cards), self._workspace.vault.name, reach)
            root = found.path if found else None
        return VaultSnapshot(
            cards,
            words={note.path: note.words for note in listed},
            kind=self._kind,
            root=root,
            hashes={note.path: note.sha256 for note in listed},
            summaries=summaries,
        )

    def _warnings(self, found: CatalogueResult, snapshot: VaultSnapshot) -> list[str]:
        said = [f"{file.path}: {file.reason}" for file in found.warnings]
        if found.emptied:
            said.append("The vault is suddenly empty; what was known of its notes was kept.")
        name = self._workspace.params.vault.root_file
        if snapshot.root not in (None, name):
            said.append(f"There is no root note {name}; {snapshot.root} is taken, which `infold init` would find too.")
        if snapshot.root is None:
            said.append(
                f"There is no root note {name}, so only search finds notes. Set vault.root_file to the note that links "
                "to the others, for example with `infold init`."
            )
        return said

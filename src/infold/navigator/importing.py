"""Notes become articles of the navigator: chosen, read, dirty where they changed, summarised where that is agreed to.

Reading costs nothing and happens by itself (`refresh`); what a librarian is asked costs, and happens only in
`summarise`. Each summary is kept as soon as it is there, so whoever is stopped goes on where they were.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infold.catalogue.kinds import kind_of
from infold.durable.records import moment
from infold.errors import LibrarianFault, NoteUnreadable, PathRefused, UsageError
from infold.librarian.articles import ArticleRequest
from infold.librarian.base import Librarian
from infold.librarian.prompts import DecisionKind
from infold.navigator.choices import KeptSummary
from infold.navigator.contextual import NOTHING, Expected, article_requests, expected
from infold.navigator.nodes import NoteNode, article_nodes
from infold.navigator.records import Article, Edge, StoredContent, as_stored
from infold.navigator.store import NavigatorStore
from infold.progress import Progress
from infold.search.index.points import note_day
from infold.settings import Params
from infold.text import content_hash
from infold.vault.files import decode, read_bytes
from infold.vault.links import LinkResolver
from infold.vault.note import Note, parse
from infold.vault.scanning import FileStat, Scan, Skipped, scan

_BATCH: Final = 100  # articles stored in one transaction
_KEPT_AT_ONCE: Final = 128  # answers; those that were paid for are kept by content as well, the moment they come
_FOREIGN: Final = frozenset({"inbox"})


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of looking at the imported notes: how many were read, which are gone, which could not be read."""

    read: int = 0
    gone: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Summarised:
    """How many nodes have a new summary, and why others still wait."""

    made: int
    warnings: tuple[str, ...] = ()


class Importer:
    """Imports notes of one vault into a store."""

    def __init__(
        self, vault: Path, params: Params, store: NavigatorStore, scanned: Callable[[], Scan] | None = None
    ) -> None:
        self._vault, self._params, self._store = vault, params, store
        self._scanned = scanned or (lambda: scan(vault, params.vault))
        self._kind = kind_of(params, vault)

    def notes(self) -> dict[str, FileStat]:
        """Every note that can be imported, by path. Raises VaultNotFound."""
        files = self._scanned().files
        return {file.path: file for file in files if self._kind(file.path) not in _FOREIGN}

    def chosen(self, paths: Sequence[str]) -> list[str]:
        """The notes that these files and folders mean, sorted. Raises UsageError, with names that come near."""
        known = self.notes()
        found: set[str] = set()
        for given in paths:
            path = given.strip().removeprefix("./").strip("/")
            below = [note for note in known if not path or path == "." or note.startswith(f"{path}/")]
            exact = [note for note in (path, f"{path}.md", f"{path}.markdown") if note in known]
            if not (exact or below):
                raise _no_such(given, known)
            found.update(exact or below)
        return sorted(found)

    def refresh(self, paths: Iterable[str] | None = None, progress: Progress | None = None) -> Refreshed:
        """Reads those imported notes that changed, or these of them; what is gone from the vault goes.

        Nodes whose content has no kept summary are dirty, with the summary they had. A vault that is suddenly empty, or
        away, changes nothing.
        """
        imports = self._store.choices.imports()
        wanted = list(imports if paths is None else (path for path in paths if path in imports))
        stored = self._store.articles()
        stats = {path: self._stat(path) for path in wanted}
        if wanted and not any(stats.values()) and not next(self._vault.glob("*"), None):
            return Refreshed(skipped=(Skipped(".", "the vault seems empty; what was imported was kept", is_kept=True),))
        gone = tuple(path for path, stat in stats.items() if stat is None)
        changed = [
            (path, stat)
            for path, stat in stats.items()
            if stat is not None and (path not in stored or stored[path][1:] != (stat.mtime_ns, stat.size))
        ]
        skipped: list[Skipped] = []
        resolver: LinkResolver | None = None
        for first in range(0, len(changed), _BATCH):
            resolver = resolver or self._resolver()
            batch = [self._read(path, stat, resolver, skipped) for path, stat in changed[first : first + _BATCH]]
            self._put([entry for entry in batch if entry is not None])
            if progress is not None:
                progress("nodes", min(first + _BATCH, len(changed)), len(changed))
        if gone:
            self._store.put((), [path for path in gone if path in stored])
        return Refreshed(len(changed) - len(skipped), gone, tuple(skipped))

    def requests(self, paths: Sequence[str]) -> Iterator[ArticleRequest]:
        """What a librarian has to be asked for these notes to have no dirty node."""
        self._settle_kept(paths)
        words = self._params.summary.summary_target_words
        waiting = self._store.dirty(paths)
        for path in paths:
            if path in waiting and (article := self._store.article(path)) is not None:
                wanted = [node for node in self._store.of_article(path) if node.is_dirty]
                yield from article_requests(article, wanted, words)

    def _settle_kept(self, paths: Sequence[str]) -> None:
        """Gives dirty nodes the summaries that are kept of what they say: an import may have ended in between."""
        waiting = self._store.waiting(paths)
        kept = self._store.choices.summaries(list(waiting.values()))
        if kept:
            self._store.settle({node_id: kept[said] for node_id, said in waiting.items() if said in kept})

    def expected(self, paths: Sequence[str]) -> tuple[Expected, dict[str, Expected]]:
        """What summarising these notes will take, in all and by note."""
        by_note: dict[str, Expected] = {}
        for request in self.requests(paths):
            by_note[request.path] = by_note.get(request.path, NOTHING) + expected(request)
        return sum(by_note.values(), NOTHING), by_note

    def expected_of(self, paths: Sequence[str]) -> tuple[Expected, dict[str, Expected]]:
        """What importing these notes will take, in all and by note, whether they were imported before or not."""
        stored = self._store.choices.imports()
        fresh = [path for path in paths if path not in stored]
        self.refresh([path for path in paths if path in stored])
        whole, by_note = self.expected([path for path in paths if path in stored])
        words = self._params.summary.summary_target_words
        resolver = LinkResolver((), {})
        for path in fresh:
            stat = self._stat(path)
            read = self._read(path, stat, resolver, []) if stat is not None else None
            if read is None:
                continue
            article, nodes, _ = read
            kept = self._store.choices.summaries([node.context_hash for node in nodes])
            wanted = [as_stored(node) for node in nodes if node.text.strip() and node.context_hash not in kept]
            for request in article_requests(article, wanted, words):
                each = expected(request)
                by_note[path] = by_note.get(path, NOTHING) + each
                whole += each
        return whole, by_note

    async def summarise(self, paths: Sequence[str], librarian: Librarian, progress: Progress) -> Summarised:
        """Asks for the summaries of all dirty nodes of these notes, some at once; each is kept as it comes.

        An article whose answers cannot be had stays dirty, with the reason; a cap that is reached ends it with what is
        done kept. Raises EnvironmentFault and EndpointUnreachable.
        """
        asked = list(self.requests(paths))
        turn = asyncio.Semaphore(max(1, self._params.integrate.concurrency))
        warnings: list[str] = []
        made = done = 0
        waiting: list[tuple[ArticleRequest, dict[int, str]]] = []

        def keep() -> None:
            nonlocal made
            made += self._keep(waiting, librarian.signature(DecisionKind.ARTICLE))
            waiting.clear()

        async def one(request: ArticleRequest) -> None:
            nonlocal done
            async with turn:
                if librarian.spend.refusal is not None:
                    warnings.append(f"{request.path} waits: {librarian.spend.refusal}")
                    return
                try:
                    answer = await librarian.summarise_article(request)
                except LibrarianFault as error:
                    warnings.append(f"{request.path} keeps what it had: {error}")
                    return
                waiting.append((request, answer.by_number()))
                if len(waiting) >= _KEPT_AT_ONCE:
                    keep()
                done += 1
                progress("summaries", done, len(asked))

        try:
            await asyncio.gather(*(one(request) for request in asked))
        finally:
            keep()
        return Summarised(made, tuple(dict.fromkeys(warnings)))

    def _keep(self, answers: Sequence[tuple[ArticleRequest, dict[int, str]]], signature: str) -> int:
        stored = self._store.contents([request.path for request, _ in answers])
        kept: list[tuple[StoredContent, str]] = []
        for request, summaries in answers:
            texts = {part.number: part.text for part in request.parts}
            kept += [
                (node, summary)
                for number, summary in summaries.items()
                # The note may have been read anew meanwhile: only what still says the same is summarised by this.
                if (node := stored.get((request.path, number))) is not None
                and node.content_hash == content_hash(texts[number])
            ]
        if kept:
            now = moment()
            self._store.choices.keep(
                KeptSummary(node.context_hash, "", node.id, node.type, said, node.content_hash, signature, now)
                for node, said in kept
            )
            self._store.settle({node.id: said for node, said in kept})
        return len(kept)

    def _stat(self, path: str) -> FileStat | None:
        try:
            found = (self._vault / path).lstat()
        except OSError:
            return None
        return FileStat(path, found.st_size, found.st_mtime_ns)

    def _resolver(self) -> LinkResolver:
        return LinkResolver(self.notes(), {})

    def _read(
        self, path: str, stat: FileStat, resolver: LinkResolver, skipped: list[Skipped]
    ) -> tuple[Article, tuple[NoteNode, ...], list[Edge]] | None:
        try:
            data = read_bytes(self._vault, path, self._params.vault.max_note_bytes)
            text = decode(data, path)
        except (NoteUnreadable, PathRefused) as error:
            skipped.append(Skipped(path, str(error), is_kept=True))
            return None
        note = parse(path, text)
        nodes = article_nodes(note)
        day = note_day(note, self._kind(path))
        article = Article(path, content_hash(data), stat.mtime_ns, stat.size, note.title, day, note.tags, text)
        return article, nodes, list(_edges(note, nodes, resolver))

    def _put(self, batch: Sequence[tuple[Article, tuple[NoteNode, ...], list[Edge]]]) -> None:
        hashes = [node.context_hash for _, nodes, _ in batch for node in nodes]
        kept = self._store.choices.summaries(hashes)
        before = self._store.nodes([node.id for _, nodes, _ in batch for node in nodes])

        def row(node: NoteNode) -> tuple[NoteNode, str, bool]:
            summary = kept.get(node.context_hash)
            if summary is not None:
                return node, summary, False
            old = before.get(node.id)
            return node, old.summary if old is not None else "", bool(node.text.strip())

        self._store.put([(article, [row(node) for node in nodes], edges) for article, nodes, edges in batch])


def _edges(note: Note, nodes: Sequence[NoteNode], resolver: LinkResolver) -> Iterator[Edge]:
    """Each link of the note that leads to a note, out of the innermost node that it stands in."""
    for link in note.links:
        target = resolver.resolve_link(link, note.path)
        if target is None:
            continue
        inner = [node for node in nodes if node.start <= link.start < node.end]
        source = max(inner, key=lambda node: node.ordinal) if inner else nodes[0]
        yield Edge(source.id, note.path, target, link.anchor, link.context)


def _no_such(given: str, known: Iterable[str]) -> UsageError:
    from difflib import get_close_matches

    names = {name for path in known for name in (path, path.rpartition("/")[0]) if name}
    near = get_close_matches(given, names, 3)
    return UsageError(
        f"There is no note or folder {given!r} to import.",
        hint=f"Near it: {', '.join(near)}." if near else "browse_vault shows what there is.",
    )

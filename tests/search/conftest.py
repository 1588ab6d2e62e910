"""A small vault with its index, brought up to date in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infold.catalogue.schema import FILE_NAME
from infold.catalogue.store import Catalogue
from infold.search.embed.embedder import Embedder
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.feeds import Feed, NotesFeed
from infold.search.index.generations import Generations
from infold.search.index.manifest import Manifest
from infold.search.index.point_ids import point_number
from infold.search.index.sync import SyncResult, sync_index
from infold.search.index.words import WordIndex
from infold.search.query.searcher import Searcher
from infold.search.shared.edge import EdgeIndex
from infold.settings import Params


@dataclass
class Place:
    """A vault in a temporary folder, and what is derived from it."""

    root: Path
    embedder: Embedder = field(default_factory=StaticEmbedder)
    params: Params = field(default_factory=Params)

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    @property
    def embeddings(self) -> Path:
        return self.root / "embeddings"

    @property
    def index(self) -> Path:
        return self.root / "index"

    @property
    def generation(self) -> Path:
        """The folder of the generation in use."""
        folder = Generations(self.index)
        return folder.folder_of(folder.current())

    def notes_feed(self) -> NotesFeed:
        """The notes, as a sync without feeds takes them."""
        return NotesFeed(Catalogue(self.index.with_name(FILE_NAME), self.vault, self.params))

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def sync(
        self,
        *,
        progress: Callable[[str, int, int], None] | None = None,
        feeds: Sequence[Feed] | None = None,
        rebuild: bool = False,
        paths: Sequence[str] | None = None,
        vectors: bool = True,
        wait_seconds: float = 1,
    ) -> SyncResult:
        return sync_index(
            self.vault,
            self.index,
            self.embeddings,
            self.params,
            self.embedder,
            progress,
            feeds=feeds,
            rebuild=rebuild,
            paths=paths,
            vectors=vectors,
            wait_seconds=wait_seconds,
        )

    def manifest(self) -> Manifest:
        """What the index in use says it holds."""
        return Manifest(self.generation / "manifest.sqlite", read_only=True)

    def contents(self) -> dict[str, tuple[object, ...]]:
        """Every point of the index in use by id: what a hit shows of it, and its vector, if it has one."""
        words = WordIndex(self.generation / "words")
        points = {hit.id: hit for hit in words.points()}
        words.close()
        vectors: dict[str, tuple[float, ...]] = {}
        if (self.generation / "shard").exists():
            shard = EdgeIndex(self.generation / "shard")
            numbers = {point_number(one): one for one in points}
            vectors = {numbers[one]: tuple(vector) for one, vector in shard.vectors([*numbers]).items()}
            assert shard.count() == len(vectors), "a vector of a point that is gone"
            shard.close()
        return {one: (hit, vectors.get(one)) for one, hit in points.items()}

    def searcher(self) -> Searcher:
        return Searcher(self.index, self.params.search, self.embedder)

    def found(self, text: str, limit: int = 5) -> list[str]:
        """The notes that a keyword search finds, best first."""
        with self.searcher() as searcher:
            return list(dict.fromkeys(hit.path for hit in searcher.keyword(text, limit)))


@pytest.fixture(scope="session")
def static_embedder() -> StaticEmbedder:
    """One static model for the session: loading it takes a sixth of a second."""
    return StaticEmbedder()


@pytest.fixture
def place(tmp_path: Path, static_embedder: StaticEmbedder) -> Place:
    """A vault of four notes and an inbox, not yet synced."""
    place = Place(tmp_path, static_embedder)
    place.write("index.md", "# Home\n\n[[bread]] and [[garden/tomatoes]]\n")
    place.write("bread.md", "# Bread\n\nA levain rises overnight.\n\n## Oven\n\nBake at 250 degrees in cast iron.\n")
    place.write("garden/tomatoes.md", "Tomatoes want sun, a stake and water at the root.\n")
    place.write(
        "garden/Notícias.md", "As notícias da horta não são boas para o tomate, mas a abóbora está muito bem.\n"
    )
    place.write("inbox.md", "Rhubarb wants nothing at all.\n")
    return place

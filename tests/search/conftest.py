"""A small vault with its tables and index, brought up to date in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infold.search.embedding import Embedder, StaticEmbedder
from infold.search.query import Searcher
from infold.search.sync import SyncResult, sync_index
from infold.settings import Params
from infold.tables.sync import sync_tables


@dataclass
class Place:
    """A vault in a temporary folder, and what is derived from it."""

    root: Path
    embedder: Embedder | None = field(default_factory=StaticEmbedder)
    params: Params = field(default_factory=Params)

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    @property
    def tables(self) -> Path:
        return self.root / "tables"

    @property
    def embeddings(self) -> Path:
        return self.root / "embeddings"

    @property
    def index(self) -> Path:
        return self.root / "index"

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def sync(self, *, rebuild: bool = False, progress: Callable[[str, int, int], None] | None = None) -> SyncResult:
        sync_tables(self.vault, self.tables, self.params)
        return sync_index(
            self.vault,
            self.tables,
            self.embeddings,
            self.index,
            self.params,
            self.embedder,
            progress,
            rebuild=rebuild,
            wait_seconds=1,
        )

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

"""A small vault in memory, and a search over it that ranks notes by how many words they share with the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infold.librarian.answers import Chunk, EditRequest, OpenNote, Paragraph
from infold.librarian.offline import CandidateScorer, OfflineLibrarian
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.settings import EditingParams
from infold.text import folded_words
from infold.vault.note import parse
from infold.vault.records import Note


@dataclass(frozen=True)
class Hit:
    """A found note."""

    path: str


class SharedWords:
    """The test double of search: notes by the number of distinct words they share with the query."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._words = {path: set(folded_words(text)) for path, text in texts.items()}

    def keyword(self, text: str, limit: int) -> list[Hit]:
        """Best first, ties by path."""
        wanted = set(folded_words(text))
        ranked = sorted(self._words, key=lambda path: (-len(wanted & self._words[path]), path))
        return [Hit(path) for path in ranked[:limit]]

    def dense(self, text: str, limit: int) -> list[Hit]:
        """Nothing: there are no vectors here."""
        return []


def evidence_in(
    texts: Mapping[str, str], links: Mapping[str, tuple[str, ...]] | None = None, least_chance: float = 0.0
) -> CandidateScorer:
    """The evidence of a vault given as texts by path."""

    def read(path: str) -> Note | None:
        return parse(path, texts[path]) if path in texts else None

    linked = {path: (links or {}).get(path, ()) for path in texts}
    return CandidateScorer(read, SharedWords(texts), NO_EMBEDDER, linked, least_chance=least_chance)


def librarian_in(texts: Mapping[str, str], links: Mapping[str, tuple[str, ...]] | None = None) -> OfflineLibrarian:
    """An offline librarian over such a vault."""
    return OfflineLibrarian(evidence_in(texts, links))


def edit_request(texts: Mapping[str, str], *paragraphs: str) -> EditRequest:
    """A request to edit all notes of `texts`."""
    chunk = Chunk(1, tuple(Paragraph(n, text) for n, text in enumerate(paragraphs, start=1)))
    return EditRequest(chunk, tuple(OpenNote(path, text) for path, text in texts.items()), EditingParams())

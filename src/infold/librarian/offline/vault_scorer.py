"""The evidence of a vault that was made ready: its catalogue, and its search index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from infold.catalogue.derived import kept_of
from infold.catalogue.kinds import kind_of
from infold.catalogue.store import Catalogue
from infold.errors import NoteUnreadable, PathRefused
from infold.librarian.offline.candidate_scorer import CandidateScorer, Search
from infold.librarian.offline.corpus import TermCounts, sampled
from infold.librarian.offline.names import OwnNames, names_of, packed_names, unpacked_names
from infold.search import terms
from infold.search.embed.embedder import Embedder
from infold.text import content_hash
from infold.vault.records import Note

_FORMAT: Final = "counts/1"  # raised when a note is read otherwise, or other things are counted

_NAMES: Final = "names/1"  # raised when other names are taken


def scorer_of(catalogue: Catalogue, search: Search, embedder: Embedder) -> CandidateScorer:
    """The evidence of the vault as its catalogue and its index have it. Make it anew after a sync."""

    def read(path: str) -> Note | None:
        try:
            return catalogue.note(path)
        except (NoteUnreadable, PathRefused):
            return None

    kind = kind_of(catalogue.params, catalogue.vault)
    links = {path: targets for path, targets in catalogue.outgoing().items() if kind(path) != "inbox"}

    def counts(count: Callable[[], TermCounts]) -> TermCounts:
        """Counted once for each content of the notes that are counted."""
        hashes = [f"{path} {catalogue.known_hash(path)}" for path in sampled(list(links))]
        content = content_hash("\n".join((_FORMAT, terms.VERSION, *hashes)))
        return TermCounts.unpacked(kept_of(catalogue, "counts of terms", content, lambda: count().packed()))

    def names() -> dict[str, OwnNames]:
        """Worked out once for each state of titles, aliases and shown names."""
        titles = [title for title in catalogue.titles() if title.path in links]
        shown = catalogue.shown_names()
        content = content_hash(repr((_NAMES, titles, shown)))
        return unpacked_names(
            kept_of(catalogue, "names of notes", content, lambda: packed_names(names_of(titles, shown)))
        )

    return CandidateScorer(read, search, embedder, links, names, counts, catalogue.params.editing.min_confidence)

"""The evidence of a vault that was made ready: its catalogue, and its search index."""

from __future__ import annotations

from infold.catalogue.kinds import kind_of
from infold.catalogue.store import Catalogue
from infold.errors import NoteUnreadable, PathRefused
from infold.librarian.offline.candidate_scorer import CandidateScorer, Search
from infold.librarian.offline.names import names_of
from infold.search.embed.embedder import Embedder
from infold.vault.records import Note


def scorer_of(catalogue: Catalogue, search: Search, embedder: Embedder) -> CandidateScorer:
    """The evidence of the vault as its catalogue and its index have it. Make it anew after a sync."""

    def read(path: str) -> Note | None:
        try:
            return catalogue.note(path)
        except (NoteUnreadable, PathRefused):
            return None

    kind = kind_of(catalogue.params, catalogue.vault)
    links = {path: targets for path, targets in catalogue.outgoing().items() if kind(path) != "inbox"}
    titles = [(note.path, note.title, note.aliases) for note in catalogue.notes() if note.path in links]
    return CandidateScorer(read, search, embedder, links, names_of(titles, catalogue.shown_names()))

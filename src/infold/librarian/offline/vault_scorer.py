"""The evidence of a vault that was made ready: its catalogue, and its search index."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

from infold.catalogue.derived import kept_while
from infold.catalogue.kinds import inbox_of
from infold.catalogue.links import shown_names
from infold.catalogue.records import NoteTitle
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


class _Told:
    """What the notes of a vault are called, the inbox aside; read where it is needed, once."""

    def __init__(self, catalogue: Catalogue, inbox: str) -> None:
        self._catalogue, self._inbox = catalogue, inbox

    @cached_property
    def _read(self) -> tuple[list[NoteTitle], list[tuple[str, str]]]:
        titles = [title for title in self._catalogue.titles() if title.path != self._inbox]
        return titles, shown_names(self._catalogue)

    def content(self) -> str:
        """A hash of all of it."""
        return content_hash(repr(self._read))

    def packed(self) -> bytes:
        """The names that come of it."""
        return packed_names(names_of(*self._read))


def scorer_of(catalogue: Catalogue, search: Search, embedder: Embedder) -> CandidateScorer:
    """The evidence of the vault as its catalogue and its index have it. Make it anew after a sync."""

    def read(path: str) -> Note | None:
        try:
            return catalogue.note(path)
        except (NoteUnreadable, PathRefused):
            return None

    inbox = inbox_of(catalogue.params)
    links = {path: targets for path, targets in catalogue.outgoing().items() if path != inbox}

    def counts(count: Callable[[], TermCounts]) -> TermCounts:
        """Counted once for each content of the notes that are counted."""

        def content() -> str:
            return content_hash("\n".join(f"{path} {catalogue.known_hash(path)}" for path in sampled(list(links))))

        how = content_hash(repr((_FORMAT, terms.VERSION, inbox)))
        return TermCounts.unpacked(kept_while(catalogue, "counts of terms", how, content, lambda: count().packed()))

    def names() -> dict[str, OwnNames]:
        """Worked out once for each state of titles, aliases and shown names."""
        how = content_hash(repr((_NAMES, inbox)))
        told = _Told(catalogue, inbox)
        return unpacked_names(kept_while(catalogue, "names of notes", how, told.content, told.packed))

    return CandidateScorer(read, search, embedder, links, names, counts, catalogue.params.editing.min_confidence)

"""One generation of the index, open, with what its manifest says of it."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from infold.durable.files import stamp_of
from infold.errors import IndexFault
from infold.search.index.contract import SCHEMA
from infold.search.index.engines import open_engine
from infold.search.index.generations import Generations
from infold.search.index.manifest import Manifest
from infold.search.index.note_vectors import NoteVectors
from infold.search.index.words import WordIndex

if TYPE_CHECKING:
    from infold.search.index.contract import VectorIndex

MOST_LANGUAGES: Final = 3  # that a query is stemmed in
_LANGUAGES_SECONDS: Final = 30.0  # that they are taken to stay the same


class OpenedIndex:
    """The index of `generation`: its words, and its vectors once somebody asks for them.

    Raises IndexFault where there is none, or it has lost passages.
    """

    def __init__(self, folder: Generations, generation: str | None) -> None:
        if generation is None or folder.is_damaged:
            raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
        self.generation = generation
        self._folder = folder
        self._manifest_file = folder.manifest_of(generation)
        self._manifest_log = self._manifest_file.with_name(f"{self._manifest_file.name}-wal")
        self._opening = threading.Lock()
        self._vectors: VectorIndex | None = None
        self._note_vectors: NoteVectors | None = None
        self._is_closed = False
        self._pending: tuple[object, int] | None = None  # passages without a vector, as of a state of the manifest
        try:
            with closing(self._manifest()) as manifest:
                identity, before = manifest.identity(), manifest.passage_count()
                self._languages = manifest.languages(MOST_LANGUAGES)
                self._languages_at = time.monotonic()
            if identity is not None and identity.schema != SCHEMA:
                raise IndexFault("The search index is another version's.", hint="`infold index` makes it anew.")
            self.model = identity.model if identity is not None else ""
            self.words = WordIndex(folder.words_of(generation))
            self._check(before)
        except IndexFault:
            self.mark_damaged()
            raise

    @property
    def vectors(self) -> VectorIndex | None:
        """The vectors, opened by the first who asks; None where none were written yet. Raises IndexFault."""
        with self._opening:
            if self._vectors is None and not self._is_closed:
                with closing(self._manifest()) as manifest:
                    if not manifest.has_vectors:
                        return None
                try:
                    self._vectors = open_engine(self._folder.folder).open(self.generation)
                except IndexFault:
                    self.mark_damaged()
                    raise
            return self._vectors

    @property
    def note_vectors(self) -> NoteVectors | None:
        """Those of whole notes, opened by the first who asks; None where none were written yet. Raises IndexFault."""
        with self._opening:
            file = self._folder.note_vectors_of(self.generation)
            if self._note_vectors is None and not self._is_closed and file.exists():
                try:
                    self._note_vectors = NoteVectors(file, read_only=True)
                except IndexFault:
                    self.mark_damaged()
                    raise
            return self._note_vectors

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the notes, commonest first; read again now and then."""
        if time.monotonic() - self._languages_at > _LANGUAGES_SECONDS:
            with closing(self._manifest()) as manifest:
                self._languages = manifest.languages(MOST_LANGUAGES)
            self._languages_at = time.monotonic()
        return self._languages

    def pending_vectors(self) -> int:
        """How many passages wait for their vector; counted again once something was written to the manifest."""
        state = stamp_of(self._manifest_file), stamp_of(self._manifest_log)
        known = self._pending
        if known is None or known[0] != state:
            with closing(self._manifest()) as manifest:
                self._pending = known = state, manifest.pending_count()
        return known[1]

    def close(self) -> None:
        """Lets go of the index."""
        with self._opening:
            self._is_closed = True
            vectors, self._vectors = self._vectors, None
            whole, self._note_vectors = self._note_vectors, None
        self.words.close()
        for opened in (vectors, whole):
            if opened is not None:
                opened.close()

    def _check(self, before: int | None) -> None:
        """Whether the index holds what its manifest says; while somebody writes, nobody can tell."""
        if before is None or self.words.count() >= before:
            return
        with closing(self._manifest()) as manifest:
            after = manifest.passage_count()
        if before == after:
            raise IndexFault("The search index has lost passages.", hint="`infold index` puts it right.")

    def mark_damaged(self) -> None:
        """Says to the next sync that it has to be made anew, where it is still in use."""
        if self._folder.current() == self.generation:
            self._folder.mark_damaged()

    def _manifest(self) -> Manifest:
        return Manifest(self._manifest_file, read_only=True)

"""Searching: words in, passages and notes out, from a private copy of the index.

Results are as of the last sync. Fast to import: neither tables nor parquet are needed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np

from infold.errors import IndexFault
from infold.search.edge import EdgeIndex
from infold.search.embedding import Embedder
from infold.search.fusion import Leg, best_scores, by_rank, by_relative_score
from infold.search.index import Filter, Hit, Vector
from infold.search.shard import IndexFolder
from infold.search.terms import sparse_query
from infold.settings import SearchParams

FUSED_PASSAGES: Final = 50  # that each leg gives to a ranking of passages, at least
CANDIDATE_PASSAGES: Final = 100  # that each leg gives to a ranking of notes, at least
PASSAGES_PER_NOTE: Final = 10  # asked for, so that enough different notes come back
_SCORED_PASSAGES: Final = 2000


@dataclass(frozen=True, slots=True)
class NoteScore:
    """How well a note answers a text: BM25 (0 and up) and cosine (-1 to 1) of its best passages."""

    keyword: float
    dense: float


class Searcher:
    """An open search. `embedder` must be the one that the index was made with, else only keywords are looked for."""

    def __init__(self, index_dir: Path, params: SearchParams, embedder: Embedder | None) -> None:
        self._params = params
        self._stack = ExitStack()
        self._last: tuple[str, Vector] | None = None
        folder = IndexFolder(index_dir)
        try:
            copy = self._stack.enter_context(folder.copied())
            identity = copy.identity
            is_same_model = embedder is not None and identity is not None and identity.model == embedder.name
            self._embedder = embedder if is_same_model else None
            self._languages = copy.languages
            self._index = EdgeIndex(copy.folder, identity.vector_size if identity else 0)
            self._stack.callback(self._index.close)
            if copy.passages not in (None, self._index.count()):
                raise IndexFault("The search index has lost passages.", hint="`infold index` puts it right.")
        except IndexFault:
            folder.mark_damaged()
            self._stack.close()
            raise
        except BaseException:
            self._stack.close()
            raise

    def keyword(self, text: str, limit: int) -> list[Hit]:
        """The passages that share the most telling words with `text` (BM25)."""
        return self._index.query_sparse(sparse_query(text, self._languages), limit)

    def dense(self, text: str, limit: int) -> list[Hit]:
        """The passages closest in meaning (cosine); none where the index has no vectors."""
        return self._index.query_dense(self._vector(text), limit)

    def hybrid(self, text: str, limit: int) -> list[Hit]:
        """Both, fused by reciprocal rank; the keyword leg weighs 1, the other `search.dense_weight`."""
        return by_rank(self._legs(text, max(FUSED_PASSAGES, limit)), limit)

    def candidates(self, text: str, limit: int) -> list[str]:
        """The paths of the notes that `text` has most to do with, best first: each by its best passages in both legs.

        With whole paragraphs as queries this measures better than fusing ranks, and among the first eight no worse than
        keywords alone.
        """
        if limit < 1:
            return []
        return by_relative_score(self._legs(text, max(CANDIDATE_PASSAGES, limit * PASSAGES_PER_NOTE)), limit)

    def score(self, text: str, paths: Sequence[str]) -> dict[str, NoteScore]:
        """How well each of these notes answers `text`: its best passage by keyword and by meaning, else 0."""
        if not paths:
            return {}
        only = Filter(paths=tuple(paths))
        sparse = self._index.query_sparse(sparse_query(text, self._languages), _SCORED_PASSAGES, only)
        dense = self._index.query_dense(self._vector(text), _SCORED_PASSAGES, only)
        keyword_best, dense_best = best_scores(sparse), best_scores(dense)
        return {path: NoteScore(keyword_best.get(path, 0.0), dense_best.get(path, 0.0)) for path in paths}

    def close(self) -> None:
        """Lets go of the copy. Calling it again does nothing."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _legs(self, text: str, depth: int) -> list[Leg]:
        weight = self._params.dense_weight
        if weight is None:
            weight = self._embedder.worth if self._embedder else 0.0
        return [(self.keyword(text, depth), 1.0), (self.dense(text, depth), weight)]

    def _vector(self, text: str) -> Vector:
        if self._embedder is None or not text.strip():
            return np.zeros(1, dtype=np.float32)
        known = self._last  # one text is often asked for in several ways, and by several threads
        if known is None or known[0] != text:
            self._last = known = text, self._embedder.embed([text])[0]
        return known[1]

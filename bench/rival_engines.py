"""The face of a search engine for `bench/rivals.py`, what every engine is given, and infold's own index behind it.

Each is given the same passages with the same vectors, keeps them in one folder, and is asked for the paths of the ten
best.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]

BEST: Final = 10
DEPTH: Final = 50  # that each leg gives to a hybrid ranking
RRF_K: Final = 60


@dataclass(frozen=True)
class Passage:
    """One passage. `folder` is what queries are filtered by."""

    id: int
    path: str
    folder: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """What every engine is given, as files in one folder."""

    home: Path

    @cached_property
    def passages(self) -> list[Passage]:
        """All of them."""
        return [Passage(*fields) for fields in json.loads((self.home / "passages.json").read_text())]

    @cached_property
    def vectors(self) -> Vector:
        """A row a passage."""
        return np.asarray(np.load(self.home / "vectors.npy"), dtype=np.float32)

    @cached_property
    def queries(self) -> list[str]:
        """What is asked, twelve words each."""
        return list(json.loads((self.home / "queries.json").read_text()))

    @cached_property
    def query_vectors(self) -> Vector:
        """A row a query."""
        return np.asarray(np.load(self.home / "query_vectors.npy"), dtype=np.float32)


class Engine(Protocol):
    """What is measured. `folder` None asks without a filter."""

    name: str
    most_passages: int | None  # beyond which its makers advise against it

    def __init__(self, home: Path) -> None: ...

    def build(self, corpus: Corpus) -> None:
        """Indexes everything, durably."""

    def open(self) -> None:
        """Opens what was built."""

    def change(self, old: list[Passage], new: list[Passage], vectors: Vector) -> None:
        """One note's passages in place of what it had."""

    def keyword(self, text: str, folder: str | None = None) -> list[str]:
        """By words."""

    def dense(self, vector: Vector, folder: str | None = None) -> list[str]:
        """By meaning."""

    def hybrid(self, text: str, vector: Vector, folder: str | None = None) -> list[str]:
        """By both, fused by reciprocal rank."""


class Infold:
    """The index that infold searches, with its own words, weights and fusion."""

    name = "infold"
    most_passages: int | None = None

    def __init__(self, home: Path) -> None:
        self._home = home

    def build(self, corpus: Corpus) -> None:
        """As a sync does it: words, then vectors, 2,000 passages a commit."""
        from infold.search.index.engines import open_engine
        from infold.search.index.generations import Generations
        from infold.search.index.word_writer import WordWriter

        folder = Generations(self._home)
        generation = folder.new_generation()
        index = open_engine(self._home).create(generation, corpus.vectors.shape[1])
        words = WordWriter(folder.words_of(generation))
        for first in range(0, len(corpus.passages), 2000):
            points = self._points(corpus.passages[first : first + 2000])
            words.replace((), points)
            words.commit()
            index.put(self._records(points, corpus.vectors[first : first + 2000]))
            index.flush()
        words.close()
        index.close()
        folder.publish(generation)

    def open(self) -> None:
        """The generation in use."""
        from infold.search.index.engines import open_engine
        from infold.search.index.generations import Generations
        from infold.search.index.words import WordIndex

        folder = Generations(self._home)
        generation = folder.current()
        assert generation is not None
        self._folder = folder.words_of(generation)
        self._words = WordIndex(self._folder)
        self._index = open_engine(self._home).open(generation)

    def change(self, old: list[Passage], new: list[Passage], vectors: Vector) -> None:
        """Words in one step, then vectors."""
        from infold.search.index.point_ids import point_number
        from infold.search.index.word_writer import WordWriter

        points = self._points(new)
        with closing(WordWriter(self._folder, is_little=True)) as words:
            words.replace([old[0].path], points)
            words.commit()
        self._index.delete([point_number(str(UUID(int=passage.id))) for passage in old])
        self._index.put(self._records(points, vectors))
        self._index.flush()

    def keyword(self, text: str, folder: str | None = None) -> list[str]:
        """BM25."""
        return [hit.path for hit in self._keyword(text, folder, BEST)]

    def dense(self, vector: Vector, folder: str | None = None) -> list[str]:
        """Cosine, exact."""
        return [hit.path for hit in self._dense(vector, folder, BEST)]

    def hybrid(self, text: str, vector: Vector, folder: str | None = None) -> list[str]:
        """As `infold search` ranks."""
        from infold.search.query.fusion import Ranking, fuse

        keyword = self._keyword(text, folder, DEPTH)
        dense = self._dense(vector, folder, DEPTH)
        ranked = fuse([Ranking("keyword", keyword, 1.0), Ranking("dense", dense, 0.3)], RRF_K)
        return [one.hit.path for one in ranked[:BEST]]

    def _keyword(self, text: str, folder: str | None, limit: int) -> list[Any]:
        from infold.search.terms import query_weights

        return list(self._words.search(query_weights(text, ["english"]), limit, self._where(folder)).scored)

    def _dense(self, vector: Vector, folder: str | None, limit: int) -> list[Any]:
        from infold.search.index.nearest import nearest

        return nearest(self._words, self._index, vector, limit, self._where(folder)).scored

    @staticmethod
    def _where(folder: str | None) -> Any:
        from infold.search.index.contract import EVERYTHING, Filter

        return EVERYTHING if folder is None else Filter(prefixes=(folder,))

    @staticmethod
    def _points(passages: list[Passage]) -> list[Any]:
        from infold.search.index.contract import IndexPoint
        from infold.search.terms import document_words

        return [
            IndexPoint(
                id=str(UUID(int=passage.id)),
                path=passage.path,
                start_line=1,
                end_line=2,
                title="",
                trail=(),
                kind="standard",
                group="notebook",
                words=words,
                written=written,
            )
            for passage in passages
            for words, written in (document_words(passage.text, "english"),)
        ]

    @staticmethod
    def _records(points: list[Any], vectors: Vector) -> list[Any]:
        from infold.search.index.contract import VectorRecord
        from infold.search.index.point_ids import point_number

        return [VectorRecord(point_number(one.id), vector) for one, vector in zip(points, vectors, strict=True)]

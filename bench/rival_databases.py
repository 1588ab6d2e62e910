"""Vector databases behind the face of `bench.rival_engines`: qdrant-client's local mode, and LanceDB."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID
from zlib import crc32

import numpy as np

from bench.rival_engines import BEST, DEPTH, RRF_K, Corpus, Passage, Vector


class QdrantLocal:
    """The local mode of Qdrant's Python client, with infold's own BM25 vectors."""

    name = "qdrant-client, local mode"
    most_passages: int | None = 20_000

    def __init__(self, home: Path) -> None:
        from qdrant_client import QdrantClient

        self._client = QdrantClient(path=str(home))

    def build(self, corpus: Corpus) -> None:
        """Upserts, 500 a call."""
        from qdrant_client import models

        size = corpus.vectors.shape[1]
        self._client.create_collection(
            "passages",
            vectors_config={"dense": models.VectorParams(size=size, distance=models.Distance.COSINE)},
            sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        for first in range(0, len(corpus.passages), 500):
            self._add(corpus.passages[first : first + 500], corpus.vectors[first : first + 500])
        self._client.close()

    def open(self) -> None:
        """It is, once the client is made."""

    def change(self, old: list[Passage], new: list[Passage], vectors: Vector) -> None:
        """Two steps."""
        self._client.delete("passages", [str(UUID(int=passage.id)) for passage in old])
        self._add(new, vectors)

    def keyword(self, text: str, folder: str | None = None) -> list[str]:
        """BM25."""
        return self._asked(self._sparse(text), "bm25", folder)

    def dense(self, vector: Vector, folder: str | None = None) -> list[str]:
        """Cosine, exact."""
        return self._asked(vector.tolist(), "dense", folder)

    def hybrid(self, text: str, vector: Vector, folder: str | None = None) -> list[str]:
        """Its own fusion."""
        from qdrant_client import models

        legs = [
            models.Prefetch(query=self._sparse(text), using="bm25", limit=DEPTH, filter=self._where(folder)),
            models.Prefetch(query=vector.tolist(), using="dense", limit=DEPTH, filter=self._where(folder)),
        ]
        fused = models.FusionQuery(fusion=models.Fusion.RRF)
        found = self._client.query_points("passages", prefetch=legs, query=fused, limit=BEST)
        return [point.payload["path"] for point in found.points if point.payload]

    def _asked(self, query: Any, using: str, folder: str | None) -> list[str]:
        found = self._client.query_points(
            "passages", query=query, using=using, limit=BEST, query_filter=self._where(folder)
        )
        return [point.payload["path"] for point in found.points if point.payload]

    def _add(self, passages: list[Passage], vectors: Vector) -> None:
        from qdrant_client import models

        points = []
        for passage, vector in zip(passages, vectors, strict=True):
            sparse = self._sparse(passage.text)
            points.append(
                models.PointStruct(
                    id=str(UUID(int=passage.id)),
                    vector={"dense": vector.tolist(), "bm25": sparse},
                    payload={"path": passage.path, "folder": passage.folder},
                )
            )
        self._client.upsert("passages", points)

    @staticmethod
    def _sparse(text: str) -> Any:
        from qdrant_client import models

        from infold.search.terms import terms

        counts = Counter(crc32(term.encode()) for term in terms(text, "english"))
        weights = [count * 2.2 / (count + 1.2) for count in counts.values()]  # BM25 without the length of a passage
        return models.SparseVector(indices=list(counts), values=weights)

    @staticmethod
    def _where(folder: str | None) -> Any:
        from qdrant_client import models

        if folder is None:
            return None
        return models.Filter(must=[models.FieldCondition(key="folder", match=models.MatchValue(value=folder))])


class Lance:
    """LanceDB with its own full-text index; vectors are looked through one by one, as it does without an ANN index."""

    name = "LanceDB"
    most_passages: int | None = None

    def __init__(self, home: Path) -> None:
        import lancedb

        self._base = lancedb.connect(str(home))

    def build(self, corpus: Corpus) -> None:
        """The table, then its indexes."""
        table = self._base.create_table("passages", self._rows(corpus.passages, corpus.vectors))
        table.create_fts_index("text", stem=True, remove_stop_words=True)
        table.create_scalar_index("folder", index_type="BITMAP")

    def open(self) -> None:
        """The table."""
        self._table = self._base.open_table("passages")

    def change(self, old: list[Passage], new: list[Passage], vectors: Vector) -> None:
        """Two steps, and the indexes brought up to date."""
        path = old[0].path.replace("'", "''")
        self._table.delete(f"path = '{path}'")
        self._table.add(self._rows(new, vectors))
        self._table.optimize()

    def keyword(self, text: str, folder: str | None = None) -> list[str]:
        """BM25."""
        return self._best(self._table.search(text, query_type="fts", fts_columns="text"), folder)

    def dense(self, vector: Vector, folder: str | None = None) -> list[str]:
        """Cosine, exact."""
        return self._best(self._table.search(vector).distance_type("cosine"), folder)

    def hybrid(self, text: str, vector: Vector, folder: str | None = None) -> list[str]:
        """Its own fusion."""
        from lancedb.rerankers import RRFReranker

        query = self._table.search(query_type="hybrid").vector(vector).text(text).distance_type("cosine")
        return self._best(query.rerank(RRFReranker(K=RRF_K)), folder)

    @staticmethod
    def _best(query: Any, folder: str | None) -> list[str]:
        if folder is not None:
            query = query.where(f"folder = '{folder}'", prefilter=True)
        return [str(path) for path in query.limit(BEST).select(["path"]).to_arrow()["path"].to_pylist()]

    @staticmethod
    def _rows(passages: list[Passage], vectors: Vector) -> Any:
        import pyarrow as pa

        size = vectors.shape[1]
        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
        columns = {
            "id": pa.array([passage.id for passage in passages]),
            "path": pa.array([passage.path for passage in passages]),
            "folder": pa.array([passage.folder for passage in passages]),
            "text": pa.array([passage.text for passage in passages]),
            "vector": pa.FixedSizeListArray.from_arrays(flat, size),
        }
        return pa.table(columns)

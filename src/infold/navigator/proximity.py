"""How near nodes are to each other and to a question: one matrix of unit vectors, compared exactly.

Vectors are kept by the text that was embedded (`catalogue.embeddings`), so making the matrix anew computes only what
is new; those of a model that costs nothing are taken from the matrix before. An exact scan of 100,000 vectors takes
milliseconds; proximity is computed when it is asked for, never stored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from infold.catalogue.embeddings import EmbeddingStore, Vector
from infold.durable.files import Disk
from infold.navigator.clusters import Matrix
from infold.navigator.nodes import NodeType
from infold.navigator.records import StoredNode
from infold.navigator.store import NavigatorStore
from infold.progress import Progress
from infold.search.embed.embedder import Embedder
from infold.text import content_hash, token_count

_BATCH: Final = 512
_FORMAT: Final = 3
_KEY: Final = 64  # signs of a text's hash
_LENSES_KEPT: Final = 32
_RAW_TOKENS: Final = 1000  # paragraphs below this are embedded as they are (spec 5, Ingestion)


@dataclass(frozen=True)
class NodeVectors:
    """A row a node, those of a type together: a level is a stretch of the matrix, and is compared by itself.

    `types` and `paths` go with the rows, so that a query is narrowed without asking the store.

    What helps to find rows is made when it is first asked for, and kept: a question does not look at every name.
    """

    ids: tuple[str, ...]
    rows: Matrix
    types: tuple[str, ...]
    paths: tuple[str, ...]

    def row_of(self, node_id: str) -> NDArray[np.float32] | None:
        """The vector of a node; None where it is not there."""
        place = self.places.get(node_id)
        return None if place is None else self.rows[place]

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each node."""
        return {node_id: place for place, node_id in enumerate(self.ids)}

    def stretch(self, kind: str) -> slice:
        """The rows of the nodes of a type."""
        return self._stretches.get(kind, slice(0, 0))

    def of_paths(self, paths: Collection[str]) -> NDArray[np.bool_]:
        """For each row whether its node is of one of these notes."""
        names, codes = self._path_codes
        return np.array([name in paths for name in names], dtype=np.bool_)[codes]

    @cached_property
    def _stretches(self) -> dict[str, slice]:
        kinds = [kind for n, kind in enumerate(self.types) if n == 0 or kind != self.types[n - 1]]
        first = [self.types.index(kind) for kind in kinds]
        return {kind: slice(*ends) for kind, ends in zip(kinds, pairwise([*first, len(self.types)]), strict=True)}

    @cached_property
    def _path_codes(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        return _coded(self.paths)


def _coded(names: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The different names, and for each row the number of its own."""
    number = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return tuple(number), np.fromiter((number[name] for name in names), dtype=np.int32, count=len(names))


def embedded_text(node: StoredNode, text: str) -> str:
    """What of a node is embedded: a short paragraph as it is, else its summary (spec 5), under the titles above it."""
    if node.type is NodeType.PARAGRAPH and token_count(text) < _RAW_TOKENS:
        said = text
    else:
        said = node.summary or text[: _RAW_TOKENS * 4]
    titles = [title for title in (*node.trail, node.title) if title]
    return "\n".join([*dict.fromkeys(titles), said]).strip()


class VectorCache:
    """The matrix of all nodes of a store, made anew when the nodes or the model are others."""

    def __init__(self, store: NavigatorStore, embeddings: EmbeddingStore, embedder: Embedder, folder: Path) -> None:
        self._store, self._embeddings, self._embedder, self._folder = store, embeddings, embedder, folder
        self._known: tuple[str, NodeVectors] | None = None
        self._texts: dict[tuple[str, ...], Matrix] = {}

    def vectors(self, progress: Progress | None = None) -> NodeVectors:
        """The vectors of all nodes now. Raises as the embedder does, and StateUnwritable."""
        state = f"{self._maker}{self._store.generation}"
        if self._known is None or self._known[0] != state:
            found = self._load(state)
            if found is None:
                found, keys = self._make(progress)
                self._save(state, found, keys)
            self._known = (state, found)
        return self._known[1]

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question."""
        return np.asarray(self._embedder.embed_query(text), dtype=np.float32)

    def of_texts(self, texts: Sequence[str]) -> Matrix:
        """The vectors of texts that are no nodes, such as a lens's words; those of the last lenses are kept."""
        wanted = tuple(texts)
        if wanted not in self._texts:
            if len(self._texts) >= _LENSES_KEPT:
                self._texts.clear()
            self._texts[wanted] = np.asarray(self._embedder.embed(list(wanted)), dtype=np.float32)
        return self._texts[wanted]

    @property
    def _maker(self) -> str:
        """How the state of a matrix that this model made begins."""
        return f"{_FORMAT}/{self._embedder.name}/"

    def _make(self, progress: Progress | None) -> tuple[NodeVectors, list[str]]:
        """The vectors of all nodes, and the hash of the text of each."""
        nodes = list(self._store.every())
        texts: list[str] = []
        article, path = "", None
        for node in nodes:
            if node.path != path:
                path = node.path
                found = self._store.article(path)
                article = found.text if found is not None else ""
            texts.append(embedded_text(node, article[node.start : node.end]))
        keys = [content_hash(text) for text in texts]
        is_quick = self._embedder.traits.is_quick
        known = self._former() if is_quick else self._embeddings.find(self._embedder.name, set(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        waiting = list(missing.items())
        for first in range(0, len(waiting), _BATCH):
            batch = waiting[first : first + _BATCH]
            made = self._embedder.embed([text for _, text in batch])
            fresh = {key: made[n] for n, (key, _) in enumerate(batch)}
            known |= fresh if is_quick else self._embeddings.append(self._embedder.name, fresh)
            if progress is not None:
                progress("embeddings", min(first + _BATCH, len(waiting)), len(waiting))
        order = sorted(range(len(nodes)), key=lambda n: nodes[n].type)
        rows = np.zeros((len(nodes), self._embedder.size), dtype=np.float32)
        for place, n in enumerate(order):
            rows[place] = known[keys[n]]
        vectors = NodeVectors(
            tuple(nodes[n].id for n in order),
            rows,
            tuple(str(nodes[n].type) for n in order),
            tuple(nodes[n].path for n in order),
        )
        return vectors, [keys[n] for n in order]

    def _load(self, state: str) -> NodeVectors | None:
        found = self._read()
        return found[1] if found is not None and found[0]["state"] == state else None

    def _former(self) -> dict[str, Vector]:
        """By the hashes of their texts: the vectors of the matrix before, where this model made it."""
        found = self._read()
        if found is None or not found[0]["state"].startswith(self._maker):
            return {}
        keys, rows = found[0]["keys"], found[1].rows
        return dict(zip((keys[at : at + _KEY] for at in range(0, len(keys), _KEY)), rows, strict=True))

    def _read(self) -> tuple[dict[str, Any], NodeVectors] | None:
        """The matrix on disk and what is said of it; None where there is none that is whole."""
        try:
            facts = json.loads((self._folder / "rows.json").read_bytes())
            rows = np.load(self._folder / "rows.npy", mmap_mode="r", allow_pickle=False)
            found = NodeVectors(tuple(facts["ids"]), rows, tuple(facts["types"]), tuple(facts["paths"]))
            is_whole = len(found.ids) == len(rows) == len(facts["keys"]) // _KEY
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (facts, found) if is_whole else None

    def _save(self, state: str, found: NodeVectors, keys: Sequence[str]) -> None:
        """Beside the node file; a crash in between leaves a state that does not fit, and the matrix is made again."""
        disk = Disk()
        disk.make_folder(self._folder)
        facts = {"state": "", "ids": found.ids, "types": found.types, "paths": found.paths, "keys": "".join(keys)}
        disk.write_whole(self._folder / "rows.json", json.dumps(facts).encode())
        part = self._folder / "rows.part.npy"
        np.save(part, found.rows)
        part.replace(self._folder / "rows.npy")
        disk.write_whole(self._folder / "rows.json", json.dumps({**facts, "state": state}).encode())

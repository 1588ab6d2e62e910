"""A sync that says when it begins, so that it can be killed at any moment after: `FOLDER`."""

from __future__ import annotations

import sys
from hashlib import blake2b
from pathlib import Path

import numpy as np

from infold.search.embed.embedder import EmbedderTraits
from infold.search.index.sync import sync_index
from infold.settings import Params


class Hashed:
    """Vectors out of nothing but the text's hash: what embeds is not what is tested."""

    name = "hashed"
    size = 16
    traits = EmbedderTraits(weight=0.3)

    def embed(self, texts: list[str]) -> np.ndarray:
        """One row a text, of unit length."""
        rows = [np.frombuffer(blake2b(text.encode(), digest_size=16).digest(), dtype=np.uint8) for text in texts]
        found = np.array(rows, dtype=np.float32).reshape(len(texts), self.size) + 1
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def embed_query(self, text: str) -> np.ndarray:
        """As for a passage."""
        return self.embed([text])[0]

    def close(self) -> None:
        """Nothing is held."""


def sync(root: Path, index: str = "index", *, rebuild: bool = False) -> None:
    """Brings an index of the vault up to date."""
    sync_index(root / "vault", root / index, root / "embeddings", Params(), Hashed(), rebuild=rebuild)  # type: ignore[arg-type]


if __name__ == "__main__":
    print("begins", flush=True)
    sync(Path(sys.argv[1]))

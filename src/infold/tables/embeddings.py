"""Vectors that were computed once: (text hash, model, vector) in part files, never computed again for the same text.

A vector belongs to a content, not to a path: renaming a note, or losing the index, computes nothing. A part is written
whole and then given its name, so that a crash keeps every part before it. A damaged part is named and passed over.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from infold.tables.parquet import read_table, write_table

if TYPE_CHECKING:
    import polars as pl

Vector = npt.NDArray[np.float32]

VERSION: Final = "embeddings/1"
PARTS_BEFORE_COMPACTION: Final = 24
_PATTERN: Final = "part-*.parquet"


def embeddings_schema() -> dict[str, Any]:
    """Columns and types, in order. A vector is its half-precision numbers, little-endian."""
    import polars as pl

    return {"text_hash": pl.String(), "model": pl.String(), "vector": pl.Binary()}


class EmbeddingStore:
    """The part files in `folder`. `damaged` names those that could not be read, as they are met."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: dict[str, str] = {}

    def find(self, model: str, keys: Collection[str]) -> dict[str, Vector]:
        """The vectors that are kept for these text hashes under this model."""
        if not keys:
            return {}
        import polars as pl

        found: dict[str, Vector] = {}
        wanted = pl.Series("text_hash", list(keys), dtype=pl.String)
        for part in self._parts():
            frame = self._read(part)
            if frame is None:
                continue
            rows = frame.filter((pl.col("model") == model) & pl.col("text_hash").is_in(wanted.implode()))
            for key, vector in zip(rows["text_hash"], rows["vector"], strict=True):
                found[key] = np.frombuffer(vector, dtype="<f2").astype(np.float32)
        return found

    def append(self, model: str, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Keeps vectors, durably, in one new part, and gives them back as `find` will: rounded to half precision.

        Raises StateUnwritable where the folder cannot take the part.
        """
        if not vectors:
            return {}
        import polars as pl

        halves = {key: np.asarray(vector, dtype="<f2") for key, vector in vectors.items()}
        self._write(
            pl.DataFrame(
                {
                    "text_hash": list(vectors),
                    "model": [model] * len(vectors),
                    "vector": [half.tobytes() for half in halves.values()],
                },
                schema=embeddings_schema(),
            )
        )
        return {key: half.astype(np.float32) for key, half in halves.items()}

    def compact(self) -> None:
        """Makes one part of many, where there are many. What a crash leaves behind is at most a vector kept twice."""
        import polars as pl

        parts = self._parts()
        if len(parts) < PARTS_BEFORE_COMPACTION:
            return
        frames = {part: frame for part in parts if (frame := self._read(part)) is not None}
        if frames:
            self._write(
                pl.concat(list(frames.values())).unique(["text_hash", "model"], keep="last", maintain_order=True)
            )
        for part in frames:
            part.unlink(missing_ok=True)

    def count(self) -> int:
        """How many vectors are kept, all models together."""
        return sum(frame.height for part in self._parts() if (frame := self._read(part)) is not None)

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob(_PATTERN))

    def _read(self, part: Path) -> pl.DataFrame | None:
        frame = read_table(part, embeddings_schema(), VERSION)
        if frame is None and part.exists():
            self.damaged[part.name] = "damaged, or written by another version"
        return frame

    def _write(self, frame: pl.DataFrame) -> None:
        number = 1 + max((int(part.stem.split("-")[1]) for part in self._parts()), default=0)
        write_table(self.folder / f"part-{number:08d}-{secrets.token_hex(4)}.parquet", frame, VERSION)

"""Vectors that were computed once: (text hash, model, vector) in part files, never computed again for the same text.

A vector belongs to a content, not to a path: renaming a note, or losing the index, computes nothing. A part is written
whole and then given its name, so that a crash keeps every part before it. A damaged part is named and passed over.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from infold.errors import StateUnwritable

if TYPE_CHECKING:
    import polars as pl

Vector = npt.NDArray[np.float32]

PARTS_BEFORE_COMPACTION: Final = 24
_PATTERN: Final = "part-*.parquet"


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

    def append(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keeps vectors, durably, in one new part. Raises StateUnwritable where the folder cannot take it."""
        if not vectors:
            return
        import polars as pl

        self._write(
            pl.DataFrame(
                {
                    "text_hash": list(vectors),
                    "model": [model] * len(vectors),
                    "vector": [np.asarray(vector, dtype="<f2").tobytes() for vector in vectors.values()],
                },
                schema={"text_hash": pl.String, "model": pl.Categorical, "vector": pl.Binary},
            )
        )

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
        import polars as pl

        try:
            frame = pl.read_parquet(part, columns=["text_hash", "model", "vector"])
            return frame.with_columns(pl.col("model").cast(pl.String))
        except (pl.exceptions.PolarsError, OSError) as error:
            self.damaged[part.name] = str(error).partition("\n")[0]
            return None

    def _write(self, frame: pl.DataFrame) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".part-", suffix=".tmp", dir=self.folder)
            temporary = Path(name)
            try:
                with os.fdopen(handle, "wb") as file:
                    frame.write_parquet(file, compression="zstd")
                    file.flush()
                    os.fsync(file.fileno())
                number = 1 + max((int(part.stem.split("-")[1]) for part in self._parts()), default=0)
                temporary.rename(self.folder / f"part-{number:08d}-{temporary.stem[6:]}.parquet")
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise StateUnwritable(f"Vectors cannot be kept in {self.folder}: {error}.") from error

"""Embeddings from a local ONNX model: onnxruntime and a tokenizer, no PyTorch and no network.

onnxruntime is spoken to directly, in this one module, and not by way of fastembed: that knows its own catalogue and
needs code for every other model, takes 1.6 s to import, embeds in batches, and holds huggingface-hub below 2.

One text is one run of the model, and `THREADS` of them run side by side. That was measured faster than batches, where
short texts are padded to the longest and threads wait for each other inside every step; and with 8-bit weights a batch
would change the vectors, because what runs through the model is scaled by the largest number in the whole batch.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from infold.errors import EnvironmentFault, ModelUnusable
from infold.search.embed.embedder import EmbedderTraits, unit_rows
from infold.search.embed.model_folder import ModelFolder, read_folder
from infold.text import without_runs

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

THREADS: Final = max(1, min(4, os.cpu_count() or 1))
_POOLED_AFTERWARDS: Final = "pooler_output"  # of BERT's next-sentence task: two dimensions, and no embedding


@dataclass(frozen=True, slots=True)
class Measured:
    """What running a model has shown, kept so that knowing it takes neither hashing nor loading."""

    fingerprint: str
    size: int
    floor: float | None = None  # how near unrelated texts come (`search.embed.similarity_threshold`)


@dataclass(frozen=True, slots=True)
class _Running:
    session: InferenceSession
    tokenizer: Tokenizer
    inputs: frozenset[str]
    output: str


def is_runtime_installed() -> bool:
    """Whether a model could run here. Loads nothing."""
    return importlib.util.find_spec("onnxruntime") is not None


class OnnxEmbedder:
    """A model of a folder. It is loaded with the first text, in a sixth of a second for MiniLM; threads may share it.

    `measured` saves hashing the weights for the name and running the model for the size; it must be of these files.
    Raises ModelUnusable where the folder or what is in it cannot be used, EnvironmentFault without onnxruntime.
    """

    def __init__(self, folder: Path | ModelFolder, measured: Measured | None = None) -> None:
        self.model = folder if isinstance(folder, ModelFolder) else read_folder(folder)
        self._fingerprint = measured.fingerprint if measured else None
        self._size = measured.size if measured else None
        self.traits = EmbedderTraits(min_similarity=measured.floor if measured else None)
        self._lock = threading.Lock()
        self._running: _Running | None = None

    @property
    def name(self) -> str:
        """The folder's name and a fingerprint, so that vectors of different weights never mix."""
        if self._fingerprint is None:
            self._fingerprint = self.model.fingerprint()
        return f"onnx/{self.model.folder.name}@{self._fingerprint}"

    @property
    def size(self) -> int:
        """The length of a vector; runs the model once where it is not known."""
        if self._size is None:
            self._size = len(self._vector(self._loaded(), "size"))
        return self._size

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """A row a passage, of unit length, each the same whatever it is embedded together with."""
        return self._embed([self.model.passage_prefix + text if text.strip() else "" for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The vector of a question, with what the model wants in front of one."""
        return np.asarray(self._embed([self.model.query_prefix + text if text.strip() else ""])[0])

    def close(self) -> None:
        """Lets go of the model's memory; the next text loads it again."""
        with self._lock:
            self._running = None

    def _embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.size), dtype=np.float32)
        rows = sorted((row for row, text in enumerate(texts) if text), key=lambda row: -len(texts[row]))
        if not rows:
            return vectors
        running = self._loaded()

        def run(row: int) -> None:
            vectors[row] = self._vector(running, texts[row])

        if len(rows) == 1 or THREADS == 1:
            for row in rows:
                run(row)
        else:
            with ThreadPoolExecutor(THREADS) as pool:  # longest first: the threads end together
                for _ in pool.map(run, rows):
                    pass
        if not np.isfinite(vectors).all():
            raise ModelUnusable(
                f"{self.model.weights} gives numbers that are not finite.", hint="Get the model's folder anew."
            )
        return unit_rows(vectors)

    def _vector(self, running: _Running, text: str) -> npt.NDArray[np.float32]:
        encoding = running.tokenizer.encode(without_runs(text))
        tokens = len(encoding.ids)
        given: dict[str, npt.NDArray[np.int64]] = {
            "input_ids": np.array([encoding.ids], dtype=np.int64),
            "attention_mask": np.ones((1, tokens), dtype=np.int64),
            "token_type_ids": np.zeros((1, tokens), dtype=np.int64),
            "position_ids": np.arange(tokens, dtype=np.int64)[None],
        }
        feed = {name: value for name, value in given.items() if name in running.inputs}
        try:
            output = np.asarray(running.session.run([running.output], feed)[0], dtype=np.float32)
        except _faults() as error:
            raise _unusable(error, self.model.weights) from error
        if output.ndim == 2:
            return np.asarray(output[0])
        if output.ndim != 3:
            raise ModelUnusable(
                f"{self.model.weights} gives {output.ndim} dimensions, which is no embedding.",
                hint="Use the ONNX export of a sentence embedding model.",
            )
        return np.asarray(output[0, 0] if self.model.pooling == "cls" else output[0].mean(axis=0))

    def _loaded(self) -> _Running:
        with self._lock:
            if self._running is None:
                self._running = self._load()
            return self._running

    def _load(self) -> _Running:
        if not is_runtime_installed():
            raise EnvironmentFault(
                "onnxruntime is not installed, so no ONNX model can run.",
                hint="Install it with `pip install 'infold[onnx]'`, or set search.embedding=static.",
            )
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # a plan of memory for every length of text would be kept
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(self.model.weights, options, providers=["CPUExecutionProvider"])
        except _faults() as error:
            raise _unusable(error, self.model.weights) from error
        try:
            tokenizer = Tokenizer.from_file(str(self.model.tokenizer))
        except Exception as error:  # of the library's faults there is no narrower name
            if type(error) is not Exception:
                raise
            raise _unusable(error, self.model.tokenizer) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.model.max_tokens)
        inputs = frozenset(item.name for item in session.get_inputs())
        unknown = inputs - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
        if unknown or "input_ids" not in inputs:
            raise ModelUnusable(
                f"{self.model.weights} takes {', '.join(sorted(inputs))}, which infold cannot give.",
                hint="Use the ONNX export of a text embedding model.",
            )
        return _Running(session, tokenizer, inputs, _output(session))


def _output(session: InferenceSession) -> str:
    """The output to read: the one that is named an embedding of the text, else the first that can be one."""
    names = [str(item.name) for item in session.get_outputs()]
    named = [name for name in names if "sentence_embedding" in name]
    return (named or [name for name in names if name != _POOLED_AFTERWARDS] or names)[0]


def _faults() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: two dozen classes that have nothing but Exception in common."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = (kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception))
    return (*own, RuntimeError, ValueError)


def _unusable(error: Exception, file: Path) -> ModelUnusable:
    detail = " ".join(str(error).split())[:200]
    return ModelUnusable(f"{file} cannot be used: {detail}", hint="Get the model's folder anew, or use another model.")

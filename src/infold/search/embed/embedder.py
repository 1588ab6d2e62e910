"""What turns text into a dense vector: a static model out of a wheel, a local ONNX model, a service, or nothing.

`open_embedder` chooses by the parameters. None of this touches a network except the service, when it is chosen. Keeping
vectors belongs to `catalogue.embeddings`, which local models there are to `search.embed.models`.
"""

from __future__ import annotations

import importlib.util
import math
import struct
from array import array
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from infold.errors import EnvironmentFault
from infold.home import state_home
from infold.search.index.contract import QueryVector
from infold.settings import SearchParams
from infold.text import without_runs

if TYPE_CHECKING:  # a process that asks one question of the static model does without numpy
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    from infold.environment import Environment

_HEADER_LENGTH: Final = struct.Struct("<Q")
SERVICE_MODEL: Final = "text-embedding-3-small"
SERVICE_TIMEOUT_SECONDS: Final = 60.0
SERVICE_RETRIES: Final = 4

# What a rung's leg deserves beside keywords, which count 1. Measured by `bench.retrieval` on four vaults and a judged
# collection, 13 sets (mean nDCG@10 of the hybrid less its better half, docs/evaluation.md): static +0.006, MiniLM
# +0.005; with twice the weight MiniLM loses headings that stand word for word in a note. `search.dense_weight`
# overrides.
STATIC_WORTH: Final = 0.3
MODEL_WORTH: Final = 1.0


class Embedder(Protocol):
    """Gives each text a vector of unit length; equal texts get equal vectors under one `name`."""

    @property
    def name(self) -> str:
        """Which model: vectors are kept under it, and never mixed with another's."""

    @property
    def size(self) -> int:
        """How long a vector is."""

    @property
    def worth(self) -> float:
        """What its leg of a hybrid search deserves beside keywords, which count 1: as measured, not as hoped."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, of unit length; a text without a known token gets a row of zeros."""

    def embed_query(self, text: str) -> QueryVector:
        """The vector to look for what answers `text`: some models want a question told apart from a passage."""

    def close(self) -> None:
        """Lets go of what is held open."""


class StaticEmbedder:
    """The mean of its tokens' vectors, from the model in the wordllama wheel (16 MB, 256 dimensions).

    Read straight from the wheel's folder: the library's own loader gives the same vectors, but takes six times as long
    to import, sets up logging for the whole process, and would try the network where a file is missing.
    """

    name = "static/wordllama-l2-supercat-256"
    size = 256
    bytes_on_disk = 18_200_000
    worth = STATIC_WORTH
    _weights_file = "weights/l2_supercat_256.safetensors"
    _tokenizer_file = "tokenizers/l2_supercat_tokenizer_config.json"
    _batch_texts = 256
    _short_characters = 400
    _many_texts = 32  # embedded at once: a vault is being indexed, which will be asked

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The mean token vector of each text, scaled to unit length."""
        import numpy as np

        if len(texts) >= self._many_texts:
            self._make_quick()
        vectors = np.zeros((len(texts), self.size), dtype=np.float32)
        for first in range(0, len(texts), self._batch_texts):
            batch = [without_runs(text) for text in texts[first : first + self._batch_texts]]
            for row, encoding in enumerate(self._tokenizer.encode_batch_fast(batch, add_special_tokens=False), first):
                if encoding.ids:
                    vectors[row] = self._weights[np.array(encoding.ids)].mean(axis=0)
        return unit_rows(vectors)

    def embed_query(self, text: str) -> QueryVector:
        """As any text; until the model is loaded, only the rows of the question's words are read, and without numpy.

        A process that asks one question has its answer a tenth of a second sooner.
        """
        if "_weights" in self.__dict__ or len(text) > self._short_characters:
            row: QueryVector = self.embed([text])[0]
            return row
        from infold.search.embed.quick_tokenizer import quick_tokens

        text = without_runs(text)
        ids = quick_tokens(self._quick_file, text)
        if ids is None:
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        rows = _rows(self._present(self._weights_file), ids, self.size)
        sums = [math.fsum(column) for column in zip(*rows, strict=True)] or [0.0] * self.size
        length = math.hypot(*sums) or 1.0  # that of the mean too, but for a factor
        return array("f", [number / length for number in sums])

    def close(self) -> None:
        """Nothing is held open."""

    @cached_property
    def _folder(self) -> Path:
        spec = importlib.util.find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise EnvironmentFault(
                "The static embeddings are not installed.", hint="Install wordllama, or set search.embedding=none."
            )
        return Path(spec.origin).parent

    @cached_property
    def _quick_file(self) -> Path:
        from infold.search.embed.quick_tokenizer import quick_file

        return quick_file(state_home() / "models", Path(self._present(self._tokenizer_file)))

    def _make_quick(self) -> None:
        from infold.search.embed.quick_tokenizer import make_quick

        make_quick(Path(self._present(self._tokenizer_file)), self._quick_file)

    @cached_property
    def _weights(self) -> npt.NDArray[np.float32]:
        import numpy as np
        from safetensors import safe_open

        with safe_open(self._present(self._weights_file), framework="np") as file:
            return np.ascontiguousarray(file.get_tensor("embedding.weight"), dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(self._present(self._tokenizer_file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _present(self, name: str) -> str:
        path = self._folder / name
        if not path.is_file():
            raise EnvironmentFault(
                f"wordllama lacks {name}.", hint="Install wordllama 0.4, or set search.embedding=none."
            )
        return str(path)


def _rows(file: str, numbers: Sequence[int], size: int) -> list[tuple[float, ...]]:
    """These rows of the one matrix of a safetensors file: the length of a JSON header, the header, 16-bit floats."""
    row = struct.Struct(f"<{size}e")
    with Path(file).open("rb") as stream:
        start = _HEADER_LENGTH.size + _HEADER_LENGTH.unpack(stream.read(_HEADER_LENGTH.size))[0]
        found = []
        for number in numbers:
            stream.seek(start + number * row.size)
            found.append(row.unpack(stream.read(row.size)))
    return found


def unit_rows(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Each row scaled to length 1; rows of zeros stay as they are."""
    import numpy as np

    norms: npt.NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
    norms[norms == 0] = 1
    return np.divide(vectors, norms, dtype=np.float32)


def open_embedder(params: SearchParams, environment: Environment | None = None) -> Embedder | None:
    """The embedder that the parameters name; None where search is by keyword alone.

    `auto` is the ONNX model in use where there is one that can run here, else the static one: without such a model this
    choice reads one small file. `environment` is for the service alone, and read where it is None. Raises ModelUnusable
    where `onnx` is asked for and there is none.
    """
    if params.embedding == "none":
        return None
    if params.embedding == "static":
        return StaticEmbedder()
    if params.embedding == "service":
        return _service(params, environment)
    from infold.search.embed import models

    if params.embedding == "onnx":
        return models.open_model(params.embedding_model)
    return models.model_at_hand(params.embedding_model) or StaticEmbedder()


def _service(params: SearchParams, environment: Environment | None) -> Embedder:
    from infold.search.embed.openai_embedder import ServiceEmbedder

    if environment is None:
        from infold.environment import Environment

        environment = Environment()
    return ServiceEmbedder(
        params.embedding_model or SERVICE_MODEL,
        api_key=environment.api_key.get_secret_value() if environment.api_key else None,
        base_url=environment.embedding_base_url or environment.base_url,
        timeout_seconds=SERVICE_TIMEOUT_SECONDS,
        max_retries=SERVICE_RETRIES,
    )

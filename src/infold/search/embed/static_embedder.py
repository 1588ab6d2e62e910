"""The embeddings that come with the program: the mean of static token vectors, out of the wheel of wordllama."""

from __future__ import annotations

import importlib.util
import math
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold.errors import EnvironmentFault
from infold.few_vectors import divided, length_of, total
from infold.home import state_home
from infold.search.embed.embedder import STATIC_WEIGHT, EmbedderTraits, unit_rows
from infold.search.embed.many_tokens import ManyTokens
from infold.search.embed.quick_tokenizer import QuickTokenizer, make_quick, quick_file
from infold.search.index.contract import QueryVector
from infold.text import without_runs

if TYPE_CHECKING:  # a process that asks one question of the static model does without numpy
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

_HEADER_LENGTH: Final = struct.Struct("<Q")


class StaticEmbedder:
    """The mean of its tokens' vectors, from the model in the wordllama wheel (16 MB, 256 dimensions).

    Read straight from the wheel's folder: the library's own loader gives the same vectors, but takes six times as long
    to import, sets up logging for the whole process, and would try the network where a file is missing.
    """

    name = "static/wordllama-l2-supercat-256"
    size = 256
    bytes_on_disk = 18_200_000
    # The cosine that 95 of 100 unrelated questions do not reach with the best of their answers, in each of four public
    # vaults: strings of random letters, and questions of aerodynamics to vaults about notes. Of the headings of a
    # vault's own notes, often a word or two, more than half reach it; the others are found by their words.
    traits = EmbedderTraits(weight=STATIC_WEIGHT, is_quick=True, is_bundled=True, min_similarity=0.40)
    _weights_file = "weights/l2_supercat_256.safetensors"
    _tokenizer_file = "tokenizers/l2_supercat_tokenizer_config.json"
    _batch_texts = 256
    _short_characters = 400
    _little_characters = 30_000  # for which tokens and sums take less than loading numpy and the tokenizer
    _many_texts = 32  # embedded at once: a vault is being indexed, which will be asked

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The mean token vector of each text, scaled to unit length."""
        import numpy as np

        if len(texts) >= self._many_texts:
            self._make_quick()
        is_much = len(texts) >= self._many_texts or "_weights" in self.__dict__
        vectors = np.zeros((len(texts), self.size), dtype=np.float32)
        for first in range(0, len(texts), self._batch_texts):
            batch = [without_runs(text) for text in texts[first : first + self._batch_texts]]
            for row, ids in enumerate(self._tokens(batch, is_much=is_much), first):
                if len(ids):
                    rows = self._weights.take(ids, axis=0) if is_much else self._halves.take(ids, axis=0)
                    np.add.reduce(rows, axis=0, dtype=np.float32, out=vectors[row])
                    vectors[row] /= len(ids)
        return unit_rows(vectors)

    def embed_few(self, texts: Sequence[str]) -> list[array[float]] | None:
        """What `embed` gives, where it would load numpy for little; else None."""
        if len(texts) >= self._many_texts or "numpy" in sys.modules:
            return None
        found = self._quick_tokens([without_runs(text) for text in texts])
        if found is None:
            return None
        ids = sorted({*chain.from_iterable(found)})
        rows = dict(zip(ids, _rows(self._present(self._weights_file), ids, self.size), strict=True))
        return [self._unit_mean([rows[one] for one in some]) for some in found]

    def _unit_mean(self, rows: Sequence[Sequence[float]]) -> array[float]:
        """The mean of these rows, scaled to unit length, each step as `embed` does it."""
        mean = divided(total(rows, self.size), len(rows) or 1)
        return divided(mean, length_of(mean) or 1)

    def _tokens(self, texts: Sequence[str], *, is_much: bool) -> Iterator[Sequence[int] | npt.NDArray[np.uint16]]:
        """The ids of the tokens of each text; of a little text without loading the tokenizer."""
        quick = None if is_much else self._quick_tokens(texts)
        if quick is not None:
            return iter(quick)
        if len(texts) >= self._many_texts:
            return self._many_tokens.of(texts)
        return (self._tokenizer.encode(text, add_special_tokens=False).ids for text in texts)

    def _quick_tokens(self, texts: Sequence[str]) -> list[list[int]] | None:
        """The ids of the tokens of each text; None where the tokenizer is loaded, or is to be."""
        if "_tokenizer" in self.__dict__ or sum(map(len, texts)) > self._little_characters:
            return None
        quick = [ids for text in texts if (ids := self._quick_tokenizer.tokens(text)) is not None]
        return quick if len(quick) == len(texts) else None

    def embed_query(self, text: str) -> QueryVector:
        """As any text; until the model is loaded, only the rows of the question's words are read, and without numpy.

        A process that asks one question has its answer a tenth of a second sooner.
        """
        text = without_runs(text)
        if "_weights" in self.__dict__ or len(text) > self._short_characters:
            row: QueryVector = self.embed([text])[0]
            return row
        ids = self._quick_tokenizer.tokens(text)
        if ids is None:
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        if "numpy" in sys.modules:
            return self._unit_sum(ids)
        rows = _rows(self._present(self._weights_file), ids, self.size)
        sums = [math.fsum(column) for column in zip(*rows, strict=True)] or [0.0] * self.size
        length = math.hypot(*sums) or 1.0  # that of the mean too, but for a factor
        return array("f", [number / length for number in sums])

    def _unit_sum(self, ids: Sequence[int]) -> npt.NDArray[np.float32]:
        """The sum of these rows, scaled to unit length, of the rows as they are mapped."""
        import numpy as np

        sums = np.add.reduce(np.asarray(self._halves).take(ids, axis=0), axis=0, dtype=np.float64)
        unit: npt.NDArray[np.float32] = (sums / (math.sqrt(np.dot(sums, sums)) or 1.0)).astype(np.float32)
        return unit

    def close(self) -> None:
        """Lets go of the tables of tokens, where they were opened."""
        if "_quick_tokenizer" in self.__dict__:
            self._quick_tokenizer.close()

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
        return quick_file(state_home() / "models", Path(self._present(self._tokenizer_file)))

    @cached_property
    def _quick_tokenizer(self) -> QuickTokenizer:
        return QuickTokenizer(self._quick_file)

    def _make_quick(self) -> None:
        make_quick(Path(self._present(self._tokenizer_file)), self._quick_file)

    @cached_property
    def _weights(self) -> npt.NDArray[np.float32]:
        """All rows as they are counted with, which pays where many of them are."""
        import numpy as np

        return np.ascontiguousarray(self._halves, dtype=np.float32)

    @cached_property
    def _halves(self) -> npt.NDArray[np.float16]:
        """All rows as the file has them, mapped and not read."""
        import numpy as np

        file = self._present(self._weights_file)
        with Path(file).open("rb") as stream:
            start = _HEADER_LENGTH.size + _HEADER_LENGTH.unpack(stream.read(_HEADER_LENGTH.size))[0]
        return np.memmap(file, dtype="<f2", mode="r", offset=start).reshape(-1, self.size)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(self._present(self._tokenizer_file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _many_tokens(self) -> ManyTokens:
        return ManyTokens(self._tokenizer)

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

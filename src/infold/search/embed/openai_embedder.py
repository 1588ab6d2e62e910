"""The embeddings half of an OpenAI-compatible endpoint: the one module below the librarian that speaks to a network.

Chat belongs to `librarian.model`. The client library is loaded on the first call, because loading it takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from infold.errors import (
    ContextTooLong,
    EndpointFault,
    EndpointUnreachable,
    InfoldError,
    KeyMissing,
    KeyRejected,
    ModelNotFound,
)
from infold.search.embed.embedder import EmbedderTraits, unit_rows

if TYPE_CHECKING:
    from openai import OpenAI

BATCH_TEXTS: Final = 128
BATCH_CHARACTERS: Final = 400_000
MAX_TEXT_CHARACTERS: Final = 24_000


class ServiceEmbedder:
    """Embeddings from an OpenAI-compatible endpoint, in batches; a 429, 5xx or time-out is tried again with backoff."""

    traits = EmbedderTraits(is_paid=True)

    def __init__(
        self, model: str, *, api_key: str | None, base_url: str | None, timeout_seconds: float, max_retries: int
    ) -> None:
        self.model = model
        self.base_url = base_url
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._client: OpenAI | None = None
        self._size: int | None = None

    @property
    def name(self) -> str:
        """The model, as vectors are kept under."""
        return f"service/{self.model}"

    @property
    def size(self) -> int:
        """The length of a vector; asks the endpoint once."""
        if self._size is None:
            self._size = int(self.embed(["size"]).shape[1])
        return self._size

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit vector for each text."""
        if not texts:
            return np.empty((0, self._size or 0), dtype=np.float32)
        vectors = np.vstack([self._request(batch) for batch in _batches(texts)])
        self._size = int(vectors.shape[1])
        return unit_rows(vectors)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """As any text."""
        return np.asarray(self.embed([text])[0])

    def close(self) -> None:
        """Lets go of connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _request(self, batch: list[str]) -> npt.NDArray[np.float32]:
        import openai

        if self._client is None:
            if not self._api_key and self.base_url is None:
                raise KeyMissing(
                    "The embedding service needs an API key.",
                    hint="Set OPENAI_API_KEY, or search.embedding=static for the embeddings that need none.",
                )
            self._client = openai.OpenAI(
                api_key=self._api_key or "none",
                base_url=self.base_url,
                timeout=self._timeout_seconds,
                max_retries=self._max_retries,
            )
        try:
            answer = self._client.embeddings.create(model=self.model, input=batch, encoding_format="float")
        except openai.OpenAIError as error:
            raise self._translated(error) from error
        rows = sorted(answer.data, key=lambda item: item.index)
        if len(rows) != len(batch) or len({len(row.embedding) for row in rows}) != 1:
            raise EndpointFault(f"The embedding service gave {len(rows)} vectors for {len(batch)} texts.")
        return np.asarray([row.embedding for row in rows], dtype=np.float32)

    def _translated(self, error: Exception) -> InfoldError:
        import openai

        where = self.base_url or "the OpenAI API"
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return KeyRejected(f"The embedding service at {where} refuses the key.", hint="Check OPENAI_API_KEY.")
        if isinstance(error, openai.NotFoundError):
            return ModelNotFound(
                f"The embedding service at {where} does not know the model {self.model!r}.",
                hint="Set search.embedding_model to one it has.",
            )
        if isinstance(error, openai.BadRequestError) and "context" in str(error).casefold():
            return ContextTooLong(f"A passage is too long for {self.model!r}.", hint="Lower search.passage_tokens.")
        if isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError):
            return EndpointUnreachable(
                f"Nothing answers at {where}.", hint="Check INFOLD_EMBEDDING_BASE_URL, or set search.embedding=static."
            )
        return EndpointFault(f"The embedding service at {where} failed: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    detail: Any = getattr(error, "message", None) or str(error)
    return str(detail).strip().partition("\n")[0][:300]


def _batches(texts: Sequence[str]) -> list[list[str]]:
    """The texts in order, in requests of bounded size; an endpoint refuses an empty text, so a space stands for it."""
    batches: list[list[str]] = [[]]
    characters = 0
    for text in texts:
        sent = text[:MAX_TEXT_CHARACTERS] if text.strip() else " "
        if batches[-1] and (len(batches[-1]) >= BATCH_TEXTS or characters + len(sent) > BATCH_CHARACTERS):
            batches.append([])
            characters = 0
        batches[-1].append(sent)
        characters += len(sent)
    return batches

"""The client of a Qdrant server as infold uses it: requests in our words, tried again, with our errors.

The only module that knows the client; loading it takes more than a second, so that is left until a server is spoken to.
Which collection is whose belongs to `search.server.engine`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from infold.errors import EnvironmentFault, IndexFault, SettingInvalid
from infold.search.index.contract import DENSE, QueryVector, Vector, VectorRecord
from infold.search.server.address import URL_SETTING, ServerAddress
from infold.search.server.faults import failure_of, translate

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

T = TypeVar("T")

MAX_TRIES: Final = 4
MAX_UNANSWERED_TRIES: Final = 2  # each takes as long as the time-out
FIRST_WAIT_SECONDS: Final = 0.3
LONGEST_WAIT_SECONDS: Final = 10.0


class ServerClient:
    """Requests to one server. Each may be sent twice without harm, and is where it failed for a moment.

    Raises EndpointUnreachable, KeyMissing, KeyRejected, SearchServerFault, and IndexFault where the collection is gone
    or not as it should be.
    """

    def __init__(
        self,
        client: QdrantClient,
        shown: str,
        *,
        api_key: str | None = None,
        first_wait_seconds: float = FIRST_WAIT_SECONDS,
    ) -> None:
        self._client = client
        self._shown, self._api_key, self._first_wait_seconds = shown, api_key, first_wait_seconds

    def exists(self, collection: str) -> bool:
        """Whether there is such a collection."""
        return self._ask("looking for the index", lambda: self._client.collection_exists(collection))

    def check(self, collection: str) -> None:
        """Raises IndexFault where there is no such collection, or it holds no vectors of ours."""
        vectors = self._ask("opening", lambda: self._client.get_collection(collection)).config.params.vectors
        if not (isinstance(vectors, dict) and DENSE in vectors):
            raise IndexFault(
                f"The collection {collection} is none that infold made.", hint="`infold rebuild` makes a new one."
            )

    def create(self, collection: str, vector_size: int, timeout_seconds: int) -> None:
        """A new, empty collection."""
        models = _models()
        dense = models.VectorParams(size=vector_size, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16)
        self._ask(
            "making the index",
            lambda: self._client.create_collection(
                collection,
                vectors_config={DENSE: dense},
                timeout=timeout_seconds,
            ),
        )

    def drop(self, collection: str, timeout_seconds: int) -> None:
        """Takes a collection away; one that is not there is passed over."""
        self._ask("dropping", lambda: self._client.delete_collection(collection, timeout=timeout_seconds))

    def write(self, collection: str, records: Sequence[VectorRecord]) -> None:
        """Adds the records, in place of those of the same numbers."""
        models = _models()
        added = [models.PointStruct(id=one.number, vector={DENSE: one.vector.tolist()}) for one in records]
        self._change(collection, models.UpsertOperation(upsert=models.PointsList(points=added)))

    def delete(self, collection: str, numbers: Sequence[int]) -> None:
        """Takes points away; a number that is not there is passed over."""
        models = _models()
        self._change(collection, models.DeleteOperation(delete=models.PointIdsList(points=list(numbers))))

    def query(
        self, collection: str, vector: QueryVector, limit: int, among: Collection[int] | None
    ) -> list[tuple[int, float]]:
        """The nearest vectors; only these, where some are given."""
        models = _models()
        only = None if among is None else models.Filter(must=[models.HasIdCondition(has_id=list(among))])
        found = self._ask(
            "searching",
            lambda: self._client.query_points(
                collection,
                [float(number) for number in vector],
                using=DENSE,
                query_filter=only,
                limit=limit,
                with_payload=False,
            ),
        )
        return [(int(point.id), point.score) for point in found.points]

    def vectors(self, collection: str, numbers: Sequence[int]) -> dict[int, Vector]:
        """The vectors of these points, where there are any."""
        import numpy as np

        found = self._ask(
            "reading vectors",
            lambda: self._client.retrieve(collection, list(numbers), with_payload=False, with_vectors=True),
        )
        return {
            int(point.id): np.asarray(point.vector[DENSE], dtype=np.float32)
            for point in found
            if isinstance(point.vector, dict) and DENSE in point.vector
        }

    def count(self, collection: str) -> int:
        """How many points there are."""
        counted = self._ask("counting", lambda: self._client.count(collection, exact=True))
        return int(counted.count)

    def close(self) -> None:
        """Lets go of connections."""
        self._client.close()

    def _change(self, collection: str, operation: Any) -> None:
        self._ask("writing", lambda: self._client.batch_update_points(collection, [operation], wait=True))

    def _ask(self, doing: str, request: Callable[[], T]) -> T:
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        tries = 0
        while True:
            tries += 1
            try:
                return request()
            except (ApiException, QdrantException, ValueError, AssertionError) as error:
                failure = failure_of(error, self._api_key)
                most = MAX_UNANSWERED_TRIES if failure.is_unanswered else MAX_TRIES
                if not failure.is_transient or tries >= most:
                    raise translate(failure, doing, self._shown, has_key=self._api_key is not None) from error
                pause = max(self._first_wait_seconds * 2 ** (tries - 1), failure.wait_seconds or 0.0)
                time.sleep(min(pause, LONGEST_WAIT_SECONDS))


def connect(
    address: ServerAddress, api_key: str | None, timeout_seconds: int, first_wait_seconds: float
) -> ServerClient:
    """A client of the server, over REST. Nothing is asked of the server yet."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise EnvironmentFault(
            f"{URL_SETTING} is set, but the client of a Qdrant server is not installed.",
            hint=f"Install infold[server], or unset {URL_SETTING} to use the embedded index.",
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that http is not encrypted: the address was judged already
        try:
            client = QdrantClient(
                url=address.url, api_key=api_key, timeout=timeout_seconds, prefer_grpc=False, check_compatibility=False
            )
        except ValueError as error:
            raise SettingInvalid(f"{URL_SETTING} cannot be used: {error}.") from error
    return ServerClient(client, address.shown, api_key=api_key, first_wait_seconds=first_wait_seconds)


def _models() -> Any:
    from qdrant_client import models

    return models

"""The client of a Qdrant server as infold uses it: requests in our words, tried again, with our errors.

The only module that knows the client; loading it takes more than a second, so that is left until a server is spoken to.
Which collection is whose, and what a replacement looks like to readers, belongs to `search.server.engine`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from infold.errors import EnvironmentFault, IndexFault, SettingInvalid
from infold.search.index.contract import Filter, QueryVector, Vector, VectorRecord
from infold.search.index.payload import DATE, DENSE, KEYWORDS, days, matches
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
        """A new, empty collection with what filters need."""
        models = _models()
        dense = models.VectorParams(size=vector_size, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16)
        doing = "making the index"
        self._ask(
            doing,
            lambda: self._client.create_collection(
                collection,
                vectors_config={DENSE: dense},
                timeout=timeout_seconds,
            ),
        )
        fields = dict.fromkeys(KEYWORDS, models.PayloadSchemaType.KEYWORD) | {DATE: models.PayloadSchemaType.DATETIME}
        for name, kind in fields.items():
            self._ask(doing, partial(self._client.create_payload_index, collection, name, kind, wait=True))

    def drop(self, collection: str, timeout_seconds: int) -> None:
        """Takes a collection away; one that is not there is passed over."""
        self._ask("dropping", lambda: self._client.delete_collection(collection, timeout=timeout_seconds))

    def write(
        self,
        collection: str,
        records: Sequence[VectorRecord],
        *,
        instead_of: Sequence[str] = (),
        keeping: Sequence[str] = (),
    ) -> None:
        """One request: adds the records, then takes away every other vector of the paths `instead_of` but `keeping`."""
        models = _models()
        operations: list[Any] = []
        if records:
            added = [
                models.PointStruct(id=one.id, vector={DENSE: one.vector.tolist()}, payload=dict(one.payload))
                for one in records
            ]
            operations.append(models.UpsertOperation(upsert=models.PointsList(points=added)))
        if instead_of:
            where = models.Filter(
                must=[models.FieldCondition(key="path", match=models.MatchAny(any=list(instead_of)))],
                must_not=[models.HasIdCondition(has_id=list(keeping))] if keeping else None,
            )
            operations.append(models.DeleteOperation(delete=models.FilterSelector(filter=where)))
        self._change(collection, operations)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Takes points away; an id that is not there is passed over."""
        models = _models()
        self._change(collection, [models.DeleteOperation(delete=models.PointIdsList(points=list(ids)))])

    def query(self, collection: str, vector: QueryVector, limit: int, where: Filter) -> list[tuple[str, float]]:
        """The nearest vectors."""
        found = self._ask(
            "searching",
            lambda: self._client.query_points(
                collection,
                [float(number) for number in vector],
                using=DENSE,
                query_filter=_filter(where),
                limit=limit,
                with_payload=False,
            ),
        )
        return [(str(point.id), point.score) for point in found.points]

    def vectors(self, collection: str, ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of these points, where there are any."""
        import numpy as np

        found = self._ask(
            "reading vectors",
            lambda: self._client.retrieve(collection, list(ids), with_payload=False, with_vectors=True),
        )
        return {
            str(point.id): np.asarray(point.vector[DENSE], dtype=np.float32)
            for point in found
            if isinstance(point.vector, dict) and DENSE in point.vector
        }

    def count(self, collection: str, where: Filter) -> int:
        """How many points there are."""
        counted = self._ask("counting", lambda: self._client.count(collection, count_filter=_filter(where), exact=True))
        return int(counted.count)

    def close(self) -> None:
        """Lets go of connections."""
        self._client.close()

    def _change(self, collection: str, operations: list[Any]) -> None:
        if operations:
            self._ask("writing", lambda: self._client.batch_update_points(collection, operations, wait=True))

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


def _filter(where: Filter) -> Any:
    """`where` in the client's words; None where it lets everything through."""
    models = _models()
    must = [models.FieldCondition(key=name, match=models.MatchAny(any=values)) for name, values in matches(where)]
    since, until = days(where)
    if since or until:
        must.append(models.FieldCondition(key=DATE, range=models.DatetimeRange(gte=since, lte=until)))
    return models.Filter(must=must) if must else None

"""Qdrant server or cluster, the shared engine: one collection a generation, for as many machines as reach it.

A replacement is a request that adds the new points and then takes the old ones away. The server carries the two out one
after the other, so for a moment a reader may see both, never none; a path of more than BATCH_POINTS points comes in
several requests, and the moment lasts as long as they do. Nobody meets a lock: the server serves everyone.

The server ranks each leg by itself; fusing them belongs to `search.query.fusion`, as with every engine.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar
from uuid import uuid4

from infold.durable.files import Disk
from infold.errors import IndexFault, StateUnwritable
from infold.search.index.contract import EVERYTHING, Asked, Filter, Hit, IndexPoint, Vector
from infold.search.index.generations import IndexFolder
from infold.search.server.address import server_address
from infold.search.server.client import FIRST_WAIT_SECONDS, ServerClient, connect
from infold.search.terms import Sparse

T = TypeVar("T")

BATCH_POINTS: Final = 100  # a request: about 2 MB with 384 dimensions, far below the server's limit of 32 MB
TIMEOUT_SECONDS: Final = 30
_ID_FILE: Final = "server.id"


class ServerEngine:
    """The collections of one index folder on the server at `url`, named by an id that the folder keeps.

    So two vaults on one server never meet. Raises SettingInvalid for an address that cannot be used or is not safe.
    """

    name = "server"

    def __init__(
        self,
        url: str,
        api_key: str | None,
        index_dir: Path,
        *,
        timeout_seconds: int = TIMEOUT_SECONDS,
        first_wait_seconds: float = FIRST_WAIT_SECONDS,
    ) -> None:
        self._address = server_address(url, api_key)
        self._api_key = api_key or None
        self._folder = IndexFolder(index_dir)
        self._id_file = index_dir / _ID_FILE
        self._timeout_seconds, self._first_wait_seconds = timeout_seconds, first_wait_seconds
        self._connected: ServerClient | None = None
        self._connecting = threading.Lock()

    def exists(self, generation: str) -> bool:
        """Whether the server has the collection of this generation."""
        collection = self._collection(generation)
        return collection is not None and self._client().exists(collection)

    def create(self, generation: str, vector_size: int) -> ServerIndex:
        """A new, empty collection, in place of one of that name. `vector_size` 0 makes one without dense vectors."""
        collection = self._collection(generation) or self._name_vault(generation)
        client = self._client()
        if client.exists(collection):
            client.drop(collection, self._timeout_seconds)
        client.create(collection, vector_size, self._timeout_seconds)
        return ServerIndex(client, collection, has_dense=vector_size > 0)

    def open(self, generation: str) -> ServerIndex:
        """The collection of this generation. Raises IndexFault where the server does not have it."""
        collection = self._collection(generation)
        if collection is None:
            raise IndexFault("There is no search index on the server yet.", hint="`infold index` makes it.")
        client = self._client()
        return ServerIndex(client, collection, has_dense=client.has_dense(collection))

    def compact(self, generation: str, seconds: float) -> bool:  # noqa: ARG002 - the protocol's
        """Nothing: a server does that by itself."""
        return True

    def drop(self, generation: str) -> None:
        """Takes the collection and the generation's folder away; what is not there is passed over."""
        collection = self._collection(generation)
        if collection is not None:
            self._client().drop(collection, self._timeout_seconds)
        self._folder.remove(generation)

    def check(self) -> str:
        """Host and port of the server, once it has answered and taken the key. Raises as every request does."""
        self._client().exists("infold")
        return self._address.shown

    def close(self) -> None:
        """Lets go of the connection; the next call makes another."""
        connected, self._connected = self._connected, None
        if connected is not None:
            connected.close()

    def _client(self) -> ServerClient:
        with self._connecting:
            if self._connected is None:
                self._connected = connect(self._address, self._api_key, self._timeout_seconds, self._first_wait_seconds)
            return self._connected

    def _collection(self, generation: str) -> str | None:
        try:
            vault = self._id_file.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StateUnwritable(f"{self._id_file} cannot be read: {error}.") from error
        return f"infold-{vault}-{generation}" if vault.isalnum() else None

    def _name_vault(self, generation: str) -> str:
        vault = uuid4().hex[:16]
        disk = Disk()
        disk.make_folder(self._id_file.parent)
        disk.write_whole(self._id_file, vault.encode())
        return f"infold-{vault}-{generation}"


class ServerIndex:
    """An Index in one collection. What a call wrote is in the server's own log when it returns."""

    def __init__(self, client: ServerClient, collection: str, *, has_dense: bool) -> None:
        self.collection = collection
        self._has_dense = has_dense
        self._client: ServerClient | None = client

    def replace(self, paths: Sequence[str], points: Sequence[IndexPoint]) -> None:
        """Adds these points and takes away every other point of these paths; see above for what a reader may see."""
        client = self._open
        by_path: dict[str, list[IndexPoint]] = {path: [] for path in paths}
        for point in points:
            by_path.setdefault(point.path, []).append(point)
        cleared = set(paths)
        for group in _groups(by_path):
            added = [point for path in group for point in by_path[path]]
            *first, last = list(_batches(added)) or [[]]
            for batch in first:
                client.write(self.collection, batch)
            client.write(
                self.collection,
                last,
                instead_of=[path for path in group if path in cleared],
                keeping=[point.id for point in added],
            )

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Adds the points, in place of those with the same id."""
        client = self._open
        for batch in _batches(points):
            client.write(self.collection, batch)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes these points away; an id that is not there is passed over."""
        client = self._open
        for batch in _batches(ids):
            client.delete(self.collection, batch)

    def add_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Gives points that exist their dense vector; an id that is not there is passed over."""
        client = self._open
        for batch in _batches(list(vectors)):
            known = client.known(self.collection, batch)  # the server refuses a batch with an id that it lacks
            client.set_vectors(self.collection, {point: vectors[point] for point in known})

    def query_sparse(self, query: Sparse, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By keyword: BM25, among the points that `where` lets through."""
        client = self._open
        return client.query(self.collection, query, limit, where) if len(query[0]) and limit > 0 else []

    def query_dense(self, query: Asked, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By meaning: cosine, among the points that `where` lets through."""
        client = self._open
        is_asked = self._has_dense and limit > 0 and any(query)
        return client.query(self.collection, query, limit, where) if is_asked else []

    def count(self, where: Filter = EVERYTHING) -> int:
        """How many points there are."""
        return self._open.count(self.collection, where)

    def flush(self) -> None:
        """Nothing is left to do: each write was waited for."""
        _ = self._open

    def close(self) -> None:
        """Lets go. Calling it again does nothing."""
        self._client = None

    @property
    def _open(self) -> ServerClient:
        if self._client is None:
            raise IndexFault("The search index is closed.")
        return self._client


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(items), BATCH_POINTS):
        yield items[first : first + BATCH_POINTS]


def _groups(by_path: Mapping[str, Sequence[IndexPoint]]) -> Iterator[list[str]]:
    """The paths, as many together as have at most BATCH_POINTS points; a path of more stands alone."""
    group: list[str] = []
    points = 0
    for path, own in by_path.items():
        is_full = len(group) >= BATCH_POINTS or (own and points + len(own) > BATCH_POINTS)
        if group and is_full:
            yield group
            group, points = [], 0
        group.append(path)
        points += len(own)
    if group:
        yield group

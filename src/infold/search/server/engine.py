"""Qdrant server or cluster, the shared engine: one collection a generation, for as many machines as reach it.

It holds vectors; the words are in the index folder of each machine. A replacement is a request that adds the new
vectors and then takes the old ones away, so for a moment a reader may see both, never none. Nobody meets a lock: the
server serves everyone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar
from uuid import uuid4

from infold.durable.files import Disk
from infold.errors import IndexFault, StateUnwritable
from infold.search.index.contract import EVERYTHING, Filter, QueryVector, Vector, VectorRecord
from infold.search.index.generations import Generations
from infold.search.server.address import server_address
from infold.search.server.client import FIRST_WAIT_SECONDS, ServerClient, connect

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
        self._folder = Generations(index_dir)
        self._id_file = index_dir / _ID_FILE
        self._timeout_seconds, self._first_wait_seconds = timeout_seconds, first_wait_seconds
        self._connected: ServerClient | None = None
        self._connecting = threading.Lock()

    def exists(self, generation: str) -> bool:
        """Whether the server has the collection of this generation."""
        collection = self._collection(generation)
        return collection is not None and self._client().exists(collection)

    def create(self, generation: str, vector_size: int) -> ServerIndex:
        """A new, empty collection for vectors of this size, in place of one of that name."""
        collection = self._collection(generation) or self._name_vault(generation)
        client = self._client()
        if client.exists(collection):
            client.drop(collection, self._timeout_seconds)
        client.create(collection, vector_size, self._timeout_seconds)
        return ServerIndex(client, collection)

    def open(self, generation: str) -> ServerIndex:
        """The collection of this generation. Raises IndexFault where the server does not have it."""
        collection = self._collection(generation)
        if collection is None:
            raise IndexFault("There is no search index on the server yet.", hint="`infold index` makes it.")
        client = self._client()
        client.check(collection)
        return ServerIndex(client, collection)

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
    """A VectorIndex in one collection. What a call wrote is in the server's own log when it returns."""

    def __init__(self, client: ServerClient, collection: str) -> None:
        self.collection = collection
        self._client: ServerClient | None = client

    def replace(self, paths: Sequence[str], records: Sequence[VectorRecord]) -> None:
        """Adds these records and takes away every other vector of these paths; see above for what a reader may see."""
        client = self._open
        by_path: dict[str, list[VectorRecord]] = {path: [] for path in paths}
        for record in records:
            by_path.setdefault(record.path, []).append(record)
        cleared = set(paths)
        for group in _groups(by_path):
            added = [record for path in group for record in by_path[path]]
            *first, last = list(_batches(added)) or [[]]
            for batch in first:
                client.write(self.collection, batch)
            client.write(
                self.collection,
                last,
                instead_of=[path for path in group if path in cleared],
                keeping=[record.id for record in added],
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Takes these vectors away; an id that is not there is passed over."""
        client = self._open
        for batch in _batches(ids):
            client.delete(self.collection, batch)

    def query(self, vector: QueryVector, limit: int, where: Filter = EVERYTHING) -> list[tuple[str, float]]:
        """The ids nearest to a vector that is not all zeros, with their cosine, among those `where` lets through."""
        client = self._open
        return client.query(self.collection, vector, limit, where) if limit > 0 and any(vector) else []

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of these ids, of unit length, rounded as the server keeps them; one not there is left out."""
        client = self._open
        found: dict[str, Vector] = {}
        for batch in _batches(ids):
            found |= client.vectors(self.collection, batch)
        return found

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


def _groups(by_path: Mapping[str, Sequence[VectorRecord]]) -> Iterator[list[str]]:
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

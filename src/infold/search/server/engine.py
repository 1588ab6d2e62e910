"""Qdrant server or cluster, the shared engine: one collection a generation, for as many machines as reach it.

It holds vectors and nothing else; the words are in the index folder of each machine, and say what a filter lets
through. Nobody meets a lock: the server serves everyone.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar
from uuid import uuid4

from infold.durable.files import Disk
from infold.errors import IndexFault, StateUnwritable
from infold.search.index.contract import QueryVector, Vector, VectorRecord
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

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Adds these records; the same number again is replaced."""
        client = self._open
        for batch in _batches(records):
            client.write(self.collection, batch)

    def delete(self, numbers: Sequence[int]) -> None:
        """Takes these vectors away; a number that is not there is passed over."""
        client = self._open
        for batch in _batches(numbers):
            client.delete(self.collection, batch)

    def query(self, vector: QueryVector, limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """The numbers nearest to a vector that is not all zeros, with their cosine; only those `among`, where given."""
        client = self._open
        if limit < 1 or not any(vector) or (among is not None and not among):
            return []
        return client.query(self.collection, vector, limit, among)

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """The vectors of these numbers, of unit length, rounded as the server keeps them; one not there is left out."""
        client = self._open
        found: dict[int, Vector] = {}
        for batch in _batches(numbers):
            found |= client.vectors(self.collection, batch)
        return found

    def count(self) -> int:
        """How many vectors there are."""
        return self._open.count(self.collection)

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

"""A real HTTP server that speaks the part of Qdrant's REST protocol that infold uses, over the client's in-memory engine.

It is no Qdrant: no shards, no replicas, no graph index, no log on disk. It refuses what a server refuses (an unknown
collection, an id that is not there among updated vectors, a vector of another size, a wrong key), remembers what it was
asked, and answers with faults that a script says. Also a process of its own:

    python -m tests.fakes.qdrant_server --port 0 [--key KEY]
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from qdrant_client import QdrantClient, models
from qdrant_client.http.models import models as rest

from tests.fakes.http_server import FakeHandler, FakeServer


@dataclass(frozen=True)
class Fault:
    """One scripted answer in place of the true one. `carried_out` does what was asked all the same, then fails."""

    status: int = 500
    body: bytes = b'{"status":{"error":"Service internal error: no"},"time":0}'
    headers: dict[str, str] = field(default_factory=dict)
    latency: float = 0.0
    drop: bool = False
    carried_out: bool = False


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class _Refused(Exception):
    """What a server answers with a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class FakeQdrant:
    """The server. `url` is what INFOLD_QDRANT_URL should be; `asked` holds every request in order of arrival."""

    def __init__(self, *, port: int = 0, key: str | None = None) -> None:
        self.key = key
        self.asked: list[Asked] = []
        self.client = QdrantClient(":memory:")
        self._faults: deque[Fault] = deque()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The address."""
        return self._http.url

    @property
    def collections(self) -> list[str]:
        """The names of the collections that there are."""
        with self._lock:
            return sorted(found.name for found in self.client.get_collections().collections)

    def script(self, *faults: Fault) -> None:
        """The next answers, whatever is asked."""
        with self._lock:
            self._faults.extend(faults)

    def start(self) -> FakeQdrant:
        """Serves from a thread."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stops."""
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    def wait(self) -> None:
        """Serves until interrupted."""
        self._thread.join()

    def answer(self, asked: Asked) -> Fault:
        """What to send: a scripted fault, or the answer of the engine."""
        with self._lock:
            self.asked.append(asked)
            fault = self._faults.popleft() if self._faults else None
            true = self._true(asked) if fault is None or fault.carried_out else None
        if fault is not None:
            self._closing.wait(fault.latency)
            return fault
        assert true is not None
        return true

    def _true(self, asked: Asked) -> Fault:
        started = time.perf_counter()
        if self.key is not None and asked.headers.get("api-key") != self.key:
            return Fault(401, b"Must provide an API key or an Authorization bearer token")
        try:
            result = self._carried_out(asked)
        except _Refused as refused:
            return _json(refused.status, {"status": {"error": str(refused)}, "time": 0})
        return _json(200, {"result": result, "status": "ok", "time": time.perf_counter() - started})

    def _carried_out(self, asked: Asked) -> Any:
        match [asked.method, *asked.path.partition("?")[0].strip("/").split("/")]:
            case ["GET", "collections", name, "exists"]:
                return {"exists": self.client.collection_exists(name)}
            case ["PUT", "collections", name]:
                return self._create(name, rest.CreateCollection.model_validate(asked.body))
            case ["DELETE", "collections", name]:
                return self.client.delete_collection(name)
        match [asked.method, *asked.path.partition("?")[0].strip("/").split("/")]:
            case [method, "collections", name, *rest_of_path]:
                if not self.client.collection_exists(name):
                    raise _Refused(404, f"Not found: Collection `{name}` doesn't exist!")
                do = _ON_COLLECTION.get((method, "/".join(rest_of_path)))
                if do is not None:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)  # that indexes do nothing in memory
                        return do(self.client, name, asked.body)
        raise _Refused(404, "")

    def _create(self, name: str, wanted: rest.CreateCollection) -> bool:
        if self.client.collection_exists(name):
            raise _Refused(409, f"Wrong input: Collection `{name}` already exists!")
        return self.client.create_collection(
            name, vectors_config=wanted.vectors or {}, sparse_vectors_config=wanted.sparse_vectors
        )


def _info(client: QdrantClient, name: str, _: Any) -> Any:
    return client.get_collection(name).model_dump(mode="json")


def _batch(client: QdrantClient, name: str, body: Any) -> Any:
    operations = rest.UpdateOperations.model_validate(body).operations
    for operation in operations:
        _check_sizes(client, name, operation)
    try:
        done = client.batch_update_points(name, operations)
    except KeyError as error:
        raise _Refused(404, f"Not found: No point with id {error.args[0]} found") from error
    except ValueError as error:
        raise _Refused(400, f"Wrong input: {error}") from error
    return [result.model_dump(mode="json") for result in done]


def _check_sizes(client: QdrantClient, name: str, operation: Any) -> None:
    """The in-memory engine finds out in the middle of the work; a server looks first."""
    vectors = client.get_collection(name).config.params.vectors
    sizes = {key: params.size for key, params in vectors.items()} if isinstance(vectors, dict) else {}
    if isinstance(operation, models.UpsertOperation):
        points: Any = operation.upsert.points  # type: ignore[union-attr]
    elif isinstance(operation, models.UpdateVectorsOperation):
        points = operation.update_vectors.points
    else:
        return
    for point in points:
        for key, vector in point.vector.items():
            if isinstance(vector, list) and sizes.get(key) != len(vector):
                known = f"expected dim: {sizes[key]}, got {len(vector)}" if key in sizes else "Not existing vector name"
                raise _Refused(400, f"Wrong input: Vector dimension error: {known}")


def _query(client: QdrantClient, name: str, body: Any) -> Any:
    wanted = rest.QueryRequest.model_validate(body)
    query: Any = wanted.query
    found = client.query_points(
        name,
        query.nearest if isinstance(query, models.NearestQuery) else query,
        using=wanted.using,
        query_filter=wanted.filter,
        limit=wanted.limit or 10,
        with_payload=True,
    )
    return found.model_dump(mode="json")


def _count(client: QdrantClient, name: str, body: Any) -> Any:
    wanted = rest.CountRequest.model_validate(body)
    return client.count(name, count_filter=wanted.filter).model_dump(mode="json")


def _retrieve(client: QdrantClient, name: str, body: Any) -> Any:
    wanted = rest.PointRequest.model_validate(body)
    return [
        point.model_dump(mode="json")
        for point in client.retrieve(name, wanted.ids, with_payload=False, with_vectors=bool(wanted.with_vector))
    ]


_ON_COLLECTION: dict[tuple[str, str], Callable[[QdrantClient, str, Any], Any]] = {
    ("GET", ""): _info,
    ("POST", "points/batch"): _batch,
    ("POST", "points/query"): _query,
    ("POST", "points/count"): _count,
    ("POST", "points"): _retrieve,
}


def _json(status: int, value: Any) -> Fault:
    return Fault(status, json.dumps(value).encode())


class _Server(FakeServer):
    def __init__(self, address: tuple[str, int], fake: FakeQdrant) -> None:
        self.fake = fake
        super().__init__(address, _Handler)


class _Handler(FakeHandler):
    server: _Server

    def _respond(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.fake.answer(Asked(self.command, self.path, headers, json.loads(data) if data else None))
        if reply.drop:
            self.close_connection = True
            return
        self.reply(reply.status, reply.body, {"content-type": "application/json", **reply.headers})

    do_GET = do_PUT = do_POST = do_DELETE = _respond


def main() -> None:
    """Serves until interrupted; the first line of output is the address."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", help="refuse other keys with 401")
    options = parser.parse_args()
    fake = FakeQdrant(port=options.port, key=options.key).start()
    sys.stdout.write(fake.url + "\n")
    sys.stdout.flush()
    try:
        fake.wait()
    except KeyboardInterrupt:
        fake.close()


if __name__ == "__main__":
    main()

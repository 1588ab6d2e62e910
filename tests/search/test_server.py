"""The engine of a Qdrant server, against a local server that speaks its protocol: names, faults, keys."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from infold.errors import (
    EndpointUnreachable,
    EnvironmentFault,
    IndexFault,
    InfoldError,
    KeyMissing,
    KeyRejected,
    SearchServerFault,
    SettingInvalid,
)
from infold.search.index.contract import VectorRecord
from infold.search.server.address import server_address
from infold.search.server.client import MAX_TRIES, MAX_UNANSWERED_TRIES
from infold.search.server.engine import BATCH_POINTS, ServerEngine, ServerIndex
from tests.fakes.qdrant_server import FakeQdrant, Fault

SIZE = 4
G1 = "0123456789abcdef"
KEY = "sesame-4711"
ONES = np.ones(SIZE, dtype=np.float32)


def record(n: int) -> VectorRecord:
    return VectorRecord(n, ONES)


@pytest.fixture
def server() -> Iterator[FakeQdrant]:
    fake = FakeQdrant(key=KEY).start()
    yield fake
    fake.close()


@pytest.fixture
def engine(server: FakeQdrant, tmp_path: Path) -> Iterator[ServerEngine]:
    made = ServerEngine(server.url, KEY, tmp_path / "index", timeout_seconds=60, first_wait_seconds=0.001)
    yield made
    made.close()


@pytest.fixture
def index(engine: ServerEngine) -> ServerIndex:
    return engine.create(G1, SIZE)


def test_two_vaults_on_one_server_never_meet(server: FakeQdrant, tmp_path: Path):
    """Each index folder has collections of its own, though their generations are called alike."""
    one, two = (ServerEngine(server.url, KEY, tmp_path / name) for name in ("one", "two"))
    assert not one.exists(G1)
    one.create(G1, SIZE).put([record(1)])
    assert two.create(G1, SIZE).count() == 0
    two.drop(G1)
    assert ServerEngine(server.url, KEY, tmp_path / "one").open(G1).count() == 1
    assert not two.exists(G1)
    assert len(server.collections) == 1


def test_vectors_are_all_that_the_server_gets(server: FakeQdrant, index: ServerIndex):
    """Numbers and vectors, as many as a request takes: no path, no tag, no day of a note leaves the machine."""
    index.put([record(n) for n in range(BATCH_POINTS + 5)])
    upserts = [
        step["upsert"]["points"] for asked in server.asked if asked.body for step in asked.body.get("operations", ())
    ]
    assert [len(points) for points in upserts] == [BATCH_POINTS, 5]
    assert all(not point.get("payload") for points in upserts for point in points)
    assert index.count() == BATCH_POINTS + 5


def test_a_request_that_failed_for_a_moment_is_sent_again(server: FakeQdrant, index: ServerIndex):
    """429, 5xx, a broken connection and a write whose answer was lost cost nothing but time; nothing is there twice."""
    for faults in ([Fault(429)], [Fault(503), Fault(500)], [Fault(drop=True)], [Fault(502, carried_out=True)]):
        server.script(*faults)
        index.put([record(n) for n in range(3)])
        assert index.count() == 3


def test_the_server_says_how_long_to_wait(server: FakeQdrant, index: ServerIndex):
    """Retry-After is kept to."""
    server.script(Fault(429, headers={"retry-after": "1"}))
    started = time.monotonic()
    assert index.count() == 0
    assert time.monotonic() - started >= 1


def test_an_answer_that_takes_too_long(server: FakeQdrant, tmp_path: Path):
    """Nothing hangs: after its tries an unanswered request is an error that says so, and the next one works."""
    patient, hurried = (
        ServerEngine(server.url, KEY, tmp_path / "index", timeout_seconds=seconds, first_wait_seconds=0.001)
        for seconds in (3, 1)
    )
    with closing(patient), closing(hurried):
        index = patient.create(G1, SIZE)
        server.script(Fault(latency=60))
        assert index.count() == 0  # the second try was in time
        late = hurried.open(G1)
        asked = len(server.asked)
        server.script(*[Fault(latency=60)] * MAX_UNANSWERED_TRIES)
        with pytest.raises(SearchServerFault, match=r"no answer in time while counting"):
            late.count()
        assert len(server.asked) - asked == MAX_UNANSWERED_TRIES
        assert index.count() == 0


GARBAGE = Fault(200, b"<html>Welcome</html>", {"content-type": "text/html"})
SAID = b'{"status":{"error":"Wrong input: %s"},"time":0}'


@pytest.mark.parametrize(
    "fault,error,message,hint",
    [
        (Fault(500), SearchServerFault, "after the last retry (500)", "kept"),
        (Fault(429), SearchServerFault, "limits the rate", "kept"),
        (Fault(drop=True), SearchServerFault, "broke the connection", "kept"),
        (Fault(403), KeyRejected, "rejected the API key (403)", "INFOLD_QDRANT_API_KEY"),
        (GARBAGE, SearchServerFault, "no Qdrant answer", "INFOLD_QDRANT_URL"),
        (Fault(200, b"\xff\x00\xfe"), SearchServerFault, "no Qdrant answer", "INFOLD_QDRANT_URL"),
        (Fault(200, b'{"result": null}'), SearchServerFault, "no Qdrant answer", "INFOLD_QDRANT_URL"),
        (Fault(200, b'{"result": {"count": "many"}}'), SearchServerFault, "no Qdrant answer", "INFOLD_QDRANT_URL"),
        (Fault(302, b"", {"location": "/login"}), SearchServerFault, "status 302", "INFOLD_QDRANT_URL"),
        (Fault(404, b"not here"), SearchServerFault, "does not know the request", "path in INFOLD_QDRANT_URL"),
        (Fault(413, b""), SearchServerFault, "request of this size", "32 MB"),
        (Fault(400, SAID % b"bad\\nfilter"), IndexFault, "(400): Wrong input: bad filter", "infold rebuild"),
        (Fault(404, SAID % b"Collection x doesn't exist!"), IndexFault, "does not have the search", "infold index"),
    ],
)
def test_every_fault_is_ours_and_says_what_to_do(
    server: FakeQdrant, index: ServerIndex, fault: Fault, error: type[InfoldError], message: str, hint: str
):
    """Its kind, the server's name, and a next step."""
    server.script(*[fault] * MAX_TRIES)
    with pytest.raises(error) as raised:
        index.count()
    assert message in str(raised.value)
    assert server.url.removeprefix("http://") in str(raised.value)
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    "call",
    [
        lambda index: index.put([record(1)]),
        lambda index: index.delete([1]),
        lambda index: index.vectors([1]),
        lambda index: index.query(ONES, 3),
        lambda index: index.count(),
    ],
)
def test_a_collection_that_is_gone(engine: ServerEngine, index: ServerIndex, call: Callable[[ServerIndex], object]):
    """Whatever is asked of it, the answer is an IndexFault, by which a sync knows to make the index anew."""
    engine.drop(G1)
    with pytest.raises(IndexFault, match="does not have the search index"):
        call(index)


def test_a_wrong_key_and_none(server: FakeQdrant, tmp_path: Path, engine: ServerEngine):
    """The two are told apart, and the key is in no message."""
    engine.create(G1, SIZE)
    with pytest.raises(KeyRejected) as rejected:
        ServerEngine(server.url, "open-0815", tmp_path / "index").open(G1)
    assert "open-0815" not in f"{rejected.value} {rejected.value.hint}"
    with pytest.raises(KeyMissing, match="wants an API key"):
        ServerEngine(server.url, None, tmp_path / "index").open(G1)


def test_a_server_that_quotes_the_key(server: FakeQdrant, index: ServerIndex):
    """The key is blotted out of what the server said."""
    server.script(Fault(400, SAID % f"key {KEY} may not count".encode()))
    with pytest.raises(IndexFault, match="key … may not count"):
        index.count()


def test_nobody_listens(engine: ServerEngine, server: FakeQdrant, monkeypatch: pytest.MonkeyPatch):
    """A refused connection is told at once, with the setting."""
    engine.create(G1, SIZE)
    server.close()
    monkeypatch.setattr("infold.search.server.client.time.sleep", lambda _: pytest.fail("it was tried again"))
    with pytest.raises(EndpointUnreachable) as unreachable:
        engine.open(G1)
    assert "INFOLD_QDRANT_URL" in str(unreachable.value)


def test_a_collection_of_somebody_else(server: FakeQdrant, engine: ServerEngine, index: ServerIndex):
    """A collection that holds no vectors of ours is an IndexFault, no crash."""
    server.client.delete_collection(index.collection)
    server.client.create_collection(index.collection, vectors_config={})
    with pytest.raises(IndexFault, match="none that infold made"):
        engine.open(G1)


@pytest.mark.parametrize(
    "url,key",
    [
        ("http://qdrant.example.org:6333", KEY),
        ("http://10.0.0.7", KEY),
        ("http://localhost.example.org", KEY),
        ("http://me:secret@localhost:6333", None),
        ("localhost:6333", None),
        ("ftp://localhost", None),
        ("http://", None),
        ("http://localhost:port", None),
    ],
)
def test_an_address_that_is_not_safe_or_none(url: str, key: str | None):
    """A key never travels in the clear to another machine; what is no address is said before anything is sent."""
    with pytest.raises(SettingInvalid, match="INFOLD_QDRANT") as refused:
        server_address(url, key)
    assert KEY not in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url,key,full",
    [
        ("http://localhost", KEY, "http://localhost:6333"),
        ("http://127.0.0.1:7000/", KEY, "http://127.0.0.1:7000"),
        ("http://[::1]:6333", KEY, "http://[::1]:6333"),
        ("https://xyz.cloud.example.org", KEY, "https://xyz.cloud.example.org:6333"),
        ("https://example.org:443/qdrant/", None, "https://example.org:443/qdrant"),
        ("http://10.0.0.7:6333", None, "http://10.0.0.7:6333"),
    ],
)
def test_an_address_that_is(url: str, key: str | None, full: str):
    """Its port is the server's usual one unless it says otherwise."""
    assert server_address(url, key).url == full


def test_without_the_client(monkeypatch: pytest.MonkeyPatch, engine: ServerEngine, index: ServerIndex):
    """Where the package is not installed, the error says how to get it."""
    engine.close()
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(EnvironmentFault) as missing:
        engine.open(G1)
    assert "infold[server]" in missing.value.hint

"""What turns text into vectors: the static model, the service at a real local server, and the choice between them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from infold.environment import Environment
from infold.errors import (
    ContextTooLong,
    EndpointFault,
    EndpointUnreachable,
    EnvironmentFault,
    InfoldError,
    KeyMissing,
    KeyRejected,
    ModelNotFound,
    SettingInvalid,
)
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.embed.openai_embedder import BATCH_TEXTS, ServiceEmbedder
from infold.search.embed.providers import open_embedder
from infold.search.embed.similarity_threshold import floor_of
from infold.search.embed.static_embedder import StaticEmbedder
from infold.settings import SearchParams, load_params
from tests.fakes.http_server import FakeHandler, FakeServer, running


def test_static_vectors_are_those_of_the_library(static_embedder):
    """Read straight from the wheel, the model gives the vectors that its own library gives."""
    wordllama = pytest.importorskip("wordllama")
    library = wordllama.WordLlama.load(cache_dir=os.path.dirname(wordllama.__file__), disable_download=True)  # noqa: PTH120
    texts = ["A levain rises overnight.", "検索エンジン", "x" * 500, "Tomatoes, stakes and sun.\n\n- one\n- two"]
    expected = library.embed(texts, norm=True)
    assert np.allclose(static_embedder.embed(texts), expected, atol=1e-6)


def test_static_vectors_are_of_unit_length(static_embedder):
    """Every vector has length 1, that of an empty text length 0, and the batch does not matter."""
    texts = ["one", "", "three"] * 100
    vectors = static_embedder.embed(texts)
    assert vectors.shape == (300, static_embedder.size)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1] * 100)
    assert np.array_equal(vectors[0], static_embedder.embed(["one"])[0])
    assert static_embedder.embed([]).shape == (0, static_embedder.size)


def test_static_vectors_tell_subjects_apart(static_embedder):
    """Texts of one subject are closer than texts of two."""
    bread, dough, bike = static_embedder.embed(
        ["Bake the bread in a hot oven.", "The dough and the loaf.", "Bicycle chain"]
    )
    assert bread @ dough > bread @ bike


def test_static_embedding_is_fast(static_embedder):
    """At least 150 texts of 1,800 characters a second on a busy machine; 700 and more where it is idle."""
    text = ("The levain rises overnight in a cold kitchen, and the oven is hot by seven. " * 30)[:1800]
    static_embedder.embed([text])
    started = time.process_time()
    static_embedder.embed([f"{n} {text}" for n in range(200)])
    assert 200 / (time.process_time() - started) > 150


def test_a_wheel_without_its_model_is_said(monkeypatch):
    """A missing model names the setting that does without."""
    monkeypatch.setattr(StaticEmbedder, "_weights_file", "weights/none.safetensors")
    with pytest.raises(EnvironmentFault) as fault:
        StaticEmbedder().embed(["x"])
    assert "search.embedding" in fault.value.hint


def test_parameters_choose_the_embedder():
    """Static by default, none when asked, the service with its model in its name."""
    environment = Environment()
    assert isinstance(open_embedder(SearchParams(), environment), StaticEmbedder)
    assert open_embedder(SearchParams(embedding="none"), environment) is NO_EMBEDDER
    chosen = open_embedder(SearchParams(embedding="service", embedding_model="bge-m3"), environment)
    assert isinstance(chosen, ServiceEmbedder)
    assert chosen.name == "service/bge-m3"


def test_no_embeddings_are_an_embedder_without_a_number():
    """It answers all that an embedder is asked, its leg weighs nothing, and nothing says how near texts are."""
    assert NO_EMBEDDER.embed(["a", "b"]).shape == (2, 0)
    assert list(NO_EMBEDDER.embed_query("a")) == []
    assert (NO_EMBEDDER.name, NO_EMBEDDER.size, NO_EMBEDDER.traits.weight) == ("", 0, 0.0)
    assert NO_EMBEDDER.traits.is_empty
    assert floor_of(NO_EMBEDDER) == 0.0


def test_a_provider_is_one_file(tmp_path, monkeypatch):
    """A module among the providers is a value of the setting at once, and what it gives is used; nothing names it."""
    (tmp_path / "letters.py").write_text(
        "from infold.search.embed.static_embedder import StaticEmbedder\n"
        "class Letters(StaticEmbedder):\n    name = 'letters/1'\n"
        "def open_embedder(params, environment):\n    return Letters()\n"
    )
    with pytest.raises(SettingInvalid, match=r"none of .*static"):
        load_params(None, ["search.embedding=letters"])
    monkeypatch.setattr("infold.settings.EMBEDDING_PROVIDERS", tmp_path)
    monkeypatch.setattr("infold.search.embed.providers.__path__", [str(tmp_path)])
    params = load_params(None, ["search.embedding=letters"])
    assert open_embedder(params.search).name == "letters/1"


def test_a_misspelt_provider_is_told_the_known_ones():
    """Where it stands in the settings is said, and every provider there is."""
    with pytest.raises(SettingInvalid, match=r"search\.embedding .*'statc' is none of .*static"):
        load_params(None, ["search.embedding=statc"])


class Service(FakeServer):
    """A local server that speaks the embeddings half of the OpenAI protocol, and can be told to fail."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.failures: list[tuple[int, str]] = []
        self.is_short = False

    @property
    def url(self) -> str:
        return f"{super().url}/v1"


class Handler(FakeHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        if self.server.failures:
            status, message = self.server.failures.pop(0)
            self._answer(status, {"error": {"message": message}})
            return
        data = [
            {"object": "embedding", "index": n, "embedding": [float(len(text)), 1.0, 0.0]}
            for n, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        shown = data[1:] if self.server.is_short else data[::-1]
        self._answer(200, {"object": "list", "model": body["model"], "data": shown, "usage": usage})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        self.reply(status, json.dumps(body).encode(), {"Content-Type": "application/json", "Retry-After": "0"})


@pytest.fixture
def service() -> Iterator[Service]:
    """A running local service."""
    with running(Service()) as server:
        yield server


def embedder(url: str | None, *, key: str | None = "key", retries: int = 2) -> ServiceEmbedder:
    return ServiceEmbedder("m", api_key=key, base_url=url, timeout_seconds=60, max_retries=retries)


def test_the_service_embeds_in_batches_and_in_order(service: Service):
    """Each text gets its own unit vector whatever order the answer has; requests are bounded; empty texts are sent."""
    client = embedder(service.url)
    texts = ["x" * n for n in range(BATCH_TEXTS + 3)]
    vectors = client.embed(texts)
    assert len(service.requests) == 2
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1] * len(texts))
    ratios = vectors[:, 0] / vectors[:, 1]
    assert ratios == pytest.approx([1, *range(1, BATCH_TEXTS + 3)], rel=1e-3)
    assert client.size == 3
    assert client.embed([]).shape == (0, 3)
    client.close()


def test_the_service_is_asked_again_when_it_is_busy(service: Service):
    """429 and 5xx are tried again, as often as is set."""
    service.failures = [(429, "slow down"), (500, "oops")]
    assert embedder(service.url).embed(["text"]).shape == (1, 3)
    assert len(service.requests) == 3


@pytest.mark.parametrize(
    "status, message, expected",
    [
        (401, "bad key", KeyRejected),
        (403, "not yours", KeyRejected),
        (404, "no such model", ModelNotFound),
        (400, "maximum context length is 8192 tokens", ContextTooLong),
        (400, "bad request", EndpointFault),
        (500, "oops", EndpointFault),
        (429, "slow down", EndpointFault),
    ],
)
def test_the_services_faults_are_ours(service: Service, status: int, message: str, expected: type[InfoldError]):
    """Each answer that is no answer becomes one typed error, without the key in it."""
    service.failures = [(status, message)] * 3
    with pytest.raises(expected) as fault:
        embedder(service.url, key="sk-secret").embed(["text"])
    assert "sk-secret" not in str(fault.value)


def test_an_answer_of_the_wrong_length_is_a_fault(service: Service):
    """Fewer vectors than texts are never matched up by luck."""
    service.is_short = True
    with pytest.raises(EndpointFault, match="1 vectors for 2"):
        embedder(service.url).embed(["a", "b"])


def test_nobody_there_and_no_key_are_said():
    """An endpoint that does not answer and a key that is not set name what to change."""
    with pytest.raises(EndpointUnreachable) as unreachable:
        embedder("http://127.0.0.1:9/v1", retries=0).embed(["a"])
    assert "INFOLD_EMBEDDING_BASE_URL" in unreachable.value.hint
    with pytest.raises(KeyMissing):
        embedder(None, key=None).embed(["a"])


@pytest.mark.parametrize("text", ["graph view of notes", "", "検索", "a" * 399, "🎉", "word " * 70])
def test_a_question_has_the_vector_of_any_text(text):
    """Whether or not the model is loaded already: but for the last bit, and without loading it."""
    fresh, loaded = StaticEmbedder(), StaticEmbedder()
    expected = loaded.embed([text] * 40)[0]
    assert np.allclose(fresh.embed_query(text), expected, atol=1e-6)
    assert np.array_equal(loaded.embed_query(text), expected)
    assert "_weights" not in fresh.__dict__


@pytest.mark.parametrize("text", ["graph view of notes", "", "検索", "<s> 🎉", "word " * 7000])
def test_a_few_texts_have_the_vectors_that_they_have_among_many(text):
    """To the last bit, with all of the model loaded for many of them and none of it for a few."""
    fresh, loaded = StaticEmbedder(), StaticEmbedder()
    assert np.array_equal(fresh.embed([text, "a"]), loaded.embed([text, "a"] * 20)[:2])
    assert "_weights" not in fresh.__dict__
    assert ("_tokenizer" in fresh.__dict__) is ("<" in text or len(text) > 30_000)

"""A real HTTP server that speaks the OpenAI protocol: chat completions, embeddings, models. It counts and remembers.

Answers come from a script, decision by decision, and after its end from a deterministic brain (`openai_brain`), so that
whole runs work over HTTP without a model. Also a process of its own:

    python -m tests.fakes.openai_server --port 0 --latency 0.2 [--log requests.jsonl] [--together]
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import struct
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infold.text import folded_words, token_count
from tests.fakes import openai_brain
from tests.fakes.http_server import FakeHandler, FakeServer

VECTOR_SIZE = 64


@dataclass(frozen=True)
class Reply:
    """One scripted answer. `content` answers in the form the request asks for; `body` is sent as it is."""

    content: str | None = None
    body: bytes | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    refusal: str | None = None
    latency: float = 0.0
    hang: bool = False
    usage: bool = True
    calls: tuple[tuple[str, str], ...] = ()  # of tools: name, and arguments as JSON


def calls(*made: tuple[str, dict[str, Any]], **more: Any) -> Reply:
    """The model calls tools, all at once."""
    return Reply(calls=tuple((name, json.dumps(arguments)) for name, arguments in made), **more)


def answer(value: dict[str, Any], **more: Any) -> Reply:
    """A JSON object, as content or as the arguments of the tool."""
    return Reply(content=json.dumps(value), **more)


def text(content: str, **more: Any) -> Reply:
    """Whatever a model says: malformed JSON, prose, fenced JSON, thoughts."""
    return Reply(content=content, **more)


def refusal(why: str = "I cannot help with that.") -> Reply:
    """The model declines."""
    return Reply(content=None, refusal=why)


def cut_off(content: str = '{"groups": [[1') -> Reply:
    """The answer ends at the length limit."""
    return Reply(content=content, finish_reason="length")


def filtered() -> Reply:
    """A content filter stopped the answer."""
    return Reply(content="", finish_reason="content_filter")


def fault(status: int, *, code: str | None = None, message: str = "no", param: str | None = None, **more: Any) -> Reply:
    """An error status with OpenAI's error body."""
    body = {"error": {"message": message, "type": "error", "code": code, "param": param}}
    return Reply(status=status, body=json.dumps(body).encode(), **more)


def too_many(retry_after: float) -> Reply:
    """429, with the seconds to wait."""
    return fault(429, code="rate_limit_exceeded", headers={"retry-after": str(retry_after)})


def hanging() -> Reply:
    """Reads the request and never answers."""
    return Reply(hang=True)


def html() -> Reply:
    """200 with a page: a proxy's login, a wrong address."""
    return Reply(body=b"<html><body>Welcome</body></html>", headers={"content-type": "text/html"})


def no_choices(choices: object = ()) -> Reply:
    """A completion without choices."""
    return Reply(body=json.dumps({"id": "c", "object": "chat.completion", "choices": choices}).encode())


@dataclass
class Asked:
    """One request as it came. `answered` is when the last byte of the answer was handed to the system, or None."""

    decision: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    started: float
    status: int = 0
    answered: float | None = None

    @property
    def digest(self) -> str:
        """Equal for equal requests."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of a chat request."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages


class FakeOpenAI:
    """The server. `url` is what OPENAI_BASE_URL should be; `asked` holds every request in order of arrival."""

    def __init__(
        self,
        *,
        port: int = 0,
        latency: float = 0.0,
        group_by: openai_brain.GroupBy = openai_brain.each_alone,
        key: str | None = None,
        log: Path | None = None,
    ) -> None:
        self.latency = latency
        self.group_by = group_by
        self.key = key
        self.asked: list[Asked] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self._log = log
        self._script: defaultdict[str, list[Reply]] = defaultdict(list)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The base address of the API."""
        return f"{self._http.url}/v1"

    @property
    def counts(self) -> Counter[str]:
        """How many requests came for each decision."""
        with self._lock:
            return Counter(asked.decision for asked in self.asked)

    @property
    def repeated(self) -> list[Asked]:
        """Requests that came although an equal one had been answered with a completion before."""
        with self._lock:
            paid: set[str] = set()
            again = []
            for asked in sorted(self.asked, key=lambda asked: asked.started):
                if asked.status == 200 and asked.digest in paid:
                    again.append(asked)
                if asked.status == 200:
                    paid.add(asked.digest)
            return again

    def script(self, decision: str, *replies: Reply) -> None:
        """The next answers to a decision (Grouping, Look, Conversation, Embeddings … or `any`), before the brain's."""
        with self._lock:
            self._script[decision].extend(replies)

    def start(self) -> FakeOpenAI:
        """Serves from a thread."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stops, and lets hanging requests go."""
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    def wait(self) -> None:
        """Serves until interrupted."""
        self._thread.join()

    # What the handler calls.

    def arrive(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Asked:
        """Notes a request."""
        decision = "Embeddings" if path.endswith("/embeddings") else openai_brain.decision_of(body)
        asked = Asked(decision, path, body, headers, time.monotonic())
        with self._lock:
            self.asked.append(asked)
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)
        return asked

    def leave(self, asked: Asked, status: int) -> None:
        """Notes that a request is over; before its answer goes out, so that its asker's next one is not beside it."""
        with self._lock:
            asked.status = status
            self.in_flight -= 1

    def answered(self, asked: Asked) -> None:
        """Notes that the whole answer was handed to the system."""
        with self._lock:
            asked.answered = time.monotonic()
            if self._log is not None:
                line = {"decision": asked.decision, "digest": asked.digest, "status": asked.status, "at": time.time()}
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")

    def reply_to(self, asked: Asked) -> Reply:
        """The next scripted reply, else the brain's."""
        with self._lock:
            queue = self._script[asked.decision] or self._script["any"]
            if queue:
                return queue.pop(0)
        if self.key is not None and asked.headers.get("authorization") != f"Bearer {self.key}":
            return fault(
                401, code="invalid_api_key", message=f"Incorrect API key: {asked.headers.get('authorization')}"
            )
        if asked.decision == "Embeddings":
            return Reply(body=json.dumps(_embeddings(asked.body)).encode())
        if asked.decision in ("unknown", "Conversation"):
            return text("Hello.")
        return answer(openai_brain.answer(asked.decision, asked.body, self.group_by))

    def pause(self, seconds: float) -> None:
        """Waits, or until the server closes."""
        self._closing.wait(seconds)


class _Server(FakeServer):
    def __init__(self, address: tuple[str, int], fake: FakeOpenAI) -> None:
        self.fake = fake
        super().__init__(address, _Handler)


class _Handler(FakeHandler):
    server: _Server

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self._send(200, json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}).encode(), {})
        elif self.path.endswith("/counts"):
            self._send(200, json.dumps(self.server.fake.counts).encode(), {})
        else:
            self._send(404, b"{}", {})

    def do_POST(self) -> None:
        fake = self.server.fake
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = fake.arrive(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        reply = fake.reply_to(asked)
        try:
            fake.pause(3600 if reply.hang else reply.latency or fake.latency)
        finally:
            fake.leave(asked, reply.status)
        if reply.hang:
            self.close_connection = True
            return
        data = reply.body if reply.body is not None else json.dumps(_completion(asked, reply)).encode()
        self._send(reply.status, data, reply.headers)
        fake.answered(asked)

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.reply(status, data, {"content-type": "application/json", **headers})


def _completion(asked: Asked, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    finish_reason = reply.finish_reason
    if "tools" in asked.body and reply.content is not None and reply.content.lstrip().startswith("{"):
        function = {"name": asked.decision, "arguments": reply.content}
        call = {"id": f"call_{asked.digest[:8]}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{asked.digest[:8]}_{n}", "type": "function", "function": {"name": name, "arguments": said}}
            for n, (name, said) in enumerate(reply.calls)
        ]
        finish_reason = "tool_calls"
    completion: dict[str, Any] = {
        "id": f"chatcmpl-{asked.digest[:12]}",
        "object": "chat.completion",
        "created": 1,
        "model": asked.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
    }
    if reply.usage:
        forms = [asked.body[name] for name in ("response_format", "tools") if name in asked.body]  # are read, so paid
        prompt = sum(token_count(json.dumps(part, ensure_ascii=False)) for part in (asked.body["messages"], *forms))
        said = token_count(reply.content or "")
        completion["usage"] = {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}
    return completion


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """A vector of hashed words for each input: equal texts are equal, texts with common words are near."""
    given = body["input"]
    inputs = [given] if isinstance(given, str) else given
    size = int(body.get("dimensions") or VECTOR_SIZE)
    data = []
    for n, entry in enumerate(inputs):
        vector = [0.0] * size
        for word in folded_words(str(entry)) or [""]:
            digest = hashlib.sha256(word.encode()).digest()
            vector[int.from_bytes(digest[:4], "big") % size] += 1.0 if digest[4] % 2 else -1.0
        norm = sum(x * x for x in vector) ** 0.5 or 1.0
        unit = [x / norm for x in vector]
        packed: Any = unit
        if body.get("encoding_format") == "base64":
            packed = base64.b64encode(struct.pack(f"<{size}f", *unit)).decode()
        data.append({"object": "embedding", "index": n, "embedding": packed})
    tokens = sum(token_count(str(entry)) for entry in inputs)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": body.get("model", ""), "data": data, "usage": usage}


@contextmanager
def serving(**options: Any) -> Iterator[FakeOpenAI]:
    """A running server, closed at the end."""
    fake = FakeOpenAI(**options).start()
    try:
        yield fake
    finally:
        fake.close()


def main(say: Callable[[str], None] = lambda line: print(line, flush=True)) -> None:
    """Serves until interrupted; the first line printed is the address."""
    parser = argparse.ArgumentParser(description="A fake OpenAI endpoint that answers infold's requests sensibly.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--log", type=Path, help="one JSON line an answer: decision, digest, status, at")
    parser.add_argument("--together", action="store_true", help="group all paragraphs together")
    parser.add_argument("--key", help="refuse other keys with 401")
    options = parser.parse_args()
    group_by = openai_brain.all_together if options.together else openai_brain.each_alone
    fake = FakeOpenAI(
        port=options.port, latency=options.latency, log=options.log, group_by=group_by, key=options.key
    ).start()
    say(fake.url)
    try:
        fake.wait()
    except KeyboardInterrupt:
        fake.close()


if __name__ == "__main__":
    main()

"""A local server that hands out model files as a model hub does: by revision, by way of a redirect, with ranges.

Told to, it cuts the line in the middle of a file, answers with an error first, ignores ranges, or sends other bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from infold.search.embed.model_catalog import KnownModel, ModelFile
from tests.fakes.http_server import FakeHandler, FakeServer, running

REVISION = "0123456789abcdef0123456789abcdef01234567"


class ModelHub(FakeServer):
    """Files by `repository/path`, and what was asked for: path and range of each request. HF_ENDPOINT is its `url`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.cut_after: list[int] = []  # bytes of the next answers before the line breaks
        self.refusals: list[int] = []  # statuses of the next answers
        self.has_ranges = True

    def add(self, name: str, files: dict[str, bytes], reading: dict[str, object] | None = None) -> KnownModel:
        """Puts a model on the hub and gives its entry of a catalogue."""
        repository = f"maker/{name}"
        self.files.update({f"{repository}/{path}": content for path, content in files.items()})
        pinned = tuple(
            ModelFile(path, len(content), hashlib.sha256(content).hexdigest()) for path, content in files.items()
        )
        return KnownModel(name, repository, REVISION, "MIT", "English", 8, pinned, reading or {"pooling": "mean"})

    def data_requests(self, path: str) -> list[str | None]:
        """The ranges in which the bytes of a file were asked for."""
        return [range_ for asked, range_ in self.asked if asked.startswith("/cdn/") and asked.endswith(path)]


class _Handler(FakeHandler):
    server: ModelHub

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Range"]))
        if self.server.refusals:
            self.reply(self.server.refusals.pop(0))
            return
        if self.path.startswith("/cdn/"):
            self._send(self.server.files[self.path.removeprefix("/cdn/")])
            return
        repository, _, file = self.path.strip("/").partition("/resolve/")
        name = f"{repository}/{file.removeprefix(REVISION + '/')}"
        if name not in self.server.files or not file.startswith(REVISION):
            self.reply(404)
            return
        self.reply(302, headers={"Location": f"{self.server.url}/cdn/{name}", "X-Repo-Commit": REVISION})

    def _send(self, content: bytes) -> None:
        start = 0
        asked = self.headers["Range"]
        if asked and self.server.has_ranges:
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            if start >= len(content):
                self.reply(416)
                return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        rest = content[start:]
        if self.server.cut_after:
            self.wfile.write(rest[: self.server.cut_after.pop(0)])
            self.close_connection = True
            return
        self.wfile.write(rest)


@contextmanager
def model_hub() -> Iterator[ModelHub]:
    """A running hub."""
    with running(ModelHub()) as server:
        yield server

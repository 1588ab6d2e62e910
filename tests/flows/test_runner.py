"""Which runner is taken: Prefect where a server answers, else direct, and the reason in one line."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from flows.runner import choose_runner, server_record
from infold.errors import EndpointUnreachable

REPOSITORY = Path(__file__).resolve().parents[2]


class Server(BaseHTTPRequestHandler):
    """Answers as a Prefect server's health page does, after `delay` seconds."""

    body, delay = b"true", 0.0

    def do_GET(self):
        time.sleep(self.delay)
        with contextlib.suppress(BrokenPipeError):  # who asked has stopped waiting
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.body)

    def log_message(self, *_arguments):
        """Quiet."""


@pytest.fixture
def serve(request):
    """Starts a server that answers `body` after `delay` and gives its API address."""

    def start(body: bytes = b"true", delay: float = 0.0) -> str:
        handler = type("Handler", (Server,), {"body": body, "delay": delay})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        request.addfinalizer(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/api"

    return start


@pytest.fixture(autouse=True)
def no_server_known(monkeypatch, tmp_path):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))


def test_direct_is_direct_even_beside_a_server(serve, monkeypatch):
    """Who asks for the direct runner gets it."""
    monkeypatch.setenv("PREFECT_API_URL", serve())
    assert choose_runner("direct").name == "direct"


def test_auto_takes_the_server_that_is_named(serve, monkeypatch):
    """PREFECT_API_URL and a server that answers: Prefect, and the line names it."""
    url = serve()
    monkeypatch.setenv("PREFECT_API_URL", url)
    runner = choose_runner("auto")
    assert (runner.name, runner.api_url) == ("prefect", url)
    assert url.removesuffix("/api") in runner.why


def test_auto_takes_the_server_that_flows_up_started(serve):
    """The record that `infold flows up` leaves is enough; no variable has to be set."""
    url = serve()
    server_record().write_text(json.dumps({"api_url": url}))
    assert choose_runner("auto").api_url == url


def test_auto_is_direct_without_a_server():
    """Nothing configured: direct, without waiting for anything."""
    started = time.monotonic()
    runner = choose_runner("auto")
    assert runner.name == "direct"
    assert "no Prefect server is configured" in runner.why
    assert time.monotonic() - started < 0.5


@pytest.mark.parametrize("content", ["", "[]", "{", '{"api_url": 3}'])
def test_a_damaged_record_is_no_server(content):
    """A record cut short by a crash makes nothing fail."""
    server_record().write_text(content)
    assert choose_runner("auto").name == "direct"


def test_auto_does_not_wait_for_a_server_that_hangs(serve, monkeypatch):
    """A server that does not answer within the time counts as none."""
    monkeypatch.setenv("PREFECT_API_URL", serve(delay=3.0))
    started = time.monotonic()
    assert choose_runner("auto", timeout_seconds=0.3).name == "direct"
    assert time.monotonic() - started < 2.0


def test_another_program_on_the_port_is_no_server(serve, monkeypatch):
    """A page that is not Prefect's is not taken for it."""
    monkeypatch.setenv("PREFECT_API_URL", serve(body=b"<html>hello</html>"))
    assert choose_runner("auto").name == "direct"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/api", "nonsense", "file:///etc/passwd"])
def test_prefect_without_its_server_is_an_error_with_the_next_step(url, monkeypatch):
    """Who asks for Prefect is not given something else in silence, nor a hidden server."""
    monkeypatch.setenv("PREFECT_API_URL", url)
    with pytest.raises(EndpointUnreachable) as refused:
        choose_runner("prefect")
    assert "infold flows up" in refused.value.hint
    assert choose_runner("auto").name == "direct"


def test_choosing_direct_imports_no_prefect():
    """The direct runner costs nothing of Prefect, not even its import."""
    code = "import sys; from flows.runner import choose_runner; choose_runner('auto'); print('prefect' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout.strip() == "False"

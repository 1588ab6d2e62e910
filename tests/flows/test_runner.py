"""Which runner is taken: Prefect where a server answers, else direct, and the reason in one line."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from flows.runner import choose_runner
from flows.server_folder import ServerFolder, write_own_json
from infold.errors import EndpointUnreachable
from infold.settings import Params
from infold.workspace import Workspace

REPOSITORY = Path(__file__).resolve().parents[2]


class Server(BaseHTTPRequestHandler):
    """Answers as a Prefect server's health page does, once it `goes_on`."""

    body, goes_on = b"true", threading.Event()

    def do_GET(self):
        self.goes_on.wait()
        with contextlib.suppress(BrokenPipeError):  # who asked has stopped waiting
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.body)

    def log_message(self, *_arguments):
        """Quiet."""


@pytest.fixture
def serve(request):
    """Starts a server that answers `body`, one that hangs not before the end, and gives its API address."""

    def start(body: bytes = b"true", *, hangs: bool = False) -> str:
        goes_on = threading.Event()
        if not hangs:
            goes_on.set()
        handler = type("Handler", (Server,), {"body": body, "goes_on": goes_on})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for end in (server.server_close, server.shutdown, goes_on.set):
            request.addfinalizer(end)
        return f"http://127.0.0.1:{server.server_port}/api"

    return start


@pytest.fixture(autouse=True)
def no_server_known(monkeypatch, tmp_path):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    return Workspace(tmp_path / "vault", tmp_path / "state", tmp_path / "vault" / "inbox.md", Params())


@pytest.fixture
def folder(workspace) -> ServerFolder:
    folder = ServerFolder.of(workspace)
    folder.make()
    return folder


def test_direct_is_direct_even_beside_a_server(serve, monkeypatch):
    """Who asks for the direct runner gets it."""
    monkeypatch.setenv("PREFECT_API_URL", serve())
    assert choose_runner("direct").name == "direct"


def test_auto_takes_the_server_that_flows_up_started(serve, workspace, folder):
    """The record that `infold flows up` leaves is enough, its password included; no variable has to be set."""
    write_own_json(folder.record_file, {"api_url": serve(), "vault": str(workspace.vault)})
    runner = choose_runner("auto", workspace, timeout_seconds=60)
    assert (runner.name, runner.auth_string) == ("prefect", folder.auth_string())


def test_the_server_of_another_vault_is_not_taken(serve, workspace, folder):
    """A record belongs to its vault: neither a copied one nor that of a vault beside it is followed."""
    write_own_json(folder.record_file, {"api_url": serve(), "vault": str(workspace.vault) + "-other"})
    assert choose_runner("auto", workspace).name == "direct"
    write_own_json(folder.record_file, {"api_url": serve(), "vault": str(workspace.vault)})
    other = Workspace(workspace.vault, workspace.state / "other", workspace.inbox, workspace.params)
    assert choose_runner("auto", other).name == "direct"


def test_a_record_that_others_may_write_is_not_followed(serve, workspace, folder):
    """Somebody else's file must not lead a run, with its notes, to a server of theirs."""
    write_own_json(folder.record_file, {"api_url": serve(), "vault": str(workspace.vault)})
    assert folder.record_file.stat().st_mode & 0o777 == 0o600
    folder.record_file.chmod(0o666)
    assert choose_runner("auto", workspace).name == "direct"


def test_the_password_is_made_once_and_is_this_users_alone(folder):
    """Long, random, kept; a file that only its owner may read, in a folder that only its owner may enter."""
    made = folder.auth_string()
    assert made == folder.auth_string()
    assert len(made) >= len("infold:") + 32
    assert folder.password_file.stat().st_mode & 0o777 == 0o600
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.password_file.chmod(0o644)  # readable by others is still ours; writable by others is not
    assert folder.auth_string() == made
    folder.password_file.chmod(0o666)
    assert folder.auth_string() != made


def test_auto_is_direct_without_a_server(monkeypatch):
    """Nothing configured: direct, without asking anybody."""
    monkeypatch.setattr("flows.runner.is_healthy", lambda *_: pytest.fail("a server was asked"))
    runner = choose_runner("auto")
    assert runner.name == "direct"
    assert "no Prefect server is configured" in runner.why


@pytest.mark.parametrize("content", ["", "[]", "{", '{"api_url": 3}'])
def test_a_damaged_record_is_no_server(content, workspace, folder):
    """A record cut short by a crash makes nothing fail."""
    folder.record_file.write_text(content)
    assert choose_runner("auto", workspace).name == "direct"


def test_auto_does_not_wait_for_a_server_that_hangs(serve, monkeypatch):
    """A server that does not answer within the time counts as none."""
    monkeypatch.setenv("PREFECT_API_URL", serve(hangs=True))
    assert choose_runner("auto").name == "direct"


def test_another_program_on_the_port_is_no_server(serve, monkeypatch):
    """A page that is not Prefect's is not taken for it."""
    monkeypatch.setenv("PREFECT_API_URL", serve(body=b"<html>hello</html>"))
    assert choose_runner("auto", timeout_seconds=60).name == "direct"


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

"""`infold serve`: what it says first, and where it cannot."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.fakes.ports import free_port


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "index.md").write_text("# Home\n")
    return folder


def test_a_port_that_is_taken_is_told(infold, vault):
    """One sentence with the port and what to do, and the exit code of the environment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = infold("serve", "--vault", vault, "--port", port)
    assert done.exit_code == 3
    assert f"Nothing can listen on port {port} of 127.0.0.1: Address already in use." in done.stderr
    assert "--port" in done.stderr


@pytest.mark.slow
def test_the_first_screen_leads_to_pages_and_api(vault, tmp_path):
    """As JSON too; both addresses answer."""
    port = free_port()
    command = [sys.executable, "-m", "infold", "serve", "--json", "--port", str(port), "--vault", str(vault)]
    command += ["--state", str(tmp_path / "state"), "--set", "search.embedding=static"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
            screen = [process.stderr.readline() for _ in range(4)]
            assert [line.split()[0] for line in screen] == ["pages", "API", "vault", "Ctrl-C"]
            assert said["vault"] == str(vault)
            for address in (said["page"], said["api"]):
                with urllib.request.urlopen(opened(address), timeout=60) as answer:
                    assert answer.status == 200
        finally:
            process.terminate()


def opened(address: str) -> str:
    """The address, once something listens there."""
    host, _, port = address.split("/")[2].partition(":")
    for _ in range(1200):
        try:
            socket.create_connection((host, int(port)), timeout=60).close()
        except OSError:
            time.sleep(0.1)
        else:
            break
    return address

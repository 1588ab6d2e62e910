"""The entry in a client's settings: shown, written beside what is there, taken out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infold.cli.app import app
from infold.errors import SettingInvalid, UsageError
from infold.mcp.clients import CLIENTS, find_client, with_entry


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.mark.parametrize("name", CLIENTS)
def test_the_entry_stands_beside_what_is_there_and_comes_out_again(name):
    """Other servers and settings stay; taking the entry out gives the settings as they were; nothing else changes."""
    client = CLIENTS[name]
    before = {"theme": "dark", client.key: {"other": {"command": "x"}}}
    client.settings().parent.mkdir(parents=True, exist_ok=True)
    client.settings().write_text(json.dumps(before, indent=2) + "\n")
    change = with_entry(client, {"command": "infold", "args": ["mcp"]})
    assert '+    "infold": {' in change.diff()
    change.write()
    written = json.loads(client.settings().read_text())
    assert written[client.key]["other"] == {"command": "x"}
    assert written[client.key]["infold"]["args"] == ["mcp"]
    assert not with_entry(client, {"command": "infold", "args": ["mcp"]}).is_needed
    with_entry(client, None).write()
    assert json.loads(client.settings().read_text()) == before
    kept = client.settings().with_name(client.settings().name + ".before-infold")
    assert json.loads(kept.read_text()) == before


def test_settings_that_are_no_json_are_left_alone():
    """A file with comments, or of something else, is told and not written."""
    client = find_client("cursor")
    client.settings().parent.mkdir(parents=True)
    for text in ("{ // mine\n}", "[]", '{"mcpServers": []}'):
        client.settings().write_text(text)
        with pytest.raises(SettingInvalid):
            with_entry(client, {"command": "infold"})
        assert client.settings().read_text() == text


def test_a_client_that_comes_near_is_named():
    """A slip in the client's name is answered with the right one."""
    with pytest.raises(UsageError) as caught:
        find_client("cursr")
    assert caught.value.hint == "Did you mean cursor?"


def test_nothing_is_written_without_a_yes(tmp_path, home):
    """Where nobody can be asked the change is only shown; --yes writes it, --remove takes it out."""
    vault = tmp_path / "vault"
    vault.mkdir()
    words = ["mcp", "install", "cursor", "--vault", str(vault), "--state", str(tmp_path / "state")]
    runner = CliRunner()
    shown = runner.invoke(app, words)
    assert shown.exit_code == 0
    assert '"infold"' in shown.stderr
    assert not (home / ".cursor" / "mcp.json").exists()
    assert runner.invoke(app, [*words, "--yes"]).exit_code == 0
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["infold"]
    assert entry["args"] == ["mcp", "--vault", str(vault), "--state", str(tmp_path / "state")]
    assert runner.invoke(app, [*words, "--remove", "--yes"]).exit_code == 0
    assert json.loads((home / ".cursor" / "mcp.json").read_text()) == {"mcpServers": {}}

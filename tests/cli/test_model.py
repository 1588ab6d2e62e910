"""The main job with a model, against a real local server that speaks the OpenAI protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.openai_server import FakeOpenAI, serving

TEXTS = {
    "index.md": "# Index\n\n- [[tea]]\n- [[bread]]\n",
    "tea.md": "# Tea\n\nGreen tea is steeped at eighty degrees.\n\nBlack tea takes boiling water.\n",
    "bread.md": "# Bread\n\nThe rye is baked for an hour.\n",
    "inbox.md": "White tea wants seventy degrees and five minutes.\n",
}


@pytest.fixture
def server(monkeypatch) -> Iterator[FakeOpenAI]:
    """The endpoint that the environment names."""
    with serving() as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
        yield fake


@pytest.fixture
def vault(tmp_path) -> Path:
    """Three notes and an inbox of one paragraph."""
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def integrate(infold, vault):
    """`infold integrate` with a model, directly and without waiting for notes that were just written."""
    settings = (
        "--set",
        "integrate.quiet_seconds=0",
        "--runner",
        "direct",
        "--librarian",
        "model",
        "--model",
        "test-model",
    )
    return lambda *words: infold("integrate", "--vault", vault, *settings, *words)


def test_the_bill_is_shown_before_and_counted_after(integrate, server, vault):
    """An estimate on stderr, never a question to a program; the calls that were made in the result; no key anywhere."""
    done = integrate("--json")
    value = json.loads(done.stdout)
    assert (done.exit_code, value["status"]) == (0, "applied")
    assert "test-model: some" in done.stderr
    assert "a price that is not known" in done.stderr
    assert "No cap is set" in done.stderr
    assert value["usage"]["calls"] == len(server.asked) > 0
    assert value["usage"]["usd"] is None
    (file,) = (edit["file"] for chunk in value["chunks"] for edit in chunk["edits"])
    assert TEXTS["inbox.md"].strip() in (vault / file).read_text()
    assert "secret" not in done.output


def test_a_cap_stops_before_it_is_passed(integrate, server, vault):
    """No call could be made: everything stays in the inbox with that reason, and the endpoint was never asked."""
    done = integrate("--max-tokens", "10", "--json")
    value = json.loads(done.stdout)
    assert (done.exit_code, value["usage"]["calls"]) == (1, 0)
    assert "10" in value["paragraphs"][0]["reason"]
    assert "stops before it passes 10 tokens" in done.stderr
    assert server.asked == []
    assert (vault / "inbox.md").read_text() == TEXTS["inbox.md"]


def test_a_cap_in_dollars_needs_a_price(integrate, server):
    """For a model of unknown price it is refused, with what to set instead."""
    done = integrate("--max-usd", "1")
    assert done.exit_code == 2
    assert "librarian.max_tokens" in done.stderr


@pytest.mark.parametrize("said, is_done", [("y\n", True), ("\n", False), ("no\n", False)])
def test_a_person_is_asked(integrate, server, vault, monkeypatch, said, is_done):
    """On a terminal nothing is paid without a yes."""
    monkeypatch.setattr("infold.cli.terminal.Terminal.is_watched", True)
    monkeypatch.setattr("infold.cli.forecast._is_answerable", lambda: True)
    monkeypatch.setattr("infold.cli.forecast._answer", lambda: said)
    done = integrate()
    assert "Go on? [y/N]" in done.stderr
    assert (len(server.asked) > 0) == is_done
    assert ((vault / "inbox.md").read_text() == TEXTS["inbox.md"]) != is_done

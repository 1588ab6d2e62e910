"""The main job with a model, against a real local server that speaks the OpenAI protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.openai_server import fault, hanging, html, text, too_many

TEXTS = {
    "index.md": "# Index\n\n- [[tea]]\n- [[bread]]\n",
    "tea.md": "# Tea\n\nGreen tea is steeped at eighty degrees.\n\nBlack tea takes boiling water.\n",
    "bread.md": "# Bread\n\nThe rye is baked for an hour.\n",
    "inbox.md": "White tea wants seventy degrees and five minutes.\n",
}


@pytest.fixture
def vault(tmp_path) -> Path:
    """Three notes and an inbox of one paragraph."""
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, content in TEXTS.items():
        (folder / name).write_text(content)
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


def test_the_bill_is_shown_before_and_counted_after(integrate, model_server, vault):
    """An estimate on stderr, never a question to a program; the calls that were made in the result; no key anywhere."""
    done = integrate("--json")
    value = json.loads(done.stdout)
    assert (done.exit_code, value["status"]) == (0, "applied")
    assert "test-model: some" in done.stderr
    assert "a price that is not known" in done.stderr
    assert "No cap is set" in done.stderr
    assert value["usage"]["calls"] == len(model_server.asked) > 0
    assert value["usage"]["usd"] is None
    (file,) = (edit["file"] for chunk in value["chunks"] for edit in chunk["edits"])
    assert TEXTS["inbox.md"].strip() in (vault / file).read_text()
    assert "secret" not in done.output


@pytest.mark.parametrize("cap", [("--max-tokens", "1200"), ("--max-usd", "0.0001", "--model", "gpt-5-mini")])
def test_a_cap_too_small_for_one_call_is_refused_at_once(integrate, model_server, vault, cap, monkeypatch):
    """What one call may take is said before anything is read, with the setting to change."""
    if "--max-usd" in cap:
        monkeypatch.delenv("OPENAI_BASE_URL")  # only a known model at a known endpoint has a price
    done = integrate(*cap)
    assert done.exit_code == 2
    assert "it may" in done.stderr
    assert "librarian.max_answer_tokens" in done.stderr
    assert model_server.asked == []
    assert (vault / "inbox.md").read_text() == TEXTS["inbox.md"]


def test_a_cap_stops_before_it_is_passed(integrate, model_server, vault):
    """Room for one call and no more: what it was not enough for stays in the inbox with that reason."""
    done = integrate("--max-tokens", "8900", "--json")
    value = json.loads(done.stdout)
    assert done.exit_code == 1
    assert value["usage"]["calls"] == len(model_server.asked) > 0
    assert "8900" in value["paragraphs"][0]["reason"]
    assert "stops before it passes 8,900 tokens" in done.stderr
    assert (vault / "inbox.md").read_text() == TEXTS["inbox.md"]


@pytest.mark.parametrize(
    "reply, setting",
    [
        (too_many(0.01), "librarian.max_retries"),
        (fault(500), "librarian.max_retries"),
        (hanging(), "librarian.give_up_seconds=3"),
        (html(), "OPENAI_BASE_URL"),
        (fault(400, message="response_format is not supported"), "librarian.mode"),
        (text("I think it belongs to the tea."), "librarian.mode"),
    ],
)
def test_an_endpoint_of_no_use_ends_the_run_with_one_sentence(integrate, model_server, vault, reply, setting):
    """429, 5xx, silence, a page, nonsense: code 3 within the bound of the settings, told once, and what to change."""
    for decision in ("Grouping", "Summary", "Look", "Edits"):
        model_server.script(decision, *[reply] * 40)
    given_up = setting if "=" in setting else "librarian.give_up_seconds=100"
    done = integrate("--set", "librarian.max_retries=1", "--set", given_up)
    assert len(model_server.asked) <= 6
    assert done.exit_code == 3
    assert setting.partition("=")[0] in done.stderr
    assert done.stderr.count("infold:") == 1
    assert "no model was asked" not in done.output
    assert "apply" not in done.stdout
    assert (vault / "inbox.md").read_text() == TEXTS["inbox.md"]


def test_a_call_without_an_answer_is_counted_and_said(integrate, model_server, vault):
    """Where others were answered, the chunk stays in the inbox, and the cost names the call that brought nothing."""
    model_server.script("Edits", fault(500), fault(500))
    done = integrate("--set", "librarian.max_retries=1")
    assert done.exit_code == 1
    assert "1 call without an answer" in done.stdout


def test_a_cap_in_dollars_needs_a_price(integrate, model_server):
    """For a model of unknown price it is refused, with what to set instead."""
    done = integrate("--max-usd", "1")
    assert done.exit_code == 2
    assert "librarian.max_tokens" in done.stderr


@pytest.mark.parametrize("said, is_done", [("y\n", True), ("\n", False), ("no\n", False)])
def test_a_person_is_asked(integrate, model_server, vault, monkeypatch, said, is_done):
    """On a terminal nothing is paid without a yes."""
    monkeypatch.setattr("infold.cli.terminal.Terminal.is_watched", True)
    monkeypatch.setattr("infold.cli.forecast._is_answerable", lambda: True)
    monkeypatch.setattr("infold.cli.forecast._answer", lambda: said)
    done = integrate()
    assert "Go on? [y/N]" in done.stderr
    assert (len(model_server.asked) > 0) == is_done
    assert ((vault / "inbox.md").read_text() == TEXTS["inbox.md"]) != is_done

"""Keys and tokens are shown nowhere: on no page, in no answer of the API, no error, no log, no file of the state."""

from __future__ import annotations

import re

import httpx2
import pytest

import infold
from infold.environment import SECRETS
from infold.errors import SettingInvalid
from infold.operations.contract import Effect, Face
from infold.operations.table import operations
from infold.web.app import create_app
from tests.web.test_pages import PAGES

KEYS = {name: f"kept-{number}-from-sight-{name.lower()}" for number, name in enumerate(SECRETS)}
PASSWORD = "kept-from-sight-in-an-address"
TOKEN = KEYS["INFOLD_SERVE_TOKEN"]
NAMES = {"job": "none", "path": "index.md"}
READING = [
    name
    for name, operation in operations(Face.HTTP).items()
    if operation.effect is Effect.READS
    and not operation.takes_long
    and not any(field.is_required() for field in operation.request.model_fields.values())
]


@pytest.fixture
def keyed(folder, tmp_path, monkeypatch):
    """A vault with a key for everything that takes one, whose model cannot be reached."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://someone:{PASSWORD}@127.0.0.1:9/v1")
    (folder / "inbox.md").write_text("The brass valve of the boiler was replaced in May.\n")
    changes = ["librarian.kind=model", "librarian.max_tokens=100000", "librarian.max_retries=0"]
    changes += ["librarian.give_up_seconds=1", "search.embedding=static"]
    with infold.open(folder, state=tmp_path / "state", changes=changes) as vault:
        yield vault


async def test_no_page_answer_or_file_holds_a_secret(keyed, tmp_path):
    """Every page, every address that is read, every operation that only reads, a plan whose model fails, and errors."""
    transport = httpx2.ASGITransport(create_app(keyed, token=TOKEN))
    bearer = {"authorization": f"Bearer {TOKEN}"}
    answers: dict[str, httpx2.Response] = {}
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:4321", headers=bearer) as http:
        for address, methods in (await http.get("/api/openapi.json")).json()["paths"].items():
            if "get" in methods:
                path = re.sub(r"{(\w+)}", lambda found: NAMES[found[1]], address)
                answers[path] = await http.get(path, params={"q": "boiler"})
        for path in (*PAGES, "/none", "/run/none", "/job/none", "/note/none.md", "/api/openapi.json"):
            answers[path] = await http.get(path)
        for name in READING:
            answers[name] = await http.post(f"/api/{name}", json={})
        answers["plan"] = await http.post("/inbox/plan")
        answers["integrate"] = await http.post("/api/inbox_integrate", json={"dryRun": True, "maxTokens": 100_000})
        answers["refused"] = await http.get("/", headers={"authorization": f"Bearer {TOKEN[:-1]}"})
        answers["address"] = await http.get(f"/?token={TOKEN}", headers={"authorization": ""})
    assert [path for path in PAGES if answers[path].status_code != 200] == []
    assert "127.0.0.1:9" in answers["integrate"].text  # the model was asked, at the address that holds a password
    shown = {path: answer.text + repr(without_cookie(answer)) for path, answer in answers.items()}
    kept = {str(file): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    hidden = (*KEYS.values(), PASSWORD)
    assert [(path, word) for path, text in shown.items() for word in hidden if word in text] == []
    assert [(path, word) for path, text in kept.items() for word in hidden if word.encode() in text] == []


def test_a_key_in_the_file_of_settings_is_refused_without_being_said(folder, tmp_path):
    """A key belongs into the environment; the file is versioned. What is wrong is named, its value is not."""
    for section, name in [("librarian", "api_key"), ("search", "qdrant_api_key")]:
        file = tmp_path / "params.yaml"
        file.write_text(f"{section}:\n  {name}: {KEYS['OPENAI_API_KEY']}\n")
        with pytest.raises(SettingInvalid) as refused:
            infold.open(folder, state=tmp_path / "state", params=file)
        assert f"{section}.{name}" in str(refused.value)
        assert KEYS["OPENAI_API_KEY"] not in f"{refused.value}{refused.value.hint}"


def without_cookie(answer):
    """The headers of an answer but for the cookie, which is for whoever showed the token."""
    return [(name, value) for name, value in answer.headers.items() if name != "set-cookie"]

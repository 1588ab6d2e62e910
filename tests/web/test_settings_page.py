"""The page of settings: what it shows of spec 3, 8.5, and what it lets one set."""

from __future__ import annotations

import re

import yaml

from infold.settings import Params
from infold.web.settings_pages import EDITABLE


def test_only_settings_that_there_are_can_be_set():
    """None of them names a place, chooses a model or lets text out."""
    for name in EDITABLE:
        section, _, key = name.partition(".")
        assert hasattr(getattr(Params(), section), key), name
        assert section != "vault"
        assert name not in ("librarian.kind", "librarian.model", "search.embedding", "research.robots")


async def test_the_page_shows_index_storage_and_settings(client):
    """The rows of the specification: files, passages, last sync, model; notebook, daily logs, index."""
    async with client() as http:
        text = (await http.get("/settings")).text
    for row in ("Files indexed", "Passages", "Last sync", "Embeddings", "Notebook", "Daily logs", "Rebuild the index"):
        assert row in text
    assert "2 files" in text


async def test_a_setting_is_written_and_a_wrong_one_is_not(client, vault):
    """What was saved stands in the file and is said; what is no value, or not for a page, is told with 400."""
    file = vault.workspace.state / "params.yaml"
    async with client() as http:
        saved = await http.post("/settings", data={"name": "search.max_results", "value": "7"})
        page = await http.get(saved.headers["location"])
        assert "search.max_results is written" in page.text
        await http.post("/settings", data={"name": "search.sync_on_search", "value": "false"})
        await http.post("/settings", data={"name": "librarian.max_usd", "value": ""})
        await http.post("/settings", data={"name": "search.language", "value": "no"})
        before = file.read_bytes()
        for name, value in [("search.max_results", "many"), ("vault.path", "/"), ("librarian.model", "x")]:
            refused = await http.post("/settings", data={"name": name, "value": value})
            assert refused.status_code == 400
            assert 'role="alert"' in refused.text
    assert file.read_bytes() == before
    assert yaml.safe_load(before) == {
        "search": {"max_results": 7, "sync_on_search": False, "language": "no"},
        "librarian": {"max_usd": None},
    }


async def test_what_is_said_to_be_saved_is_a_setting(client):
    """An address cannot put words of its own on the page."""
    async with client() as http:
        text = (await http.get("/settings?saved=Call+this+number")).text
    assert not re.search("Call this number", text)

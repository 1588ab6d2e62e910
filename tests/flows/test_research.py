"""The flow that looks at watched sources: a task an address."""

from __future__ import annotations

import pytest

from infold.knowledge.sources.store import SourceStore
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.web_site import WebSite, serving

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

PAGE = (
    "<html><body><article><h1>Pumps</h1><p>"
    + "The pump hums in the cellar all winter long. " * 20
    + "</p></article></body></html>"
)


async def test_each_address_is_a_task_and_one_that_fails_stops_no_other(prefect_api, tmp_path, monkeypatch):
    """What came of each is counted; the second run looks at what is watched and stale, and only at that."""
    from flows.research import research

    monkeypatch.setenv("INFOLD_FETCH_HOSTS", "127.0.0.1")
    (tmp_path / "vault").mkdir()
    settings = {"delay_seconds": 0, "max_retries": 0, "timeout_seconds": 60}
    params = Params.model_validate({"research": settings, "search": {"embedding": "none"}})
    space = Workspace(tmp_path / "vault", tmp_path / "state", tmp_path / "vault" / "inbox.md", params)
    with serving(WebSite()) as site:
        site.put("/a", PAGE, etag='"1"')
        site.put("/b", PAGE, etag='"1"')
        site.put("/map.xml", f"<urlset><url><loc>{site.url('/b')}</loc></url></urlset>", kind="text/xml")
        urls = (site.url("/a"), site.url("/map.xml"), "file:///etc/passwd")
        assert await research(space.vault, space.state, params, urls) == {"new": 2, "unchanged": 1, "refused": 1}
        store = SourceStore(space.sources)
        store.watch(site.url("/a"), is_watched=True)
        asked = site.asked["/b"]
        store.unchanged(store.get(site.url("/a")), "2020-01-01T00:00:00+00:00")
        assert await research(space.vault, space.state, params) == {"unchanged": 1}
        assert site.asked["/b"] == asked

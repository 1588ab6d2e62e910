"""Pages that need their scripts, shown by a real engine against a real server: what they say, and what they cannot do."""

from __future__ import annotations

import shutil
from contextlib import closing

import pytest

from infold.errors import FetchFailed, FetchRefused
from infold.knowledge.fetching.addresses import Addresses
from infold.knowledge.fetching.browser import BrowserFetcher
from infold.knowledge.fetching.client import FetchLimits
from infold.knowledge.fetching.crawler import Crawler
from infold.knowledge.sources.research import Researcher
from infold.knowledge.sources.store import SourceStore
from infold.settings import ResearchParams
from tests.fakes.web_site import WebSite, serving

pytest.importorskip("playwright")
PROGRAM = shutil.which("chromium")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(PROGRAM is None, reason="no Chromium here")]
SAID = "The zeppelin needs helium, and a hall as long as a street to stay in over the winter months. " * 4
PAGE = """<html><head><title>Zeppelins</title></head><body><article id=a>Loading.</article><script>
fetch('/data.json').then(r => r.json()).then(d => {
  document.title = d.title;
  document.getElementById('a').innerHTML = '<h1>' + d.title + '</h1><p>' + d.text + '</p>';
});</script></body></html>"""


@pytest.fixture
def site():
    """A page whose script asks for its text."""
    with serving(WebSite()) as found:
        found.put("/app", PAGE, etag='"frame"')
        found.put("/data.json", f'{{"title": "On zeppelins", "text": "{SAID}"}}', kind="application/json")
        yield found


@pytest.fixture
def other():
    """A server of the inner network that no setting names."""
    with serving(WebSite()) as found:
        found.put("/secret", "var secret = 1;", kind="text/javascript")
        found.put("/secret.json", "{}", kind="application/json", Access_Control_Allow_Origin="*")
        yield found


def fetcher(site, shown="127.0.0.1", timeout_seconds=120.0, most_bytes=100_000):
    """A fetcher that may reach this very server and no other port of this machine."""
    addresses = Addresses([site.address.removeprefix("http://")])
    limits = FetchLimits(most_bytes, timeout_seconds, redirects=3, retries=0)
    crawler = Crawler(addresses, limits, delay_seconds=0.0, respects_robots=False)
    return closing(BrowserFetcher(crawler, addresses, limits, [shown], PROGRAM or ""))


def test_a_page_is_kept_as_its_scripts_leave_it(site, tmp_path):
    """Chosen by host through the setting; the text that only the script brings is kept, and a change of it is seen.

    The frame's ETag says nothing of what the script brings, and is not asked about.
    """
    store = SourceStore(tmp_path / "sources")
    host = site.address.removeprefix("http://")
    params = ResearchParams(
        browser_for="127.0.0.*, other.example", delay_seconds=0, robots=False, max_retries=0, timeout_seconds=120
    )
    with closing(Researcher.opened(store, params, [host], browser=PROGRAM or "")) as researcher:
        first = researcher.fetch(site.url("/app"))
        assert (first.status, first.reason) == ("new", "")
        assert "as long as a street" in store.text(first.record)
        assert first.record.title == "On zeppelins"
        site.put("/data.json", f'{{"title": "On zeppelins", "text": "{SAID} And mooring masts."}}')
        again = researcher.fetch(site.url("/app"))
    assert again.status == "changed"
    assert "mooring masts" in store.text(again.record)


def test_what_no_setting_names_is_left_to_the_crawler(site):
    """No engine is started for it, and its conditions hold."""
    with fetcher(site, "*.example") as plain:
        assert plain.get(site.url("/app"), etag='"frame"').is_unchanged
        assert b"Loading" in plain.get(site.url("/app")).body
    assert site.asked["/data.json"] == 0


def test_no_request_of_a_page_gets_past_our_client(site, other):
    """Scripts, frames, pictures, sockets, beacons, forms and prefetches of an inner server are not answered.

    Nor is one that a server of ours redirects there; the page itself is read without them.
    """
    inner = other.address
    site.answer("/away", 302, Location=f"{inner}/secret.json")
    site.put(
        "/hostile",
        f"""<html><body><p id=p>Text.</p><script src="{inner}/secret"></script><iframe src="{inner}/secret"></iframe>
        <img src="{inner}/secret"><link rel=prefetch href="{inner}/secret"><link rel=preconnect href="{inner}">
        <script>
        const said = [typeof secret];
        navigator.sendBeacon('{inner}/secret', 'x');
        new WebSocket('{inner.replace("http", "ws")}/secret');
        const tries = ['{inner}/secret.json', '/away', 'file:///etc/hostname'];
        Promise.allSettled(tries.map(u => fetch(u))).then(all => {{
          document.getElementById('p').textContent = said + ' ' + all.map(r => r.status).join(' ');
        }});
        </script></body></html>""",
    )
    with fetcher(site) as shown:
        page = shown.get(site.url("/hostile"))
    assert b"undefined rejected rejected rejected" in page.body
    assert sum(other.asked.values()) == 0


def test_a_script_that_leads_on_is_followed_under_the_same_rules(site, other):
    """To a page that may be fetched; one of an inner server is not, and then there is no page to keep."""
    site.put("/on", "<script>location = '/app'</script>")
    site.put("/out", f"<script>location = '{other.address}/secret'</script>")
    with fetcher(site) as shown:
        assert b"as long as a street" in shown.get(site.url("/on")).body
        with pytest.raises(FetchRefused, match="not in the open network"):
            shown.get(site.url("/out"))
    assert sum(other.asked.values()) == 0


def test_endless_and_huge_pages_are_given_up(site):
    """A script that never ends, and one that fills the page, are held to the time and the size of any page."""
    site.put("/endless", "<p>x</p><script>setTimeout(() => { for (;;); }, 10)</script>")
    site.put("/huge", "<body><script>document.body.textContent = 'x'.repeat(300000)</script></body>")
    with fetcher(site) as shown, pytest.raises(FetchRefused, match="more than 100,000 bytes"):
        shown.get(site.url("/huge"))
    with fetcher(site, timeout_seconds=4.0) as shown, pytest.raises(FetchFailed, match="cannot be shown"):
        shown.get(site.url("/endless"))

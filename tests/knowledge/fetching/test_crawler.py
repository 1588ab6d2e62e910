"""Fetching from a real server that behaves well or badly."""

from __future__ import annotations

import gzip
import itertools
import time
import zlib

import pytest

from infold.errors import FetchFailed, FetchRefused
from infold.knowledge.fetching.addresses import Addresses
from infold.knowledge.fetching.client import FetchLimits
from infold.knowledge.fetching.crawler import Crawler
from tests.fakes.web_site import WebSite, serving

LIMITS = FetchLimits(most_bytes=100_000, timeout_seconds=60.0, redirects=3, retries=2)


@pytest.fixture
def site():
    with serving(WebSite()) as site:
        yield site


@pytest.fixture
def waits():
    return []


@pytest.fixture
def crawler(site, waits):
    found = Crawler(Addresses(["127.0.0.1"]), LIMITS, delay_seconds=0.0, sleep=waits.append)
    yield found
    found.close()


def test_a_page_and_its_conditions(site, crawler):
    """The second time the server is asked whether it changed, and sends nothing."""
    site.put("/a", "<p>text</p>", etag='"1"')
    page = crawler.get(site.url("/a"))
    assert (page.status, page.body, page.etag, page.content_type, page.charset) == (
        200,
        b"<p>text</p>",
        '"1"',
        "text/html",
        "utf-8",
    )
    sent = site.sent_bytes
    assert crawler.get(site.url("/a"), etag='"1"').is_unchanged
    assert site.sent_bytes == sent


def test_only_http_addresses_without_passwords_are_asked(crawler):
    """`file:` and every other scheme, addresses without a host, and those that carry a password are refused."""
    for url in (
        "file:///etc/passwd",
        "ftp://host/x",
        "gopher://host/",
        "data:text/plain,x",
        "http:///x",
        "javascript:alert(1)",
        "",
        "/etc/passwd",
        "http://user:pw@host/",
    ):
        with pytest.raises(FetchRefused):
            crawler.get(url)


def test_inner_hosts_are_refused_by_default_and_after_a_redirect(site, waits):
    """A page that is allowed cannot lead where it would not have been allowed to go itself."""
    site.answer("/in", 302, Location="http://169.254.169.254/latest/meta-data/")
    site.answer("/local", 302, Location=site.url("/a").replace("127.0.0.1", "localhost"))
    site.answer("/file", 302, Location="file:///etc/passwd")
    crawler = Crawler(Addresses(["127.0.0.1"]), LIMITS, delay_seconds=0.0, sleep=waits.append)
    for path in ("/in", "/local", "/file"):
        with pytest.raises((FetchRefused, FetchFailed)):
            crawler.get(site.url(path))
    with pytest.raises(FetchRefused, match="open network"):
        Crawler(Addresses(), LIMITS, respects_robots=False, sleep=waits.append).get(site.url("/a"))
    assert site.asked["/a"] == 0


def test_a_host_is_resolved_once_and_connected_to_at_that_address(site, waits):
    """A name that would lead elsewhere the second time is not resolved a second time for one request."""
    port = int(site.address.rpartition(":")[2])
    answers = itertools.cycle([["127.0.0.1"], ["203.0.113.9"]])
    crawler = Crawler(
        Addresses([f"rebind.example:{port}"], lambda host, _: next(answers)),
        LIMITS,
        respects_robots=False,
        sleep=waits.append,
    )
    site.put("/a", "<p>x</p>")
    assert crawler.get(f"http://rebind.example:{port}/a").body == b"<p>x</p>"


def test_redirects_are_followed_so_far_and_never_in_circles(site, crawler):
    """The page at the end is given with its own address."""
    site.put("/end", "<p>end</p>")
    site.answer("/one", 301, Location="/two")
    site.answer("/two", 307, Location="/end#part")
    assert crawler.get(site.url("/one")).url == site.url("/end")
    site.answer("/x", 302, Location="/y")
    site.answer("/y", 302, Location="/x")
    with pytest.raises(FetchRefused, match="circle"):
        crawler.get(site.url("/x"))
    for n in range(9):
        site.answer(f"/r{n}", 302, Location=f"/r{n + 1}")
    with pytest.raises(FetchRefused, match="more than 3 times"):
        crawler.get(site.url("/r0"))


def test_too_much_is_refused_said_or_not(site, crawler):
    """A page that says its size is not even begun; one that does not is stopped on the way."""
    site.put("/said", b"x" * 200_000)
    sent: list[int] = []

    def endless():
        for n in range(100_000):
            sent.append(n)
            yield b"x" * 10_000

    site.answer("/endless", 200, endless(), Content_Type="text/html")
    for path in ("/said", "/endless"):
        with pytest.raises(FetchRefused, match=r"more than 100,000 bytes"):
            crawler.get(site.url(path))
    assert len(sent) < 5_000


@pytest.mark.parametrize("name", ["gzip", "deflate", "raw"])
def test_a_bomb_is_noticed_before_it_goes_off(site, crawler, name):
    """A gigabyte in a megabyte is unpacked no further than the limit; an honest page of each packing is read."""
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "raw": lambda data: zlib.compress(data)[2:-4]}[name]
    encoding = "gzip" if name == "gzip" else "deflate"
    site.answer("/honest", 200, pack(b"<p>honest</p>"), Content_Type="text/html", Content_Encoding=encoding)
    assert crawler.get(site.url("/honest")).body == b"<p>honest</p>"
    bomb = pack(bytes(20_000_000))
    assert len(bomb) < LIMITS.most_bytes
    site.answer("/bomb", 200, bomb, Content_Type="text/html", Content_Encoding=encoding)
    with pytest.raises(FetchRefused, match=r"more than 100,000 bytes"):
        crawler.get(site.url("/bomb"))
    site.answer("/odd", 200, b"x", Content_Type="text/html", Content_Encoding="br")
    with pytest.raises(FetchRefused, match="not asked for"):
        crawler.get(site.url("/odd"))


def test_a_slow_server_is_given_up(site, waits):
    """One that drips holds nobody longer than the time of a page, tries included."""
    limits = FetchLimits(most_bytes=100_000, timeout_seconds=0.4, retries=0)

    sent: list[int] = []

    def drip():
        for number in range(10_000):
            time.sleep(0.05)
            sent.append(number)
            yield b"<p>"

    site.answer("/slow", 200, drip(), Content_Type="text/html")
    with pytest.raises(FetchFailed, match="longer than"):
        Crawler(Addresses(["127.0.0.1"]), limits, respects_robots=False, sleep=waits.append).get(site.url("/slow"))
    assert len(sent) < 10_000


def test_wrong_types_and_final_answers_are_refused_at_once(site, crawler, waits):
    """A film is not text, and 403 stays 403: neither is asked for twice."""
    site.put("/film", b"....", kind="video/mp4")
    site.answer("/no", 403)
    for path in ("/film", "/no"):
        with pytest.raises(FetchRefused):
            crawler.get(site.url(path))
        assert site.asked[path] == 1
    assert crawler.get(site.url("/gone")).is_gone


def test_what_may_pass_is_tried_again_as_the_server_says(site, crawler, waits):
    """After 429 and 503 the page is asked for again, no sooner than it says, and only so often."""
    answers = iter(
        [(429, {"Retry-After": "7"}, b""), (503, {}, b""), (200, {"Content-Type": "text/html"}, b"<p>x</p>")]
    )
    site.pages["/busy"] = lambda _: next(answers)
    assert crawler.get(site.url("/busy")).status == 200
    assert waits[0] >= 7
    site.answer("/down", 500)
    with pytest.raises(FetchFailed, match="answers 500"):
        crawler.get(site.url("/down"))
    assert site.asked["/down"] == LIMITS.retries + 1


def test_robots_are_asked_once_and_kept(site, crawler):
    """What robots.txt forbids is not asked for; where there is none, all is allowed."""
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n", kind="text/plain")
    site.put("/private/x", "<p>x</p>")
    site.put("/open", "<p>x</p>")
    with pytest.raises(FetchRefused, match=r"robots\.txt"):
        crawler.get(site.url("/private/x"))
    crawler.get(site.url("/open"))
    crawler.get(site.url("/open"))
    assert (site.asked["/robots.txt"], site.asked["/private/x"], site.asked["/open"]) == (1, 0, 2)


def test_each_host_is_left_time_and_robots_may_ask_for_more(site, waits):
    """Between two requests to one host lies the longer of the setting's and the site's delay."""
    site.put("/robots.txt", "User-agent: *\nCrawl-delay: 3\n", kind="text/plain")
    site.put("/a", "<p>x</p>")
    crawler = Crawler(Addresses(["127.0.0.1"]), LIMITS, delay_seconds=1.0, sleep=waits.append)
    crawler.get(site.url("/a"))
    crawler.get(site.url("/a"))
    assert len(waits) == 1
    assert 2.5 < waits[0] <= 3

"""More of what people do with the pages: files dropped, edits sent elsewhere, maps under fingers, sources, other servers."""

from __future__ import annotations

import re

import pytest

from tests.fakes.web_site import WebSite
from tests.fakes.web_site import serving as site_serving
from tests.web.test_browser import DROPPED, SIZES, assert_fits, browser, serving, watch, write_notes

__all__ = ["browser"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]
DROPPED_FILE = "A third bed, in the north, has the beans from May on."
DOTS = """(canvas) => {
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const found = [];
    for (let y = 0; y < height; y += 2) for (let x = 0; x < width; x += 2) {
        const [r, g, b, a] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 4);
        if (a === 255 && Math.max(r, g, b) - Math.min(r, g, b) > 75) found.push([x, y]);
    }
    const [xs, ys] = [found.map((dot) => dot[0]), found.map((dot) => dot[1])];
    const at = found[found.length >> 1];
    return { wide: Math.max(...xs) - Math.min(...xs), high: Math.max(...ys) - Math.min(...ys), x: Math.min(...xs), y: Math.min(...ys), at };
}"""


@pytest.fixture(scope="module")
def site():
    """A web site with a page, and what a Prefect server says of its health."""
    with site_serving(WebSite()) as one:
        one.put("/api/health", "true", kind="application/json")
        one.put("/pumps", page_of("The pump of the cellar hums at night."), etag='"1"')
        yield one


def page_of(text: str) -> str:
    """A page of the web with enough on it to be read."""
    return f"<html><head><title>Pumps</title></head><body><article><h1>Pumps</h1><p>{text} {'Pumps move water. ' * 30}</p></article></body></html>"


@pytest.fixture(scope="module")
def server(tmp_path_factory, site):
    environment = {"INFOLD_FETCH_HOSTS": "127.0.0.1", "PREFECT_API_URL": site.url("/api")}
    with serving(tmp_path_factory.mktemp("told"), **environment) as one:
        one.post("import", {"paths": ["."]})
        yield one


@pytest.fixture
def served(server):
    write_notes(server.folder)
    return server


@pytest.fixture(params=SIZES)
def page(request, browser, served):
    """A page of one of the sizes, the small one under fingers; nothing was complained of in its console."""
    context = browser.new_context(
        viewport=SIZES[request.param], base_url=served.base, has_touch=request.param == "phone", color_scheme="dark"
    )
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    complaints: list[str] = []
    watch(opened, complaints)
    yield opened
    context.close()
    assert complaints == []


def test_a_dropped_file_waits_in_the_inbox(page, served):
    """It is put below what is typed already, shown before it is added, and then planned like all else."""
    page.goto("/inbox")
    box = page.get_by_label("Drop or paste text")
    box.fill("Typed before.")
    file = page.evaluate_handle(
        """(text) => { const data = new DataTransfer(); data.items.add(new File([text], "beds.md", { type: "text/markdown" })); return data; }""",
        DROPPED_FILE,
    )
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": file})
    page.wait_for_function("document.querySelector('[data-drop]').value.includes('north')")
    assert box.input_value() == f"Typed before.\n\n{DROPPED_FILE}"
    page.get_by_role("button", name="Add to the inbox").click()
    page.locator(".waits", has_text="in the north").wait_for()
    assert (served.folder / "inbox.md").read_text().endswith(f"Typed before.\n\n{DROPPED_FILE}\n")


def test_an_edit_is_sent_to_another_note(page, served):
    """The text comes to the note that was named, and the one that was planned stays as it is."""
    served.post("inbox_add", {"text": DROPPED})
    page.goto("/inbox")
    page.get_by_role("button", name="Plan where it goes").click()
    page.wait_for_url("**/run/*")
    hunk = page.locator(".hunk", has_text="replaced in May")
    hunk.get_by_label("Send to another note").check()
    hunk.get_by_label("The note").fill("house/radiators.md")
    assert_fits(page)
    page.get_by_role("button", name="Apply what is accepted").click()
    page.get_by_role("button", name="Undo").wait_for()
    assert "replaced in May" in (served.folder / "house/radiators.md").read_text()
    assert "replaced in May" not in (served.folder / "house/boiler.md").read_text()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("as before").wait_for()


@pytest.mark.parametrize("address", ["/graph?note=index.md&hops=1", "/themes"])
def test_a_map_is_dragged_and_pinched(browser, served, address):
    """One finger moves it, two make it smaller, and only a tap opens what it is on."""
    context = browser.new_context(
        viewport=SIZES["phone"], base_url=served.base, has_touch=True, color_scheme="dark", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(address)
    canvas = page.locator("#map")
    if "graph" in address:
        page.locator("#map[data-settled]").wait_for()
    canvas.scroll_into_view_if_needed()
    page.wait_for_function(f"Number.isFinite(({DOTS})(document.querySelector('#map')).wide)")
    box = canvas.bounding_box()
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        at = [{"x": box["x"] + x, "y": box["y"] + y, "id": number} for number, (x, y) in enumerate(points)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    before = canvas.evaluate(DOTS)
    touch("touchStart", (80, 200), (280, 200))
    touch("touchMove", (130, 200), (230, 200))
    touch("touchEnd")
    pinched = canvas.evaluate(DOTS)
    assert pinched["high"] == pytest.approx(before["high"] / 2, abs=20)
    touch("touchStart", (100, 100))
    touch("touchMove", (110, 120))
    touch("touchMove", (120, 140))
    touch("touchEnd")
    dragged = canvas.evaluate(DOTS)
    assert (dragged["x"] - pinched["x"], dragged["y"] - pinched["y"]) == pytest.approx((20, 40), abs=3)
    assert dragged["wide"] == pytest.approx(pinched["wide"], abs=3)
    assert page.url.endswith(address), "neither opened a note"
    touch("touchStart", dragged["at"])
    touch("touchEnd")
    page.wait_for_url(re.compile("/note/|/nav.step=in"))
    context.close()


def test_a_source_is_brought_in_and_refreshed(page, served, site):
    """Its text is there, labelled as from outside; asked again after a change, both texts and what changed are."""
    site.put("/pumps", page_of("The pump of the cellar hums at night."), etag='"1"')
    page.goto("/sources")
    page.get_by_label("Addresses of pages").fill(site.url("/pumps"))
    with page.expect_navigation():
        page.get_by_role("button", name="Bring in").click()
    page.get_by_role("link", name="Pumps").click()
    page.get_by_text("from outside").wait_for()
    assert "hums at night" in page.locator(".waits").inner_text()
    site.put("/pumps", page_of("The pump of the cellar is silent since May."), etag='"2"')
    with page.expect_navigation():
        page.get_by_role("button", name="Refresh").click()
    page.get_by_text("What changed with this text").wait_for()
    assert "silent since May" in page.locator(".diff .add").inner_text()
    assert page.locator("aside ol li").count() == 2
    assert_fits(page)
    page.get_by_role("button", name="Forget").click()
    page.locator("#forget").get_by_role("button", name="Forget").click()
    page.get_by_text("Nothing was brought in yet").wait_for()


def test_the_settings_lead_to_the_prefect_server(page, site):
    """Where one is up, its pages are a link."""
    page.goto("/settings")
    assert page.get_by_role("link", name="Prefect").get_attribute("href") == site.address

"""Pictures of a neighbourhood."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from infold.knowledge.graph import Graph
from infold.knowledge.pictures import draw, html_page, svg

HOSTILE = "</text><script>alert('x')</script>&.md"
GRAPH = Graph({"mid.md": ["a.md", "b.md", HOSTILE], "a.md": ["b.md"], "b.md": ["far.md"], "far.md": [], HOSTILE: []})


def test_the_picture_shows_notes_by_distance_and_their_links():
    """The note itself in the middle, all within the hops around it, no other; the same bytes each time."""
    picture = draw(GRAPH, "mid.md", 1)
    assert set(picture.places) == {"mid.md", "a.md", "b.md", HOSTILE}
    assert picture.places["mid.md"] == (0.0, 0.0)
    assert ("a.md", "b.md") in picture.links
    assert svg(picture) == svg(draw(GRAPH, "mid.md", 1))


def test_names_cannot_leave_their_place():
    """A hostile name is text in the SVG, which stays well-formed, and in the page."""
    picture = draw(GRAPH, "mid.md", 2)
    root = ET.fromstring(svg(picture))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert HOSTILE in titles
    page = html_page(picture, HOSTILE)
    assert page.count("<script>") == 1
    assert "alert('x')" not in page


def test_a_big_neighbourhood_is_cut_and_says_so():
    """Beyond the most notes that are drawn, the page says how many are not."""
    graph = Graph({"mid.md": [f"{n}.md" for n in range(50)], **{f"{n}.md": [] for n in range(50)}})
    picture = draw(graph, "mid.md", 1, most=20)
    assert (len(picture.places), picture.left_out) == (20, 31)
    assert "31 notes further out" in html_page(picture, "mid")


@pytest.mark.browser
def test_the_page_can_be_dragged_and_zoomed(tmp_path):
    """In a real browser the wheel zooms and dragging moves the view."""
    playwright = pytest.importorskip("playwright.sync_api")
    page_file = tmp_path / "graph.html"
    page_file.write_text(html_page(draw(GRAPH, "mid.md", 2), "mid"), encoding="utf-8")
    with playwright.sync_playwright() as engine:
        try:
            browser = engine.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("no Chromium at /usr/bin/chromium")
        page = browser.new_page()
        page.goto(page_file.as_uri())
        box = "document.querySelector('svg').getAttribute('viewBox') + document.querySelector('svg').viewBox.baseVal.x"
        width = "document.querySelector('svg').viewBox.baseVal.width"
        before, wide = page.evaluate(box), page.evaluate(width)
        page.mouse.move(300, 300)
        page.mouse.wheel(0, -100)
        page.wait_for_function(f"{width} < {wide}")
        page.mouse.down()
        page.mouse.move(400, 350)
        page.mouse.up()
        assert page.evaluate(box) != before
        browser.close()

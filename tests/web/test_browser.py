"""The pages in a real browser, on a desk and on a phone: whole stories, keys alone, and what everyone must be able to use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.ports import free_port

playwright = pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic"]
SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 800}}
NOTES = {
    "index.md": "# Home\n\n[[house/boiler]] and [[garden/beds]]\n",
    "house/boiler.md": "# Boiler\n\nThe pressure of the boiler is 1.4 bar. #heating\n\n## Valve\n\nThe pressure valve is brass.\n\n- [ ] oil it\n\n"
    f"```\n{'long ' * 60}\n```\n\n> [!warning] Hot\n> Never open it.\n",
    "house/radiators.md": "# Radiators\n\nRadiators are bled in autumn; the boiler feeds six radiators.\n",
    "garden/beds.md": "# Beds\n\nTomatoes grow in the east bed, beans in the west bed.\n",
    "garden/a-name-without-end-that-goes-on-and-on-and-on-and-on-and-on.md": "# Spade\n\nThe spade hangs in the shed.\n",
}
MEMORY = {"contextType": "memory", "contextName": "", "contextValue": ""}
WALKS = {"root": "walks", "contextType": "root", "contextName": "purpose", "contextValue": "project", "text": "Walks"}
DROPPED = (
    "The brass pressure valve of the boiler was replaced in May because it had corroded.\n\n"
    "The tomatoes in the east bed want water every morning."
)


@dataclass(frozen=True)
class Served:
    """A server of its own process, and the vault behind it."""

    base: str
    folder: Path

    def post(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.base}/api/{name}", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def write_notes(folder: Path) -> None:
    """The vault as each test finds it."""
    for file in folder.rglob("*.md"):
        if file.relative_to(folder).as_posix() not in NOTES:
            file.unlink()
    for path, text in NOTES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


@contextmanager
def serving(root: Path, **environment: str) -> Iterator[Served]:
    folder = root / "vault"
    write_notes(folder)
    port = free_port()
    command = [sys.executable, "-m", "infold", "serve", "--port", str(port), "--vault", str(folder)]
    command += ["--state", str(root / "state"), "--set", "search.embedding=static"]
    with subprocess.Popen(command, env={**os.environ, **environment}) as process:
        try:
            served = Served(f"http://127.0.0.1:{port}", folder)
            answers(served, process)
            yield served
        finally:
            process.terminate()


def answers(served: Served, process: subprocess.Popen[bytes]) -> None:
    """Waits until the server does."""
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(served.base, timeout=5).close()
        except urllib.error.URLError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not answer")


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served")) as one:
        yield one


@pytest.fixture
def served(server):
    """The server, with the notes as they were at first."""
    write_notes(server.folder)
    return server


@pytest.fixture(params=SIZES)
def page(request, browser, served):
    """A page of one of the sizes; afterwards nothing was complained of in its console."""
    context = browser.new_context(viewport=SIZES[request.param], base_url=served.base)
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    complaints: list[str] = []
    watch(opened, complaints)
    yield opened
    context.close()
    assert complaints == []


def watch(opened, complaints: list[str]) -> None:
    """Collects what the console complains of; that an answer was 404 or 409 is no complaint of the page."""
    opened.on(
        "console",
        lambda said: complaints.append(said.text) if said.type == "error" and "status of 4" not in said.text else None,
    )
    opened.on("pageerror", lambda error: complaints.append(str(error)))


def assert_fits(page) -> None:
    """Nothing is wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, page.url


def test_text_is_dropped_planned_reviewed_applied_and_taken_back(page, served):
    """One hunk is changed, one left out; the notes say so afterwards, and after undo what they said before."""
    before = {path: (served.folder / path).read_bytes() for path in NOTES}
    page.goto("/inbox")
    page.get_by_label("Drop or paste text").fill(DROPPED)
    page.get_by_role("button", name="Add to the inbox").click()
    page.get_by_text("east bed want water").wait_for()
    with page.expect_request(lambda request: request.url.endswith("/events")):
        page.get_by_role("button", name="Plan where it goes").click()
    page.wait_for_url("**/run/*")
    assert_fits(page)
    hunks = {hunk.locator("h2 a").inner_text(): hunk for hunk in page.locator(".hunk").all()}
    assert set(hunks) == {"house/boiler.md", "garden/beds.md"}
    assert "replaced in May" in hunks["house/boiler.md"].locator("ins").inner_text()
    assert "Boiler" in hunks["house/boiler.md"].locator("h2 .where").inner_text()
    hunks["garden/beds.md"].get_by_label("Leave out").check()
    hunks["house/boiler.md"].get_by_label("Change", exact=True).check()
    box = hunks["house/boiler.md"].get_by_label("The text that takes its place")
    box.fill(box.input_value() + "\n\nThe plumber was Ada.")
    assert_fits(page)
    page.get_by_role("button", name="Apply what is accepted").click()
    page.get_by_role("button", name="Undo").wait_for()
    assert_fits(page)
    assert "The plumber was Ada." in (served.folder / "house/boiler.md").read_text()
    assert (served.folder / "garden/beds.md").read_bytes() == before["garden/beds.md"]
    assert "east bed want water" in (served.folder / "inbox.md").read_text()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("as before").wait_for()
    assert {path: (served.folder / path).read_bytes() for path in NOTES} == before


def test_search_answers_as_one_types(page):
    """Results come without a button; the address follows, so that it can be kept."""
    page.goto("/search")
    page.get_by_role("searchbox", name="Search memory").press_sequentially("radiators")
    page.locator(".result a", has_text="Radiators").first.wait_for()
    page.wait_for_url("**q=radiators**")
    assert_fits(page)


def test_a_long_folder_is_turned_by_keys_and_by_links(page, served):
    """] and [ go to the next page of the list and back; the links below it do too. Nothing is wider than the window."""
    (served.folder / "many").mkdir(exist_ok=True)
    for number in range(230):
        (served.folder / f"many/{number:03}.md").write_text("# A note\n")
    page.goto("/folder/many")
    page.get_by_role("link", name="199.md").wait_for()
    assert_fits(page)
    page.keyboard.press("]")
    page.get_by_role("link", name="200.md").wait_for()
    assert page.get_by_role("link", name="199.md").count() == 0
    page.keyboard.press("[")
    page.get_by_role("link", name="199.md").wait_for()
    page.get_by_label("Pages of this list, below").get_by_role("link", name="Next").click()
    page.get_by_role("link", name="229.md").wait_for()
    assert_fits(page)


def test_of_two_tabs_the_second_sees_what_the_first_saved(page, served):
    """Both texts are on the page, nothing is overwritten, and saving again after reading settles it."""
    page.goto("/edit/garden/beds.md")
    other = page.context.new_page()
    other.goto("/edit/garden/beds.md")
    other.locator("#content").fill("# Beds\n\nFrom the first tab.\n")
    other.keyboard.press("Control+s")
    other.get_by_text("Saved.").wait_for()
    page.locator("#content").fill("# Beds\n\nFrom the second tab.\n")
    page.get_by_role("button", name="Preview").click()
    page.locator("#preview").get_by_text("From the second tab").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alert").wait_for()
    assert "From the first tab." in page.locator(".theirs").inner_text()
    assert "From the second tab." in page.locator("#content").input_value()
    assert (served.folder / "garden/beds.md").read_text() == "# Beds\n\nFrom the first tab.\n"
    assert_fits(page)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert (served.folder / "garden/beds.md").read_text() == "# Beds\n\nFrom the second tab.\n"


def test_chosen_notes_are_imported_and_walked_through(page):
    """Import, explore, in, out and back; only what was chosen is there; the map opens what is clicked."""
    page.goto("/browse")
    page.get_by_label("house", exact=True).check()
    page.get_by_role("button", name="Import what is chosen").click()
    page.wait_for_url("**/nav")
    page.get_by_label("Explore").fill("valve of the boiler")
    page.get_by_role("button", name="Explore").click()
    page.locator(".nodes a").first.wait_for()
    assert "garden/" not in page.locator(".nodes").inner_text()
    page.locator(".nodes a").first.click()
    page.locator(".crumbs").wait_for()
    inside = page.locator(".crumbs").inner_text()
    page.get_by_role("link", name="Zoom out").click()
    page.wait_for_url("**step=out")
    assert page.locator(".crumbs").inner_text() != inside
    page.get_by_role("link", name="Back").click()
    page.wait_for_url("**step=back")
    assert page.locator(".crumbs").inner_text() == inside
    assert_fits(page)


def test_the_index_is_made_again_from_the_settings(page):
    """The button starts the work, and the page shows the index afterwards."""
    page.goto("/settings")
    with page.expect_navigation():
        page.get_by_role("button", name="Rebuild the index").click()
    page.get_by_text("Files indexed").wait_for()
    assert page.locator("dd").first.inner_text() == str(len(NOTES))
    assert_fits(page)


def test_a_memory_tree_is_edited(page, served, request):
    """Begun, added to, edited, folded by key, a node deleted and brought back; arrow keys go through it."""
    page.goto("/memory")
    name = request.node.callspec.params["page"]
    if not page.get_by_label("What it is about").is_visible():
        page.get_by_text("New tree").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("What it is about").fill("Walks")
    page.get_by_role("button", name="Begin").click()
    for text in ("Along the river.", "Over the hill."):
        page.locator(".tree .node", has_text="Walks").click()
        page.get_by_text("Add a node").click()
        page.get_by_label("What it says").fill(text)
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_text("Added.").wait_for()
    page.locator(".tree .node", has_text="Over the hill.").click()
    page.locator(".chosen textarea[name=text]").fill("Over the high hill.")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved.").wait_for()
    assert_fits(page)
    page.locator(".chosen").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").wait_for()
    assert page.locator(".tree .node", has_text="high hill").count() == 0
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("It is back.").wait_for()
    assert "Over the high hill." in served.post("docmem_serialize", {"node": name})["text"]
    page.locator(".tree .node", has_text="Walks").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.innerText").startswith("Along the river.")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert not page.locator(".tree .node", has_text="Along the river.").is_visible()
    page.keyboard.press("ArrowRight")
    assert page.locator(".tree .node", has_text="Along the river.").is_visible()


def test_the_graph_is_walked_by_keys_and_opened(page):
    """The canvas is drawn; an arrow chooses the most linked note, Enter opens it; the list says the same."""
    page.goto("/graph?note=index.md&hops=1")
    page.locator("#map[data-settled]").wait_for()
    assert page.locator("details a", has_text="house/boiler.md").count() == 1
    page.locator("#map").focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    page.get_by_text("index.md: 2 links").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/note/index.md")
    assert_fits(page)


def test_the_theme_is_kept(page):
    """The button makes it light, and the next page is light before it is drawn."""
    page.emulate_media(color_scheme="dark")
    page.goto("/")
    page.get_by_role("button", name="Light or dark").click()
    page.goto("/inbox")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_a_setting_is_saved(page):
    """The value is written, and the page says where it comes from when the server starts with it."""
    page.goto("/settings")
    page.locator("#s-search\\.max_results").fill("7")
    page.get_by_role("button", name="Save search.max_results").click()
    page.get_by_text("search.max_results is written").wait_for()
    assert_fits(page)


def test_the_palette_needs_no_mouse(page):
    """Keys open it, choose a page or a note by what is typed, and go there; Escape closes it."""
    page.goto("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("set")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings")
    page.keyboard.press(":")
    page.keyboard.type("radiators")
    page.locator("#palette-list li", has_text="house/radiators.md").wait_for()
    while page.locator("#palette-list [aria-selected=true]").inner_text() != "house/radiators.md":
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/note/house/radiators.md")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    assert not page.locator("#palette").is_visible()
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox")


PAGES = ["/", "/notebook", "/folder/house", "/note/house/boiler.md", "/edit/house/boiler.md", "/search?q=boiler"]
PAGES += ["/inbox", "/runs", "/nav", "/nav?q=valve", "/browse", "/themes", "/graph", "/graph?note=index.md", "/memory"]
PAGES += ["/sources", "/evaluations", "/settings", "/note/nowhere.md", "/run/none"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A server of a vault where every page has something to show."""
    with serving(tmp_path_factory.mktemp("filled")) as one:
        one.post("import", {"paths": ["."]})
        one.post("inbox_add", {"text": DROPPED})
        plan = one.post("inbox_integrate", {"dryRun": True})["run"]
        one.post("docmem_create", WALKS)
        node = one.post("docmem_append", {"parent": "walks", "text": "Along the river.", **MEMORY})["id"]
        one.post("evaluate_summaries", {})
        with urllib.request.urlopen(f"{one.base}/evaluations", timeout=60) as answer:
            evaluation = re.search(r"/evaluations/summaries/[\w-]+", answer.read().decode())[0]
        more = [f"/run/{plan}", "/memory?root=walks", f"/memory?root=walks&node={node}", evaluation]
        yield one, [*PAGES, *more, "/memory/document?node=walks"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_everyone_can_use_every_page(browser, filled, theme, size):
    """Every page, light and dark, wide and narrow: axe finds no fault, and nothing is wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    served, pages = filled
    context = browser.new_context(
        viewport=SIZES[size], base_url=served.base, color_scheme=theme, reduced_motion="reduce"
    )
    opened = context.new_page()
    complaints: list[str] = []
    watch(opened, complaints)
    faults = {}
    for path in pages:
        opened.goto(path)
        assert_fits(opened)
        found = axe.run(opened).response["violations"]
        if found:
            faults[path] = [(each["id"], each["impact"], each["nodes"][0]["html"][:120]) for each in found]
    context.close()
    assert faults == {}
    assert complaints == []


def test_every_control_is_reached_by_tab_and_shows_it(browser, filled):
    """Tab comes to each control of each page, and what has the focus is outlined."""
    served, pages = filled
    context = browser.new_context(viewport=SIZES["desk"], base_url=served.base)
    opened = context.new_page()
    wanted = """() => [...document.querySelectorAll('a[href], button, textarea, select, summary, canvas, input:not([type=hidden])')]
        .filter((e) => e.checkVisibility() && !e.disabled && !e.closest('dialog') && e.type !== 'radio').length"""
    step = """() => { const e = document.activeElement; const seen = e.dataset.reached; e.dataset.reached = 'yes';
        return [e === document.body || Boolean(seen), getComputedStyle(e).outlineStyle, e.outerHTML.slice(0, 100)]; }"""
    for path in pages:
        opened.goto(path)
        opened.evaluate("document.activeElement.blur()")
        opened.evaluate("document.querySelector('.skip').focus()")
        while True:
            is_over, outline, element = opened.evaluate(step)
            if is_over:
                break
            assert outline != "none", (path, element)
            opened.keyboard.press("Tab")
        reached = opened.evaluate(
            "document.querySelectorAll('[data-reached]:not(body, [type=radio], pre, table, main, .scrolls)').length"
        )
        assert reached == opened.evaluate(wanted), path
    context.close()

"""The Prefect server in a real browser: a page from elsewhere gets nothing, its person gets in with the password."""

from __future__ import annotations

import http.server
import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.browser, pytest.mark.xdist_group("prefect")]

CHROMIUM = "/usr/bin/chromium"
# What a hostile page would try: reading, starting a run, both without CORS, a socket that CORS does not cover.
ATTACK = """
<!doctype html><title>elsewhere</title><script>
const api = "%s", told = {};
const asked = (name, url, options) => fetch(url, options).then(
  async answer => { told[name] = [answer.type, answer.status, (await answer.text()).length]; },
  () => { told[name] = "failed"; });
const post = {method: "POST", body: "{}", headers: {"Content-Type": "application/json"}};
const socket = new Promise(done => {
  const opened = new WebSocket(api.replace("http", "ws") + "/events/out", ["prefect"]);
  opened.onopen = () => { told.socket = "open"; opened.send(JSON.stringify({type: "auth", token: null})); };
  opened.onmessage = message => { told.message = message.data; };
  opened.onclose = () => { told.socket = told.socket || "closed"; done(); };
});
Promise.all([
  asked("health", api + "/health"),
  asked("artifacts", api + "/artifacts/filter", post),
  asked("signed in", api + "/artifacts/filter", {...post, credentials: "include"}),
  asked("simple post", api + "/flow_runs/filter", {method: "POST", body: "{}", mode: "no-cors"}),
  asked("token", api + "/csrf-token?client=x"),
  asked("page", api.replace("/api", "/")),
  socket,
]).then(() => { document.title = "done"; window.told = told; });
</script>
"""


@pytest.fixture
def page() -> Iterator[object]:
    """A page of a new browser."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        opened = browser.new_page()
        opened.set_default_timeout(120_000)
        yield opened
        browser.close()


@pytest.fixture
def elsewhere(prefect_api, tmp_path) -> Iterator[str]:
    """The address of a page on another port of this machine that attacks the server."""
    (tmp_path / "index.html").write_text(ATTACK % prefect_api)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, directory=str(tmp_path), **named)

        def log_message(self, *_arguments):
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def asked(url: str, **headers: str) -> int:
    """The status of a GET."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_page_from_elsewhere_gets_nothing(prefect_api, elsewhere, page):
    """No answer can be read, no request is carried out, no socket opens: whatever the page tries."""
    page.goto(elsewhere)
    page.wait_for_function("document.title === 'done'", timeout=120_000)
    told = page.evaluate("window.told")
    opaque = told.pop("simple post")  # sent without CORS, so it arrives; what comes back cannot be read
    assert opaque == ["opaque", 0, 0]
    assert told.pop("socket") == "closed"
    assert set(told.values()) == {"failed"}, told


def test_without_the_password_nothing_is_told(prefect_api):
    """The right address and no browser: 401 without the password, and with a wrong one; the health page is open."""
    auth = os.environ["PREFECT_API_AUTH_STRING"]
    assert asked(f"{prefect_api}/health") == 200
    assert asked(f"{prefect_api}/admin/version") == 401
    from flows.server_folder import authorization

    assert asked(f"{prefect_api}/admin/version", **authorization("infold:wrong")) == 401
    assert asked(f"{prefect_api}/admin/version", **authorization(auth)) == 200


def test_signed_in_is_not_enough_for_a_request_that_changes_something(prefect_api):
    """With the password but without a token of the page a POST is refused: what a browser adds by itself is no consent."""
    from flows.server_folder import authorization

    request = urllib.request.Request(
        f"{prefect_api}/flow_runs/filter",
        data=json.dumps({}).encode(),
        headers={"Content-Type": "application/json", **authorization(os.environ["PREFECT_API_AUTH_STRING"])},
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == 403


def test_its_person_signs_in_and_sees_the_runs(prefect_api, page):
    """The page asks for the line that `infold flows up` names, once, and then shows runs."""
    page.goto(prefect_api.removesuffix("/api") + "/runs")
    field = page.locator("input[type=password]")
    field.wait_for(timeout=120_000)
    field.fill(os.environ["PREFECT_API_AUTH_STRING"])
    with page.expect_response(
        lambda answer: "/api/flow_runs/" in answer.url and answer.request.method == "POST"
    ) as got:
        field.press("Enter")
    assert got.value.status == 200
    field.wait_for(state="detached", timeout=120_000)
    page.get_by_text("Runs").first.wait_for(timeout=120_000)

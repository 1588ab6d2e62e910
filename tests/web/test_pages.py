"""The pages: each opens, shows what it is for, and lets nobody's text run."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from itertools import chain
from urllib.parse import quote

import pytest

from infold.web.markdown import note_html

PAGES = ["/", "/notebook", "/folder/house", "/note/house/boiler.md", "/edit/house/boiler.md", "/search?q=boiler"]
PAGES += [
    "/inbox",
    "/runs",
    "/nav",
    "/nav?q=valve",
    "/browse",
    "/themes",
    "/memory",
    "/settings",
    "/graph",
    "/graph?note=index",
    "/sources",
    "/evaluations",
]


class Elements(HTMLParser):
    """The tags of a page with their attributes, as a browser would read them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def assert_harmless(self) -> None:
        """No script but this server's files, no handler, no style, no address that runs or loads from elsewhere."""
        for tag, attributes in self.found:
            assert tag not in ("iframe", "object", "embed", "style", "svg", "base"), tag
            assert not [name for name in attributes if name.startswith("on") or name == "style"], attributes
            if tag == "script":
                assert attributes.get("src", "").startswith("/static/") or attributes["type"] == "application/json"
            for name in ("href", "src", "action"):
                assert not re.match(r"\s*(javascript|data|vbscript):", attributes.get(name, ""), re.IGNORECASE)
            if tag in ("img", "form", "input"):
                assert not attributes.get("src", "").startswith(("http", "//"))
                assert not attributes.get("action", "").startswith(("http", "//"))


async def test_every_page_opens(client, vault):
    """Each page answers, with a heading and nothing inline that a policy would have to allow."""
    vault.import_notes(["."])
    async with client() as http:
        for path in PAGES:
            answer = await http.get(path)
            assert answer.status_code == 200, (path, answer.text)
            assert "<h1" in answer.text, path
            Elements(answer.text).assert_harmless()


@pytest.mark.parametrize("address", ["/folder/many", "/browse?path=many"])
async def test_a_folder_of_very_many_notes_is_shown_in_pages(client, folder, address):
    """Going from page to page by their links one meets each folder and note once, folders first; no page is long."""
    names = [f"many/{n:03}.md" for n in range(430)]
    for name in (*names, "many/inner/deep.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("# A note\n")
    listed, followed = [], [address]
    async with client() as http:
        for _ in range(3):
            text = (await http.get(followed[-1])).text
            listed.append(re.findall(r'<td><a href="([^"]+)"', text))
            followed += [unescape(link) for link in re.findall(r'rel="next" href="([^"]+)" data-key="\]"', text)]
        past = (await http.get(followed[-1].rpartition("=")[0] + "=99")).text
    assert [len(part) for part in listed] == [200, 200, 31]
    assert listed[0][0].endswith(("/folder/many/inner", "/browse?path=many/inner"))
    assert [*chain.from_iterable(listed)][1:] == [f"/note/{name}" for name in names]
    assert len(followed) == 3
    assert "401 to 431 of 431" in past


async def test_an_edit_is_saved_and_can_be_taken_back(client, folder):
    """What the box holds is the note afterwards; the run that took it back gives the bytes as they were."""
    before = (folder / "index.md").read_bytes()
    async with client() as http:
        page = (await http.get("/edit/index.md")).text
        known = re.search(r'name="hash" value="(\w+)"', page)[1]
        saved = await http.post("/edit/index.md", data={"content": "# New\r\n\r\nText.\r\n", "hash": known})
        assert saved.status_code == 303
        assert (folder / "index.md").read_text() == "# New\n\nText.\n"
        run = re.search(r"done=([\w-]+)", saved.headers["location"])[1]
        assert "as before" in (await http.post(f"/run/{run}/undo")).text
    assert (folder / "index.md").read_bytes() == before


async def test_of_two_tabs_the_second_save_is_shown_the_first(client, folder):
    """Nothing is overwritten, and neither text is lost: the page holds both."""
    async with client() as http:
        known = re.search(r'name="hash" value="(\w+)"', (await http.get("/edit/index.md")).text)[1]
        await http.post("/edit/index.md", data={"content": "first\n", "hash": known})
        second = await http.post("/edit/index.md", data={"content": "second\n", "hash": known})
    assert second.status_code == 409
    assert "second" in second.text
    assert "first" in second.text
    assert (folder / "index.md").read_text() == "first\n"


async def test_text_goes_through_the_inbox_into_a_note(client, folder):
    """Dropped, planned, shown hunk by hunk, applied as decided, taken back."""
    async with client() as http:
        text = "The boiler's pressure valve was replaced in May; the brass valve had corroded."
        assert (await http.post("/inbox/add", data={"text": text})).status_code == 303
        planned = await http.post("/inbox/plan")
        address = planned.headers["location"]
        page = (await http.get(address)).text
        assert 'name="verdict-1"' in page
        applied = await http.post(f"{address}/apply", data={"verdict-1": "accept"})
        assert applied.status_code == 303
        assert "replaced in May" in (folder / "house" / "boiler.md").read_text()
        assert (await http.post(f"{address}/undo")).status_code == 200
    assert "replaced in May" not in (folder / "house" / "boiler.md").read_text()


async def test_deleting_keeps_the_bytes(client, folder):
    """A deleted note is gone from its folder, and comes back by undo."""
    before = (folder / "house" / "boiler.md").read_bytes()
    async with client() as http:
        gone = await http.post("/delete/house/boiler.md")
        assert not (folder / "house" / "boiler.md").exists()
        await http.post(f"{gone.headers['location']}/undo")
    assert (folder / "house" / "boiler.md").read_bytes() == before


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[[a|<img src=x onerror=alert(1)>]]",
    "![[x.png|<svg onload=alert(1)>]]",
    "#<script>alert(1)</script>",
    "> [!note] <script>alert(1)</script>\n> body",
    "`</code><script>alert(1)</script>`",
    "$</span><script>alert(1)</script>$",
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    "==<script>alert(1)</script>==",
    "<div class=x style='position:fixed'>over all</div>",
    "<form action=https://evil.example><input name=q></form>",
    "<iframe src=https://evil.example></iframe>",
    "![x](https://evil.example/track.png)",
]


def test_no_text_of_a_note_becomes_markup_that_runs():
    """Whatever a note says is text, or harmless markup."""
    for text in HOSTILE:
        Elements(note_html(text, "a.md", lambda *_: None)).assert_harmless()


async def test_nothing_runs_in_any_place_where_text_of_a_note_is_shown(client, folder):
    """In the page of a note, the search that finds it, the editor, the inbox, and what was searched for."""
    text = "\n\n".join(HOSTILE)
    (folder / "xxx.md").write_text(f"# {HOSTILE[0]}\n\nquokka {text}\n")
    (folder / "inbox.md").write_text(text)
    async with client() as http:
        addresses = ["/note/xxx.md", "/search?q=quokka", "/edit/xxx.md", "/inbox"]
        addresses += [f"/search?q={quote(each)}" for each in HOSTILE[:4]]
        for address in addresses:
            Elements((await http.get(address)).text).assert_harmless()


async def test_only_pictures_of_the_vault_are_served(client, folder, tmp_path):
    """No note, no other file, nothing outside, no link that leads out."""
    (folder / "pic.png").write_bytes(b"\x89PNG")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    async with client() as http:
        assert (await http.get("/file/pic.png")).content == b"\x89PNG"
        for wrong in ("index.md", "../secret.png", "..%2fsecret.png", "out.png", "/etc/passwd", "none.png"):
            answer = await http.get(f"/file/{wrong}")
            assert answer.status_code >= 400
            assert answer.content != b"secret"


async def test_an_error_is_a_page_with_what_to_do(client):
    """What is not there is said in words, with the way on."""
    async with client() as http:
        missing = await http.get("/note/nowhere.md")
        assert missing.status_code == 404
        assert "Make it" in missing.text
        assert (await http.get("/run/none")).status_code == 404
        assert (await http.get("/nav?step=in&node=none")).status_code == 404

"""Pages as text."""

from __future__ import annotations

import json
import subprocess

import pytest

from infold.errors import FetchRefused
from infold.knowledge.fetching.client import FetchedPage
from infold.knowledge.reading.page import read_page
from infold.knowledge.reading.repository import read_folder

PARAGRAPH = "The heat pump was installed in March and has run without a fault since, at a third of the old cost. " * 4
HTML = f"""<!doctype html><html lang="en"><head><title>Heat pumps at home</title>
<meta property="article:published_time" content="2024-03-05T08:00:00Z">
<link rel="license" href="https://creativecommons.org/licenses/by/4.0/"></head>
<body><nav><a href="/">Home</a><a href="/shop">Buy now</a></nav><main><article><h1>Heat pumps at home</h1>
<p>{PARAGRAPH}</p><h2>Costs</h2><table><tr><th>Part</th><th>Price</th></tr><tr><td>Pump</td><td>9000</td></tr></table>
<p>{PARAGRAPH}</p><script>alert("x")</script></article></main><footer>Cookies and newsletter</footer></body></html>"""


def _page(
    body: bytes | str, kind: str = "text/html", url: str = "https://site.example/a/heat", charset: str = ""
) -> FetchedPage:
    return FetchedPage(url, 200, body.encode() if isinstance(body, str) else body, kind, charset)


def _pdf(text: str) -> bytes:
    """A PDF of one page that says `text`."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (A paper on pumps) /CreationDate (D:20230405120000Z) >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        out
        + b"xref\n0 7\n0000000000 65535 f \n%strailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (table, len(out))
    )


def test_html_gives_its_main_text():
    """Title, day, headings and tables stay; menus, footers and scripts do not."""
    found = read_page(_page(HTML))
    assert (found.title, found.date, found.kind) == ("Heat pumps at home", "2024-03-05", "page")
    assert "## Costs" in found.text
    assert "9000" in found.text
    assert not any(word in found.text for word in ("Buy now", "newsletter", "alert"))


def test_a_page_in_another_encoding_is_read_as_it_says():
    """The encoding that the server names wins, and one that does not exist is no error."""
    text = HTML.replace("heat pump", "Wärmepumpe")
    assert "Wärmepumpe" in read_page(_page(text.encode("latin-1"), charset="iso-8859-1")).text
    assert "Wärmepumpe" in read_page(_page(text, charset="no-such-charset")).text


@pytest.mark.parametrize(
    "body, kind",
    [
        ("<html></html>", "text/html"),
        (b"\x1f\x8bxxx", "text/html"),
        (b"a\x00b", "text/plain"),
        (b"%PDF-1.4 broken", "application/pdf"),
        ("<div>" * 60_000, "text/html"),
    ],
)
def test_what_holds_no_text_is_refused_by_name(body, kind):
    """Nothing, packed files, binary, broken PDFs, a tower of elements: the address is named, nothing else is raised."""
    with pytest.raises(FetchRefused, match=r"site\.example"):
        read_page(_page(body, kind))


def test_a_pdf_gives_its_text_by_page():
    """Its title and day, and a heading for each page."""
    found = read_page(_page(_pdf("Pumps save two thirds."), "application/pdf"))
    assert (found.kind, found.title, found.date) == ("pdf", "A paper on pumps", "2023-04-05")
    assert found.text == "## Page 1\n\nPumps save two thirds.\n"


API = {
    "openapi": "3.1.0",
    "info": {"title": "Pump API", "version": "2", "description": "Reads pumps.", "license": {"name": "MIT"}},
    "servers": [{"url": "https://pumps.example"}],
    "paths": {
        "/pumps/{id}": {
            "get": {
                "summary": "One pump",
                "parameters": [{"name": "id", "in": "path", "required": True, "description": "its number"}],
                "responses": {"200": {"description": "the pump"}},
            }
        }
    },
    "components": {
        "schemas": {
            "Pump": {"description": "A pump.", "properties": {"kw": {"type": "number", "description": "power"}}}
        }
    },
}


def test_an_api_description_becomes_its_operations():
    """JSON and YAML alike: each operation with parameters and answers, each schema, the licence."""
    import yaml

    for body, kind in ((json.dumps(API), "application/json"), (yaml.safe_dump(API), "application/yaml")):
        found = read_page(_page(body, kind))
        assert (found.kind, found.title, found.licence) == ("api", "Pump API", "MIT")
        for part in (
            "## GET /pumps/{id}",
            "- `id` (path, required): its number",
            "- answers 200: the pump",
            "## Schema Pump",
            "- `kw`: number power",
        ):
            assert part in found.text
    bomb = "openapi: 3.1.0\na: &a [x]\nb: &b [*a, *a]\npaths: *b\n"
    assert read_page(_page(bomb, "application/yaml")).kind == "text"


def test_a_sitemap_names_pages_and_loads_nothing():
    """Its addresses in order, each once; entities stay what they are, and other XML is no sitemap."""
    head = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]>'
    body = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://s.example/1 </loc></url><url><loc>https://s.example/1</loc></url><url><loc>&a;</loc></url><url><loc>https://s.example/2</loc></url></urlset>'
    found = read_page(_page(head + body, "application/xml"))
    assert found.links == ("https://s.example/1", "https://s.example/2")
    assert "root:" not in found.text


def test_a_folder_is_packed_with_a_tree(tmp_path):
    """Every file in the tree with its tokens; binary, huge and linked files not in the text; no file closes its fence."""
    (tmp_path / "LICENSE").write_text("MIT License\n\nCopyright")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("print('```')\n")
    (tmp_path / "big.txt").write_text("x" * 600_000)
    (tmp_path / "pic.bin").write_bytes(b"\x00\x01")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("secret")
    found = read_folder(tmp_path, "pumps", most_bytes=1_000_000)
    assert (found.kind, found.title, found.licence) == ("repository", "pumps", "MIT License")
    assert "big.txt  600000 bytes, left out" in found.text
    assert "  src/a.py  4 tokens" in found.text
    assert "````py\nprint('```')\n````" in found.text
    assert not any(word in found.text for word in ("secret", "root:", "link"))


def test_a_repository_is_cloned_by_its_checked_address(tmp_path):
    """A clone over HTTP of a real repository, served as files; an address inside is refused."""
    from infold.knowledge.fetching.addresses import Addresses
    from infold.knowledge.reading.repository import is_repository, read_repository
    from tests.fakes.web_site import WebSite, serving

    work = tmp_path / "work"
    for command in (
        ["init", "-q", str(work)],
        ["-C", str(work), "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *command], check=True)
    (work / "readme.md").write_text("# Pumps\n")
    subprocess.run(["git", "-C", str(work), "add", "."], check=True)
    subprocess.run(
        ["git", "-C", str(work), "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "y"], check=True
    )
    bare = tmp_path / "pumps.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(bare)], check=True)
    subprocess.run(["git", "-C", str(bare), "update-server-info"], check=True)
    with serving(WebSite()) as site:
        for file in bare.rglob("*"):
            if file.is_file():
                site.put(
                    f"/pumps.git/{file.relative_to(bare).as_posix()}",
                    file.read_bytes(),
                    kind="application/octet-stream",
                )
        url = site.url("/pumps.git")
        assert is_repository(url)
        with pytest.raises(FetchRefused, match="open network"):
            read_repository(url, Addresses(), timeout_seconds=20, most_bytes=100_000)
        try:
            found = read_repository(url, Addresses(["127.0.0.1"]), timeout_seconds=20, most_bytes=100_000)
        except FetchRefused as error:
            raise AssertionError(str(error)) from error
    assert "readme.md" in found.text
    assert "# Pumps" in found.text

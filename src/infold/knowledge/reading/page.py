"""A fetched page as text, by what its bytes are: HTML, PDF, API description, sitemap, Markdown or plain text."""

from __future__ import annotations

import codecs
import re
from typing import Final
from urllib.parse import unquote, urlsplit

from infold.errors import FetchRefused
from infold.knowledge.fetching.client import FetchedPage
from infold.knowledge.reading.html import read_html
from infold.knowledge.reading.openapi import read_api
from infold.knowledge.reading.pdf import read_pdf
from infold.knowledge.reading.records import SourceText
from infold.knowledge.reading.sitemap import read_sitemap

_DATA: Final = ("json", "yaml", "openapi")
_HEADING: Final = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)


def read_page(page: FetchedPage) -> SourceText:
    """What the page says. Raises FetchRefused where it holds no text, naming it, and ExtraMissing."""
    if page.body.startswith(b"%PDF-"):
        return read_pdf(page.body, page.url)
    if page.body[:2] == b"\x1f\x8b":
        raise FetchRefused(f"{page.url}: The file is packed, and is not unpacked.")
    kind = page.content_type
    if "xml" in kind and "xhtml" not in kind:
        pages = read_sitemap(page.body)
        if pages is not None:
            return SourceText(name_of(page.url), "\n".join(pages), "sitemap", links=tuple(pages))
    if "html" in kind or "xml" in kind or (not kind and page.body.lstrip()[:1] == b"<"):
        return read_html(page.body, page.url, page.charset)
    text = _decoded(page.body, page.charset)
    if "\x00" in text:
        raise FetchRefused(f"{page.url}: The page holds no text.")
    if any(name in kind for name in _DATA) or page.url.endswith((".json", ".yaml", ".yml")):
        api = read_api(text)
        if api is not None:
            return api
    heading = _HEADING.search(text)
    return SourceText(heading[1].strip() if heading else name_of(page.url), text, "text")


def name_of(url: str) -> str:
    """A name for what has no title: the end of its address."""
    parts = urlsplit(url)
    last = [part for part in unquote(parts.path).split("/") if part]
    return last[-1] if last else parts.netloc


def _decoded(body: bytes, charset: str) -> str:
    try:
        codecs.lookup(charset or "utf-8")
        return body.decode(charset or "utf-8", "replace").removeprefix("\ufeff")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace").removeprefix("\ufeff")

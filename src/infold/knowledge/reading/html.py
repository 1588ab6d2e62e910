"""The main text of an HTML page, without menus, banners and scripts, as Markdown. By trafilatura."""

from __future__ import annotations

import re
from typing import Final

from infold.errors import ExtraMissing, FetchRefused
from infold.knowledge.reading.records import SourceText

_MOST_TAGS: Final = 400_000  # a page of more is an attack on memory
_ISO_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_html(body: bytes, url: str, charset: str = "") -> SourceText:
    """Title, date, licence and main text. Raises FetchRefused where there is no text, and ExtraMissing."""
    try:
        from trafilatura import bare_extraction, extract
        from trafilatura.settings import Document
    except ImportError as error:
        raise ExtraMissing(
            "Reading web pages needs trafilatura, which is not installed.", hint="pip install 'infold[research]'"
        ) from error
    if body.count(b"<") > _MOST_TAGS:
        raise FetchRefused(f"{url}: The page has more than {_MOST_TAGS:,} tags.")
    source: bytes | str = body
    if charset:
        try:
            source = body.decode(charset, "replace")
        except LookupError:
            source = body
    try:
        text = extract(
            source,
            url=url,
            output_format="markdown",
            include_comments=False,
            include_tables=True,
            include_formatting=True,
            favor_recall=True,
        )
        known = bare_extraction(source, url=url, with_metadata=True, include_comments=False, fast=True)
    except (RecursionError, ValueError, AssertionError) as error:
        raise FetchRefused(f"{url}: The page cannot be read as HTML: {type(error).__name__}.") from error
    if not text or not text.strip():
        raise FetchRefused(f"{url}: The page holds no text beside its frame.")
    facts = known if isinstance(known, Document) else Document()
    day = _ISO_DAY.match(facts.date or "")
    return SourceText(
        title=" ".join((facts.title or "").split())[:300] or url,
        text=text.strip() + "\n",
        kind="page",
        date=day[0] if day else "",
        licence=" ".join((facts.license or "").split())[:100],
    )

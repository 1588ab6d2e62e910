"""What a source from outside says: a frozen record, whatever it was made of."""

from __future__ import annotations

from typing import NamedTuple


class SourceText(NamedTuple):
    """The text of a source as Markdown. `kind` is page, pdf, api, repository or text; empty texts are not known."""

    title: str
    text: str
    kind: str
    date: str = ""  # ISO day on which it was published, as far as it says
    licence: str = ""
    links: tuple[str, ...] = ()  # of a sitemap: the pages it names

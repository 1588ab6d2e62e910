"""A source as it is kept: where it is from, what is known of it, and every text it has had."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from infold.text import content_hash

FOLDER: Final = "sources"  # where results show sources; no folder of the vault
TRUST: Final = "external"  # the label that such text keeps wherever it goes

_NO_NAME: Final = re.compile(r"[^\w.-]+")


class SourceVersion(NamedTuple):
    """A text that a source has had: its content hash, and when it was fetched (ISO, UTC)."""

    content: str
    fetched: str


class SourceRecord(NamedTuple):
    """A source. Times are ISO in UTC; `published` is an ISO day; what is not known is empty."""

    url: str
    title: str
    kind: str  # page, pdf, api, repository or text
    versions: tuple[SourceVersion, ...]  # oldest first, never empty
    checked: str  # when the server was last asked
    final_url: str = ""  # after redirects
    published: str = ""
    licence: str = ""
    etag: str = ""
    last_modified: str = ""
    is_gone: bool = False  # the server says that there is no such page any more; its text stays
    is_watched: bool = False

    @property
    def content(self) -> str:
        """The content hash of the newest text."""
        return self.versions[-1].content

    @property
    def fetched(self) -> str:
        """When the newest text was fetched."""
        return self.versions[-1].fetched

    @property
    def path(self) -> str:
        """What results call it."""
        return source_path(self.url)


def source_path(url: str) -> str:
    """The path under which results show the source at `url`: readable, and no other source's."""
    parts = urlsplit(url)
    name = _NO_NAME.sub("-", unquote(parts.path).strip("/")).strip("-.")[-60:].strip("-.") or "index"
    host = _NO_NAME.sub("-", parts.hostname or "folder")
    return f"{FOLDER}/{host}/{name}-{content_hash(url)[:8]}.md"

"""The text of a PDF, page by page. By pypdf, with what it may unpack and read bounded."""

from __future__ import annotations

import io
import logging
from typing import Final

from infold.errors import ExtraMissing, FetchRefused
from infold.knowledge.reading.records import SourceText

_MOST_PAGES: Final = 2_000
_MOST_CHARACTERS: Final = 20_000_000


def read_pdf(body: bytes, url: str) -> SourceText:
    """Title, date and text, a heading for each page. Raises FetchRefused where it holds none, and ExtraMissing."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise ExtraMissing(
            "Reading PDFs needs pypdf, which is not installed.", hint="pip install 'infold[research]'"
        ) from error
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    try:
        reader = PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            raise FetchRefused(f"{url}: The PDF is locked with a password.")
        pages: list[str] = []
        length = 0
        for number, page in enumerate(reader.pages, start=1):
            text = page.extract_text().strip()
            length += len(text)
            if number > _MOST_PAGES or length > _MOST_CHARACTERS:
                raise FetchRefused(f"{url}: The PDF has more than {_MOST_PAGES} pages, or too much text.")
            if text:
                pages.append(f"## Page {number}\n\n{text}")
        facts = reader.metadata
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise FetchRefused(f"{url}: The PDF cannot be read: {str(error) or type(error).__name__}.") from error
    if not pages:
        raise FetchRefused(f"{url}: The PDF holds no text, only pictures of it.")
    title = " ".join(str((facts.title if facts else "") or "").split())
    made = facts.creation_date if facts else None
    return SourceText(
        title=title[:300] or url.rstrip("/").rpartition("/")[2] or url,
        text="\n\n".join(pages) + "\n",
        kind="pdf",
        date=made.date().isoformat() if made else "",
    )

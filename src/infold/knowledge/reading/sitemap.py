"""The pages that a sitemap names. Entities are not resolved, nothing is loaded, depth and size are bounded."""

from __future__ import annotations

from infold.errors import ExtraMissing


def read_sitemap(body: bytes) -> list[str] | None:
    """The addresses in order, each once; None where `body` is no sitemap. Raises ExtraMissing."""
    try:
        from lxml import etree
    except ImportError as error:
        raise ExtraMissing(
            "Reading sitemaps needs lxml, which is not installed.", hint="pip install 'infold[research]'"
        ) from error
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None or etree.QName(root).localname not in ("urlset", "sitemapindex"):
        return None
    found = [(element.text or "").strip() for element in root.iter("{*}loc")]
    return list(dict.fromkeys(url for url in found if url))

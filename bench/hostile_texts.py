"""Texts that could take minutes, of any size: what the bench of hostile texts and the tests of linear work read."""

from __future__ import annotations

from typing import Final

REPEATED: Final = {
    "open wiki-links": "[[",
    "wiki-links in wiki-links": "[[a",
    "images in images": "![](",
    "ends of links": "](((",
    "HTML comments": "<!--",
    "lone marks of comments": "word %% more\n\n",
    "words joined by hyphens": "word-",
    "underlined headings": "a\n---\n",
    "headings without text": "### Title\n\n",
    "one word": "a",
    "hex": "0123456789abcdef",
    "minified code": "function(a,b){return a.b[c]&&d(e)||f};",
    "a list": "- a\n",
    "fences": "```\ncode\n```\n",
    "emphasis": "**a *b `c ",
    "addresses": "http:/",
    "unspaced script": "漢字",
    "carriage returns": "\r",
    "tiny paragraphs": "ab cd\n\n",
}
NUMBERED: Final = {
    "definitions": "[r{n}]: http://x.y/{n}\n",
    "tags": "#tag{n} ",
    "links": "[[note {n}]] ",
    "footnotes": "[^{n}]: x\n",
    "notes to self": "- call plumber{n} about pump{n}\n",
    "paragraphs": "Pump {n} was mended on day {n}.\n\n",
}
NAMES: Final = (*REPEATED, *NUMBERED)


def hostile(name: str, size: int) -> str:
    """About `size` bytes of that text."""
    if name in REPEATED:
        unit = REPEATED[name]
        return unit * (size // len(unit.encode()) + 1)
    return "".join(NUMBERED[name].replace("{n}", str(n)) for n in range(size // len(NUMBERED[name]) + 1))[:size]

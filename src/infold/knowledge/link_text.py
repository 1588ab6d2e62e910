"""How a link is written again so that it names another path: brackets, encodings, definitions.

Pure text. Which path a link is to name belongs to `knowledge.moves`.
"""

from __future__ import annotations

import html
import re
from typing import Final
from urllib.parse import quote, unquote

from infold.vault.records import Link

_VAULT: Final = r"(?:dendron://[^/]*/)?"  # a vault that Dendron names before the note
_WIKI_TARGET: Final = re.compile(rf"!?\[\[\s*{_VAULT}([^#|\]]*?)\s*(?=\\?\||#|\]\])", re.IGNORECASE)
_WIKI_RIGHT: Final = re.compile(rf"!?\[\[[^|]*\|\s*{_VAULT}([^#|\]]*?)\s*(?=#|\]\])", re.IGNORECASE)
_TAIL: Final = re.compile(
    r"""\]\(\s*(?P<dest><[^<>\n]*>|[^\s<][^\s]*?|)(?:\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)""",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"(?:\]\[(?P<label>(?:[^\[\]\\]|\\.)+)\]|\[(?P<short>(?:[^\[\]\\]|\\.)+)\](?:\[\])?)\Z")
_DEFINITION: Final = re.compile(
    r"^(?:[ \t]*>)*[ ]{0,3}\[(?P<label>(?:[^\[\]\\]|\\.)+)\]:[ \t]*\n?[ \t]*(?P<dest><[^<>\n]*>|[^\s<]\S*)",
    re.MULTILINE,
)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_IN_WIKI: Final = re.compile(r"[#|^\[\]%\\\r\n]")
_IN_FRONT: Final = re.compile(r"[\"':#&*{}>!`@,]")
_BARE: Final = re.compile(r"[\x00-\x20<>()\[\]\\%#?&:*_`\"'\x7f|]")

LinkSpan = tuple[int, int]


def rewritten(
    link: Link,
    path: str,
    *,
    is_reversed: bool = False,
    keeps_shown: bool = False,
    in_front_matter: bool = False,
    in_table: bool = False,
) -> tuple[LinkSpan | None, str]:
    """Where in `link.raw` its target stands, and what is to stand there so that it names `path`.

    `is_reversed` is a wiki-link whose right side names the note. `keeps_shown` gives a wiki-link an alias where it has
    none, so that it reads as before. No span where the target stands not here but in a definition, see `definition_of`.
    """
    if not link.is_wiki:
        span = _destination(link)
        return (span, _markdown(link.raw[span[0] : span[1]], path)) if span else (None, "")
    found = (_WIKI_RIGHT if is_reversed else _WIKI_TARGET).match(link.raw)
    if found is None:
        return None, ""
    written = _wiki(path, in_front_matter=in_front_matter)
    if keeps_shown and "|" not in link.raw:
        bar = r"\|" if in_table else "|"
        return (found.start(1), len(link.raw) - 2), f"{written}{link.raw[found.end(1) : -2]}{bar}{found[1]}"
    return found.span(1), written


def definition_of(link: Link, text: str, path: str) -> tuple[int, int, str] | None:
    """Start, end and new text of the destination in the `[label]: destination` that a reference link takes it from."""
    reference = _REFERENCE.search(link.raw)
    if reference is None:
        return None
    label = _label(reference["label"] or reference["short"])
    for found in _DEFINITION.finditer(text):
        if _label(found["label"]) == label:
            if not _is_of(found["dest"], link):
                return None
            return found.start("dest"), found.end("dest"), _markdown(found["dest"], path)
    return None


def _destination(link: Link) -> LinkSpan | None:
    """Where the destination of an inline Markdown link stands in its raw text, angle brackets included."""
    at = link.raw.find("](")
    while at >= 0:
        found = _TAIL.fullmatch(link.raw, at)
        if found is not None and _is_of(found["dest"], link):
            return found.span("dest")
        at = link.raw.find("](", at + 1)
    return None


def _is_of(written: str, link: Link) -> bool:
    target = _plain(written).partition("#")[0]
    return link.target in (target.strip(), unquote(target).strip())


def _plain(written: str) -> str:
    """A destination as the parser gives it: without brackets, escapes and entities."""
    inner = written[1:-1] if written.startswith("<") else written
    return _ESCAPED.sub(r"\1", html.unescape(inner))


def _markdown(written: str, path: str) -> str:
    """The destination `written` with another path: its form, its anchor and its kind of encoding are kept."""
    is_bracketed = written.startswith("<")
    inner = written[1:-1] if is_bracketed else written
    _, hash_sign, anchor = inner.partition("#")
    if is_bracketed:
        new = re.sub(r"[<>%#\\&\r\n]", lambda sign: quote(sign[0], safe=""), path)
    elif re.search(r"%[c-fC-F][0-9a-fA-F]%", written):
        new = quote(path, safe="/!$+,;=@~.-")
    else:
        new = _BARE.sub(lambda sign: quote(sign[0], safe=""), path)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", new):
        new = new.replace(":", "%3A", 1)
    whole = f"{new}{hash_sign}{anchor}"
    return f"<{whole}>" if is_bracketed else whole


def _wiki(path: str, *, in_front_matter: bool) -> str:
    """A path as a wiki-link names it; signs that would end the link, or the YAML around it, are percent-encoded."""
    if in_front_matter:
        path = _IN_FRONT.sub(lambda sign: quote(sign[0], safe=""), path.replace("%", "%25") if "%" in path else path)
        return re.sub(r"[#|^\[\]\\\r\n]", lambda sign: quote(sign[0], safe=""), path)
    return _IN_WIKI.sub(lambda sign: quote(sign[0], safe=""), path) if re.search(r"[#|^\[\]\\\r\n]", path) else path


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()

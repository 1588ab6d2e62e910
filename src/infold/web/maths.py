r"""Formulas as MathML, which browsers draw without a script or a font of ours.

latex2mathml gives a tree; it is written here with every text escaped, and only with elements and attributes that show
something: what it writes itself would let `\text{<script>}` through.
"""

from __future__ import annotations

from functools import lru_cache
from html import escape, unescape
from typing import Final
from xml.etree.ElementTree import Element

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element

MAX_CHARACTERS: Final = 4000  # of one formula; a longer one is shown as it is written
_NOT_A_FORMULA: Final[tuple[type[Exception], ...]] = (
    *(each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)),
    *(IndexError, KeyError, ValueError, TypeError, AttributeError, RecursionError, StopIteration),  # what ends too soon
)
_ELEMENTS: Final = frozenset(
    [
        *("math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "mpadded"),
        *("mphantom", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"),
        *("mtable", "mtr", "mtd", "mlabeledtr", "menclose", "none", "merror"),
    ]
)
_ATTRIBUTES: Final = frozenset(
    [
        *("display", "displaystyle", "scriptlevel", "mathvariant", "mathcolor", "mathsize", "mathbackground"),
        *("stretchy", "fence", "separator", "form", "lspace", "rspace", "minsize", "maxsize", "movablelimits"),
        *("largeop", "symmetric", "accent", "accentunder", "linethickness", "width", "height", "depth", "notation"),
        *("columnalign", "rowalign", "columnlines", "rowlines", "columnspacing", "rowspacing", "columnspan", "frame"),
    ]
)


@lru_cache(maxsize=512)
def formula_html(written: str, *, is_block: bool) -> str:
    """A formula of TeX as MathML; where it is none, what is written, as code."""
    if len(written) <= MAX_CHARACTERS:
        try:
            return _written(convert_to_element(written, display="block" if is_block else "inline"))
        except _NOT_A_FORMULA:
            pass
    return f'<code class="no-formula">{escape(written)}</code>'


def _written(element: Element) -> str:
    inside = _text(element.text) + "".join(_written(child) + _text(child.tail) for child in element)
    if element.tag not in _ELEMENTS:
        return inside
    given = ((name, value) for name, value in element.attrib.items() if name in _ATTRIBUTES)
    attributes = "".join(f' {name}="{escape(unescape(value))}"' for name, value in given)
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


def _text(text: str | None) -> str:
    """Escaped once, whatever it was before."""
    return escape(unescape(text)) if text else ""

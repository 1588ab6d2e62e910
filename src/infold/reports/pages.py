"""Pages that stand alone: they ask nothing of the network, run no script, and all text in them is escaped.

What a report says belongs to whoever writes it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt

_TEMPLATES: Final = Path(__file__).with_name("templates")


def page(template: str, **context: Any) -> str:
    """The page that a template makes of `context`. A name that it lacks is an error."""
    return _environment().get_template(f"{template}.html").render(**context)


def markdown_page(title: str, markdown: str) -> str:
    """The page of a report in Markdown. HTML in it is text; a table is as wide as it has to be, and scrolls."""
    body = _markdown().render(markdown).replace("<table>", '<div class="card scroll"><table>')
    return page("text", title=title, body=body.replace("</table>", "</table></div>"))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")

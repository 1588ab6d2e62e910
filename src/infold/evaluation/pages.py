"""A report's Markdown as a page that stands alone: headings, paragraphs, lists and tables, all text escaped.

For the reports of this package, whose Markdown is of these few forms. It asks nothing of the network, runs no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Final

_STYLE: Final = """
:root { --page: #f7f6f3; --ink: #22252a; --line: #e4e2dc; --soft: #666b73; }
@media (prefers-color-scheme: dark) { :root { --page: #17191c; --ink: #e4e5e7; --line: #32363c; --soft: #9aa0a8; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 500; }
th, td { padding: .4rem .7rem; border-top: 1px solid var(--line); }
"""
_STRONG: Final = re.compile(r"\*\*(.+?)\*\*")


def page(title: str, markdown: str) -> str:
    """The page of a report."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>infold · {escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(_blocks(markdown))
        + "\n</main>\n</body>\n</html>\n"
    )


def _blocks(markdown: str) -> Iterator[str]:
    for block in markdown.strip().split("\n\n"):
        lines = block.split("\n")
        if lines[0].startswith("#"):
            level = len(lines[0]) - len(lines[0].lstrip("#"))
            yield f"<h{level}>{_inline(lines[0][level:].strip())}</h{level}>"
        elif lines[0].startswith("|"):
            yield (
                "<table>"
                + "".join(_row(line, "th" if n == 0 else "td") for n, line in enumerate(lines) if n != 1)
                + "</table>"
            )
        elif lines[0].startswith("- "):
            yield "<ul>" + "".join(f"<li>{_inline(line.strip().removeprefix('- '))}</li>" for line in lines) + "</ul>"
        else:
            yield f"<p>{_inline(' '.join(lines))}</p>"


def _row(line: str, cell: str) -> str:
    return (
        "<tr>" + "".join(f"<{cell}>{_inline(part.strip())}</{cell}>" for part in line.strip("|").split("|")) + "</tr>"
    )


def _inline(text: str) -> str:
    return _STRONG.sub(r"<b>\1</b>", escape(text))

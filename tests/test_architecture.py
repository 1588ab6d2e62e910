"""The map of the code is the code's: docs/architecture.md and its picture."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from scripts.architecture import PAGE, PICTURE, arrows, layers, packages, render


def test_the_map_is_that_of_the_code():
    """Packages, arrows and the words each says it owns; `python -m scripts.architecture` makes them anew."""
    page, picture = render()
    assert PICTURE.read_text() == picture
    assert _without_sizes(PAGE.read_text()) == _without_sizes(page)


def test_every_arrow_goes_down():
    """No package imports one above it or beside it, not even for a type."""
    rows = {name: place for place, row in enumerate(layers()) for name in row}
    assert [pair for pair in arrows(list(packages())) if rows[pair[0]] >= rows[pair[1]]] == []


def test_every_package_says_what_it_owns():
    """The first sentence of each package stands in the map."""
    assert [name for name, package in packages().items() if not package.owns] == []


def _without_sizes(page: str) -> list[str]:
    """The map but for files and lines, which change with every line of code."""
    return [line.rsplit("|", 3)[0] if line.startswith("| `") else line for line in page.splitlines()]


def test_a_type_name_is_used_once():
    """Of the public ones: a name says one thing in the whole package."""
    files = (Path(__file__).resolve().parents[1] / "src" / "infold").rglob("*.py")
    parsed = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    named = Counter(node.name for node in parsed if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    assert [name for name, count in named.items() if count > 1] == []

"""docs/architecture.svg and the map in docs/architecture.md from the code: `python -m scripts.architecture`.

A package is a box, an import between two packages an arrow down; the rows are the layers that import-linter holds. A
test holds that the files are what this prints.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

REPOSITORY: Final = Path(__file__).resolve().parents[1]
PICTURE: Final = REPOSITORY / "docs" / "architecture.svg"
PAGE: Final = REPOSITORY / "docs" / "architecture.md"
BEGIN, END = "<!-- map -->", "<!-- /map -->"
_ROOTS: Final = {"infold": REPOSITORY / "src" / "infold", "flows": REPOSITORY / "flows", "tasks": REPOSITORY / "tasks"}
_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 118, 34, 18, 40, 20
_LABEL: Final = "The packages of infold and which imports which"
_STYLE: Final = (
    "text{font:12px ui-monospace,monospace;fill:#343b58;text-anchor:middle}rect{fill:#e1e2e7;stroke:#8990b3}"
    "path{fill:none;stroke:#8990b3;opacity:.55}"
    "@media (prefers-color-scheme:dark){text{fill:#c0caf5}rect{fill:#24283b;stroke:#565f89}path{stroke:#7aa2f7}}"
)


class Package(NamedTuple):
    """A package or a single module of the top: its name, what it says it owns, and its size."""

    name: str
    owns: str
    files: int
    lines: int


def layers() -> list[list[str]]:
    """The rows of the direction contract, from the faces down; those in one row do not import each other."""
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip().strip("()") for name in re.split(r"[|:]", row)] for row in rows]


def packages() -> dict[str, Package]:
    """Every package of the layers, by its dotted name."""
    return {name: _package(name) for row in layers() for name in row}


def arrows(names: Sequence[str]) -> Counter[tuple[str, str]]:
    """How many modules of one package import another, for each pair."""
    found: Counter[tuple[str, str]] = Counter()
    for name in names:
        for file in _files(name):
            targets = {_owner(module, names) for module in _imports(file)}
            found.update((name, target) for target in targets if target and target != name)
    return found


def table(known: Mapping[str, Package], imported: Counter[tuple[str, str]]) -> str:
    """The map as Markdown: a row for each package."""
    lines = ["| package | owns | imports | files | lines |", "|---|---|---|---|---|"]
    for name, package in known.items():
        targets = ", ".join(f"`{_short(target)}`" for source, target in imported if source == name)
        lines.append(f"| `{_short(name)}` | {package.owns} | {targets or '-'} | {package.files} | {package.lines:,} |")
    return "\n".join(lines)


def picture(rows: Sequence[Sequence[str]], imported: Counter[tuple[str, str]]) -> str:
    """The map as SVG; it follows the reader's light or dark theme."""
    width = max(len(row) for row in rows) * (_BOX_WIDTH + _GAP_X) + 2 * _MARGIN
    height = len(rows) * (_BOX_HEIGHT + _GAP_Y) + _MARGIN
    places: dict[str, tuple[float, float]] = {}
    for y, row in enumerate(rows):
        left = (width - len(row) * (_BOX_WIDTH + _GAP_X) + _GAP_X) / 2
        for x, name in enumerate(row):
            places[name] = (left + x * (_BOX_WIDTH + _GAP_X), _MARGIN + y * (_BOX_HEIGHT + _GAP_Y))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{_LABEL}">',
        f"<style>{_STYLE}</style>",
    ]
    for source, target in sorted(imported):
        (x1, y1), (x2, y2) = places[source], places[target]
        a, b = x1 + _BOX_WIDTH / 2, x2 + _BOX_WIDTH / 2
        top, bend = y1 + _BOX_HEIGHT, (y2 - y1 - _BOX_HEIGHT) / 2
        curve = f"M{a:.0f} {top:.0f}C{a:.0f} {top + bend:.0f} {b:.0f} {y2 - bend:.0f} {b:.0f} {y2:.0f}"
        lines.append(f'<path d="{curve}"/>')
    for name, (x, y) in places.items():
        lines.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6"/>')
        lines.append(f'<text x="{x + _BOX_WIDTH / 2:.0f}" y="{y + 21:.0f}">{escape(_short(name))}</text>')
    return "\n".join([*lines, "</svg>", ""])


def render() -> tuple[str, str]:
    """The page with its map, and the picture."""
    known = packages()
    imported = arrows(list(known))
    order = {name: place for place, name in enumerate(known)}
    imported = Counter(dict(sorted(imported.items(), key=lambda item: (order[item[0][0]], order[item[0][1]]))))
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    page = f"{before}{BEGIN}\n{table(known, imported)}\n{END}{rest.split(END)[1]}"
    return page, picture(layers(), imported)


def _package(name: str) -> Package:
    files = _files(name)
    first = next((file for file in files if file.name == "__init__.py"), files[0] if files else None)
    text = ast.get_docstring(ast.parse(first.read_text(encoding="utf-8"))) if first is not None else None
    owns = " ".join((text or "").split("\n\n")[0].split())
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    return Package(name, owns.replace("|", "\\|"), len(files), lines)


def _files(name: str) -> list[Path]:
    root, _, rest = name.partition(".")
    place = _ROOTS[root].joinpath(*rest.split(".")) if rest else _ROOTS[root]
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _owner(module: str, names: Sequence[str]) -> str | None:
    return next((name for name in names if module == name or module.startswith(f"{name}.")), None)


def _short(name: str) -> str:
    return name.removeprefix("infold.")


if __name__ == "__main__":
    page, drawing = render()
    PAGE.write_text(page, encoding="utf-8")
    PICTURE.write_text(drawing, encoding="utf-8")

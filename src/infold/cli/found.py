"""How search results look to people: groups, places, snippets with their matches.

Written without rich, which takes a tenth of a second to load. Colours only on a terminal; text of notes is never taken
for markup or for control codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from infold.operations.memory import LineRange, MemorySearchAnswer, MemorySearchPlace, MemorySearchResult

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SPACES: Final = re.compile(r"\s+")
_STYLES: Final = {"path": "1;36", "heading": "1", "match": "1;33", "faint": "2", "group": "1;4"}


class Paint:
    """Colours text, or not."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on

    def __call__(self, style: str, text: str) -> str:
        """`text` in a style."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._is_on and text else text


def lines_of(found: MemorySearchAnswer, paint: Paint) -> Iterator[str]:
    """The page, line by line."""
    for source, results in found.results.items():
        if not results:
            continue
        yield paint("group", f"{source} ({len(results)})")
        for result in results:
            yield from _result_lines(result, paint)
            yield from (paint("faint", f"    {line}") for line in _reasons(result))
            for place in result.more:
                yield from _place_lines(result, place, paint)
        yield ""


def shown(text: str) -> str:
    """`text` of a note as it may go to a terminal."""
    return _CONTROL.sub("\ufffd", text)


def place_of(result: MemorySearchResult) -> str:
    """`path:start-end`, which `infold get` takes; the tree of a memory node, which has no lines."""
    return _place(result.file_path, result.lines)


def _place(path: str, lines: LineRange) -> str:
    if not lines.start:
        return shown(path)
    return f"{shown(path)}:{lines.start}" if lines.start == lines.end else f"{shown(path)}:{lines.start}-{lines.end}"


def _result_lines(result: MemorySearchResult, paint: Paint) -> Iterator[str]:
    aside = [f"{result.score:.2f}", result.date or "", "" if result.trust == "vault" else f"from {result.trust}"]
    yield f"  {paint('path', place_of(result))}  {paint('faint', '  '.join(part for part in aside if part))}"
    heading = shown(result.heading or result.title)
    if heading:
        yield f"    {paint('heading', heading)}"
    if result.snippet:
        yield f"    {_snippet(result, paint)}"


def _place_lines(result: MemorySearchResult, place: MemorySearchPlace, paint: Paint) -> Iterator[str]:
    """Another place of the note, further in."""
    yield f"    {paint('path', _place(result.file_path, place.lines))}  {paint('faint', f'{place.score:.2f}')}"
    if place.heading and place.heading != result.heading:
        yield f"      {paint('heading', shown(place.heading))}"
    if place.snippet:
        yield f"      {_snippet(place, paint)}"


def _snippet(result: MemorySearchResult | MemorySearchPlace, paint: Paint) -> str:
    """The snippet on one line, its matches set off."""
    parts: list[str] = []
    at = 0
    for start, end in result.matches:
        parts += [_flat(result.snippet[at:start]), paint("match", _flat(result.snippet[start:end]))]
        at = end
    parts.append(_flat(result.snippet[at:]))
    before, after = "… " if result.starts_inside else "", " …" if result.ends_inside else ""
    return f"{before}{''.join(parts)}{after}"


def _flat(text: str) -> str:
    return shown(_SPACES.sub(" ", text))


def _reasons(result: MemorySearchResult) -> Iterator[str]:
    if result.explain is None:
        return
    for leg in result.explain.legs:
        place = f"rank {leg.rank}, score {leg.score:.3f}" if leg.rank else "by other passages of the note"
        yield f"{leg.leg}: {place}, weight {leg.weight:g}, adds {leg.adds:.3f}"
    if result.explain.words:
        yield f"words: {', '.join(shown(word) for word in result.explain.words)}"

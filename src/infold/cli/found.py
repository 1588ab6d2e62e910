"""How search results look to people: groups, places, snippets with their matches.

Written without rich, which takes a tenth of a second to load. Colours only on a terminal; text of notes is never taken
for markup or for control codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from infold.search.query.results import Result, SearchResult

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


def lines_of(found: SearchResult, paint: Paint, *, explain: bool = False) -> Iterator[str]:
    """The page, line by line."""
    for source, results in found.groups.items():
        if not results:
            continue
        yield paint("group", f"{source} ({len(results)})")
        for result in results:
            yield from _result_lines(result, paint)
            yield from (paint("faint", f"    {line}") for line in _reasons(result) if explain)
            for place in result.more:
                yield from _place_lines(result, place, paint)
        yield ""


def shown(text: str) -> str:
    """`text` of a note as it may go to a terminal."""
    return _CONTROL.sub("\ufffd", text)


def place_of(result: Result) -> str:
    """`path:start-end`, which `infold get` takes; the tree of a memory node, which has no lines."""
    path, start, end = shown(result.path), result.start_line, result.end_line
    if not start:
        return path
    return f"{path}:{start}" if start == end else f"{path}:{start}-{end}"


def _result_lines(result: Result, paint: Paint) -> Iterator[str]:
    aside = [_score(result), result.date or "", "" if result.trust == "vault" else f"from {result.trust}"]
    yield f"  {paint('path', place_of(result))}  {paint('faint', '  '.join(part for part in aside if part))}"
    heading = shown(result.heading or result.title)
    if heading:
        yield f"    {paint('heading', heading)}"
    if result.snippet:
        yield f"    {_snippet(result, paint)}"


def _place_lines(result: Result, place: Result, paint: Paint) -> Iterator[str]:
    """Another place of the note, further in."""
    yield f"    {paint('path', place_of(place))}  {paint('faint', _score(place))}"
    if place.heading and place.heading != result.heading:
        yield f"      {paint('heading', shown(place.heading))}"
    if place.snippet:
        yield f"      {_snippet(place, paint)}"


def _score(result: Result) -> str:
    return f"{round(result.score, 4):.2f}"


def _snippet(result: Result, paint: Paint) -> str:
    """The snippet on one line, its matches set off."""
    parts: list[str] = []
    at = 0
    for start, end in result.marks:
        parts += [_flat(result.snippet[at:start]), paint("match", _flat(result.snippet[start:end]))]
        at = end
    parts.append(_flat(result.snippet[at:]))
    before, after = "… " if result.starts_inside else "", " …" if result.ends_inside else ""
    return f"{before}{''.join(parts)}{after}"


def _flat(text: str) -> str:
    return shown(_SPACES.sub(" ", text))


def _reasons(result: Result) -> Iterator[str]:
    for leg in result.evidence:
        place = f"rank {leg.rank}, score {leg.score:.3f}" if leg.rank else "by other passages of the note"
        yield f"{leg.name}: {place}, weight {leg.weight:g}, adds {leg.share:.3f}"
    if result.words:
        yield f"words: {', '.join(shown(word) for word in result.words)}"

"""What to try where nothing was found: one thing, the likeliest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.search.query.query_parser import read_question
from infold.search.terms import tokens

if TYPE_CHECKING:
    from infold.search.index.contract import Filter
    from infold.search.query.results import SearchResult
    from infold.search.query.searcher import Searcher

_FILTERED: Final = "Without the filters more is searched."
_OF_DAYS: Final = "Only daily notes, sessions, and notes with `date` or `created` in their front matter have a day."
_NEAR_SCORE: Final = 75.0
_SHORTEST: Final = 4  # letters of a word that is worth a guess


def hint_for(found: SearchResult, where: Filter, searcher: Searcher) -> str:
    """One thing to try; empty where there is none."""
    question = read_question(found.query)
    if not tokens(question.text):
        return "Ask with a word or a number; signs alone are not looked for."
    is_filtered = any((where.groups, where.prefixes, where.tags, where.since, where.until))
    if is_filtered and not searcher.count(where):
        return _OF_DAYS if where.since or where.until else _FILTERED
    if question.phrases:
        return "Without the quotes the words need not stand together."
    near = _nearest(question.keywords, searcher.titles())
    if near:
        return f"Did you mean “{near}”?"
    if is_filtered:
        return _FILTERED
    return "Other words may do, or `--min-score 0`, which shows whatever comes near."


def _nearest(text: str, titles: list[str]) -> str:
    """The word of a title that comes near a word of `text`: notes are mostly named for what they are about."""
    from rapidfuzz import fuzz, process

    known = {token.casefold() for title in titles for token in tokens(title) if len(token) >= _SHORTEST}
    for word in tokens(text):
        if len(word) < _SHORTEST or word.casefold() in known:
            continue
        best = process.extractOne(word.casefold(), known, scorer=fuzz.ratio, score_cutoff=_NEAR_SCORE)
        if best is not None:
            return str(best[0])
    return ""

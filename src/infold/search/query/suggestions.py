"""What to try where nothing was found: one thing, the likeliest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.search.index.contract import EVERYTHING
from infold.search.query.query_parser import Question, read_question
from infold.search.terms import tokens

if TYPE_CHECKING:
    from infold.search.index.contract import Filter
    from infold.search.query.results import SearchResult
    from infold.search.query.searcher import Searcher

_FILTERED: Final = "Without the filters more is searched."
_OF_DAYS: Final = "Only daily notes, sessions, and notes with `date` or `created` in their front matter have a day."


def hint_for(found: SearchResult, where: Filter, searcher: Searcher) -> str:
    """One thing to try; empty where there is none."""
    question = read_question(found.query)
    if question.says_nothing and not question.narrows:
        if question.is_plain:
            return "Ask with a word or a number; signs alone are not looked for."
        return "Say what to look for too, beside what must not be there."
    narrowed = question.narrowed(where)
    is_filtered = any((narrowed.groups, narrowed.prefixes, narrowed.tags, narrowed.since, narrowed.until))
    if is_filtered and not searcher.count(narrowed):
        return _empty(narrowed, searcher)
    if question.phrases:
        return "Without the quotes the words need not stand together."
    near = _nearest(question, searcher)
    if near:
        return f"Did you mean “{near}”?"
    if is_filtered or question.narrows:
        return _FILTERED
    if question.beginnings or question.absent:
        return "Without `*` and `-` more is searched."
    return "Other words may do, or `--min-score 0`, which shows whatever comes near."


def _empty(where: Filter, searcher: Searcher) -> str:
    """Which of the filters nothing meets."""
    for tag in where.tags:
        if not searcher.count(EVERYTHING._replace(tags=(tag,))):
            return f"Nothing is tagged #{tag}."
    folders = tuple(folder for folder in where.prefixes if not folder.endswith(".md"))
    if where.prefixes and not searcher.count(EVERYTHING._replace(prefixes=where.prefixes)):
        return f"There is no note in {' or '.join(folders or where.prefixes)}, nor one of that path."
    return _OF_DAYS if where.since or where.until else _FILTERED


def _nearest(question: Question, searcher: Searcher) -> str:
    """The word of the notes that comes near a word of the question which they have not."""
    return next(filter(None, map(searcher.nearest_word, tokens(question.keywords))), "")

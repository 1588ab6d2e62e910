"""The contextual summaries of an article's parts: the rules of the answer, the words, the offline librarian."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from infold.librarian.articles import ArticlePart, ArticleRequest, ArticleSummaries, article_messages
from infold.librarian.offline.librarian import OfflineLibrarian
from infold.text import word_count

TEXT = (
    "# Boilers\n\nA boiler makes steam. The weather was fine that day. Steam of a boiler drives the engine, "
    "and the boiler needs water. Somebody laughed.\n\n## Care\n\nClean the boiler."
)


def request(*parts: ArticlePart) -> ArticleRequest:
    return ArticleRequest("engines/boilers.md", "Boilers", TEXT, parts)


def part(number: int, text: str = TEXT, kind: str = "paragraph", words=(4, 12)) -> ArticlePart:
    return ArticlePart(number, kind, ("Boilers",), text, words)


def answer(asked: ArticleRequest, *entries: tuple[int, str]) -> ArticleSummaries:
    given = {"summaries": [{"number": number, "summary": summary} for number, summary in entries]}
    return ArticleSummaries.model_validate(given, context={"request": asked})


def test_each_part_is_summarised_exactly_once():
    """A part left out, named twice or unknown is told by its number, so that it can be corrected."""
    asked = request(part(1), part(2))
    assert answer(asked, (2, "b"), (1, "a")).by_number() == {1: "a", 2: "b"}
    for entries, said in [
        (((1, "a"),), "without a summary: 2"),
        (((1, "a"), (2, "b"), (2, "c")), "summarised twice: 2"),
        (((1, "a"), (2, "b"), (7, "c")), "no such part: 7"),
        (((1, "a"), (2, "word " * 16)), "part 2 has 16 words; at most 12"),
    ]:
        with pytest.raises(ValidationError, match=said):
            answer(asked, *entries)


def test_the_article_is_fenced_and_each_part_is_named():
    """The text of a note cannot pass for an instruction; the model sees which parts are meant."""
    asked = article_messages(request(part(3), part(4, kind="section")))[1]["content"]
    assert 'origin="engines/boilers.md"' in asked
    assert "3. the paragraph that begins “# Boilers A boiler makes steam." in asked
    assert "4. the section, at Boilers: 4 to 12 words" in asked


async def test_offline_a_short_part_is_its_own_summary_and_a_long_one_says_what_the_article_is_about():
    """No call, and of a paragraph the sentences with the article's own words."""
    librarian = OfflineLibrarian()
    long = TEXT.split("\n\n")[1]
    found = await librarian.summarise_article(request(part(1, "Clean **the** [[boiler]]."), part(2, long)))
    said = found.by_number()
    assert said[1] == "Clean the boiler."
    assert "boiler" in said[2]
    assert "laughed" not in said[2]
    assert word_count(said[2]) <= 12
    assert librarian.spend.usage.calls == 0

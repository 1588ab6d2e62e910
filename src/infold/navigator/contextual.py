"""Which parts of an article a librarian is asked about, in which requests, and what that will take (spec 5, Ingestion).

Pure: nodes in, requests and figures out. Asking and keeping belong to `navigator.importing`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from infold.librarian.articles import ArticlePart, ArticleRequest, ArticleSummaries, article_messages
from infold.navigator.nodes import NodeType
from infold.navigator.records import Article, StoredNode
from infold.text import token_count, word_count

SECTION_WORDS: Final = (30, 60)
PARAGRAPH_WORDS: Final = (12, 35)
PARTS_A_REQUEST: Final = 60
ARTICLE_TOKENS: Final = (
    24_000  # of an article that a request holds; a part of a longer one is shown with what is around
)
_TOKENS_PER_WORD: Final = 1.6
_ENTRY_TOKENS: Final = 12  # of the JSON around a summary
_FRAME_TOKENS: Final = 8


@dataclass(frozen=True, slots=True)
class Expected:
    """What requests will take: calls, prompt tokens and answer tokens, the last from low to high."""

    calls: int
    prompt_tokens: int
    answer_tokens: tuple[int, int]

    @property
    def tokens(self) -> tuple[int, int]:
        """Prompt and answer together."""
        return self.prompt_tokens + self.answer_tokens[0], self.prompt_tokens + self.answer_tokens[1]

    def __add__(self, other: Expected) -> Expected:
        """Both together."""
        low, high = (mine + theirs for mine, theirs in zip(self.answer_tokens, other.answer_tokens, strict=True))
        return Expected(self.calls + other.calls, self.prompt_tokens + other.prompt_tokens, (low, high))


NOTHING: Final = Expected(0, 0, (0, 0))


def article_requests(
    article: Article, wanted: Sequence[StoredNode], article_words: tuple[int, int]
) -> Iterator[ArticleRequest]:
    """The requests for the summaries of these nodes of an article; the number of a part is its node's ordinal."""
    for first in range(0, len(wanted), PARTS_A_REQUEST):
        some = wanted[first : first + PARTS_A_REQUEST]
        parts = tuple(_part(article, node, article_words) for node in some)
        yield ArticleRequest(article.path, article.title, _shown(article, some), parts)


def expected(request: ArticleRequest) -> Expected:
    """What a request will take, by the product's token rule, without corrections."""
    prompt = sum(token_count(message["content"]) for message in article_messages(request)) + schema_tokens()
    low = sum(int(_words(part)[0] * _TOKENS_PER_WORD) + _ENTRY_TOKENS for part in request.parts) + _FRAME_TOKENS
    high = sum(int(_words(part)[1] * _TOKENS_PER_WORD) + _ENTRY_TOKENS for part in request.parts) + _FRAME_TOKENS
    return Expected(1, prompt, (low, high))


@cache
def schema_tokens() -> int:
    """What the schema of the answer takes in each request."""
    return token_count(json.dumps(ArticleSummaries.model_json_schema()))


def _words(part: ArticlePart) -> tuple[int, int]:
    """How long the summary will be: a part that says little has little to be said of it."""
    own = max(1, word_count(part.text))
    return min(part.words[0], own), min(part.words[1], own)


def _part(article: Article, node: StoredNode, article_words: tuple[int, int]) -> ArticlePart:
    words = {NodeType.ARTICLE: article_words, NodeType.SECTION: SECTION_WORDS, NodeType.PARAGRAPH: PARAGRAPH_WORDS}
    trail = (*node.trail, node.title) if node.title else node.trail
    return ArticlePart(node.ordinal, str(node.type), trail, article.text[node.start : node.end], words[node.type])


def _shown(article: Article, some: Sequence[StoredNode]) -> str:
    """The article; of one that is too long for a request the stretch that holds these nodes, as far as that fits."""
    text = article.text
    if token_count(text) <= ARTICLE_TOKENS:
        return text
    own = [node for node in some if node.type is NodeType.PARAGRAPH] or list(some)
    room = ARTICLE_TOKENS * 4
    start, end = own[0].start, min(own[-1].end, own[0].start + room)
    spare = max(0, room - (end - start)) // 2
    return text[max(0, start - spare) : end + spare]

"""One summary of several nodes from a perspective, kept by what it was made of (spec 5, Aggregation; summary cache)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from infold.durable.records import moment
from infold.librarian.answers import Summary
from infold.librarian.base import Librarian
from infold.librarian.perspectives import PerspectiveRequest, perspective_messages
from infold.librarian.prompts import DecisionKind
from infold.navigator.choices import KeptSummary
from infold.navigator.records import StoredNode, content_of
from infold.navigator.store import NavigatorStore
from infold.text import token_count

TARGET_WORDS: Final = (60, 120)
_CHARACTERS_EACH: Final = 6_000
_LEVEL: Final = "together"
_TOKENS_PER_WORD: Final = 1.6
_FRAME_TOKENS: Final = 10


def kept_together(store: NavigatorStore, nodes: Sequence[StoredNode], perspective: str) -> str | None:
    """The summary that was made of just these contents, from this perspective."""
    key = content_of(nodes)
    return store.choices.summaries([key], _lens(perspective)).get(key)


async def summarise_together(
    store: NavigatorStore, nodes: Sequence[StoredNode], perspective: str, librarian: Librarian
) -> str:
    """Makes the summary and keeps it. Raises LibrarianFault."""
    answer = await librarian.summarise_together(_request(store, nodes, perspective))
    key = content_of(nodes)
    store.choices.keep(
        [
            KeptSummary(
                key,
                _lens(perspective),
                nodes[0].id,
                _LEVEL,
                answer.summary,
                key,
                librarian.signature(DecisionKind.PERSPECTIVE),
                moment(),
            )
        ]
    )
    return answer.summary


def expected_together(
    store: NavigatorStore, nodes: Sequence[StoredNode], perspective: str
) -> tuple[int, tuple[int, int]]:
    """The tokens of the question, and of the answer from low to high."""
    messages = perspective_messages(_request(store, nodes, perspective))
    prompt = sum(token_count(message["content"]) for message in messages)
    prompt += token_count(json.dumps(Summary.model_json_schema()))
    low, high = (int(words * _TOKENS_PER_WORD) + _FRAME_TOKENS for words in TARGET_WORDS)
    return prompt, (low, high)


def _request(store: NavigatorStore, nodes: Sequence[StoredNode], perspective: str) -> PerspectiveRequest:
    passages = tuple((f"{node.path}:{node.line}", store.text(node)[:_CHARACTERS_EACH]) for node in nodes)
    return PerspectiveRequest(passages, perspective, TARGET_WORDS)


def _lens(perspective: str) -> str:
    """What the cache calls the perspective: '' is a node's own summary, so none is never that."""
    return f"perspective:{' '.join(perspective.casefold().split())}"

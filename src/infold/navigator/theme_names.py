"""Names and summaries of themes that a librarian gave, kept by the content of the theme (spec 5, cached summaries).

A theme whose notes change has the name that its terms make, until it is named again. What a model gave comes before
what was made without one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from infold.durable.records import moment
from infold.librarian.base import Librarian
from infold.librarian.prompts import DecisionKind
from infold.librarian.theme_names import MOST_SUMMARY_WORDS, NamingRequest, ThemeCard, ThemeNames, naming_messages
from infold.navigator.choices import KeptSummary
from infold.navigator.records import StoredNode
from infold.navigator.store import NavigatorStore
from infold.navigator.themes import Theme
from infold.text import collapse_spaces, token_count

MAKERS: Final = ("offline", "model")  # of names, the better last
_AT_ONCE: Final = 24  # themes that one decision names
_CHARACTERS_EACH: Final = 600  # of a note that stands for a theme
_ANSWER_TOKENS: Final = (20, int(MOST_SUMMARY_WORDS * 1.6) + 30)  # of one theme, from low to high
_LEVEL: Final = "theme"


def with_names(store: NavigatorStore, themes: Sequence[Theme]) -> tuple[Theme, ...]:
    """The themes under the names that were kept for them, with their summaries; the others as they are."""
    names: dict[str, str] = {}
    summaries: dict[str, str] = {}
    contents = [theme.content_hash for theme in themes]
    for maker in MAKERS:
        names |= store.choices.summaries(contents, _name_of(maker))
        summaries |= store.choices.summaries(contents, _summary_of(maker))
    return tuple(
        replace(
            theme,
            name=names.get(theme.content_hash, theme.name),
            summary=summaries.get(theme.content_hash, theme.summary),
        )
        for theme in themes
    )


def unnamed(store: NavigatorStore, themes: Sequence[Theme], maker: str) -> list[Theme]:
    """The themes that have no name yet of this maker."""
    kept = store.choices.summaries([theme.content_hash for theme in themes], _name_of(maker))
    return [theme for theme in themes if theme.content_hash not in kept]


async def name_themes(store: NavigatorStore, themes: Sequence[Theme], maker: str, librarian: Librarian) -> None:
    """Names those that are unnamed, and keeps each answer as it comes. Raises LibrarianFault."""
    for request in _requests(store, unnamed(store, themes, maker)):
        answer = await librarian.name_themes(request)
        by_number = {theme.number: theme for theme in themes}
        signature = librarian.signature(DecisionKind.THEMES)
        store.choices.keep(
            [
                _kept(by_number[entry.number], lens, text, signature)
                for entry in answer.themes
                for lens, text in ((_name_of(maker), entry.name), (_summary_of(maker), entry.summary))
            ]
        )


def expected_names(store: NavigatorStore, themes: Sequence[Theme], maker: str) -> tuple[int, int, tuple[int, int]]:
    """How many calls it takes to name those that are unnamed, the tokens of the questions, and of the answers."""
    wanted = unnamed(store, themes, maker)
    schema = token_count(json.dumps(ThemeNames.model_json_schema()))
    asked = [
        schema + sum(token_count(message["content"]) for message in naming_messages(request))
        for request in _requests(store, wanted)
    ]
    low, high = (len(wanted) * tokens for tokens in _ANSWER_TOKENS)
    return len(asked), sum(asked), (low, high)


def _requests(store: NavigatorStore, themes: Sequence[Theme]) -> Iterator[NamingRequest]:
    nodes = store.nodes([node_id for theme in themes for node_id in theme.representatives])
    for first in range(0, len(themes), _AT_ONCE):
        yield NamingRequest(tuple(_card(store, theme, nodes) for theme in themes[first : first + _AT_ONCE]))


def _card(store: NavigatorStore, theme: Theme, nodes: Mapping[str, StoredNode]) -> ThemeCard:
    standing = [nodes[node_id] for node_id in theme.representatives if node_id in nodes]
    notes = tuple((node.path, f"{node.title}. {_said(store, node)}") for node in standing)
    return ThemeCard(theme.number, theme.name, theme.terms, len(theme.nodes), notes)


def _said(store: NavigatorStore, node: StoredNode) -> str:
    return collapse_spaces(node.summary or store.text(node))[:_CHARACTERS_EACH]


def _kept(theme: Theme, lens: str, text: str, signature: str) -> KeptSummary:
    content = theme.content_hash
    node = theme.representatives[0] if theme.representatives else ""
    return KeptSummary(content, lens, node, _LEVEL, collapse_spaces(text), content, signature, moment())


def _name_of(maker: str) -> str:
    return f"theme-name:{maker}"


def _summary_of(maker: str) -> str:
    return f"theme-summary:{maker}"

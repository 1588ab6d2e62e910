"""Where an incoming document or conversation belongs among memory trees: the request, the typed answer, the words.

The rules of an answer are its validators, as in `librarian.answers`: a tree or a part that was not shown fails.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Self

from pydantic import Field, ValidationInfo, model_validator

from infold.librarian.answers import Answer
from infold.librarian.prompts import prompt
from infold.text import collapse_spaces, fenced

NONE: Final = "none"  # the answer that no tree fits, so that a new one should be made


@dataclass(frozen=True, slots=True)
class PartCard:
    """A part of a tree that a document may go below: what it is about, and how much search found of it there."""

    id: str
    title: str
    about: str
    evidence: float = 0.0  # 0 to 1
    found: tuple[str, ...] = ()  # what is nearest to the document there, as written


@dataclass(frozen=True, slots=True)
class TreeCard:
    """A tree: what it is about, its parts, and how much of the document search found in it."""

    id: str
    title: str
    about: str
    parts: tuple[PartCard, ...] = ()
    evidence: float = 0.0  # 0 to 1
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HomeRequest:
    """A document, the beginning of it at least, and the trees there are."""

    name: str
    text: str
    trees: tuple[TreeCard, ...]

    def tree(self, tree_id: str) -> TreeCard | None:
        """The card of that id."""
        return next((card for card in self.trees if card.id == tree_id), None)


class Home(Answer):
    """Where a document belongs: a tree, and a part of it where one fits; or none."""

    tree: str = Field(description="The id of one of the TREES exactly as shown, or 'none' where no tree fits.")
    part: str = Field(default="", description="The id of one of that tree's parts, or empty for the tree as a whole.")
    score: float = Field(ge=0, le=1, description="How sure this is, from 0 to 1.")
    reason: str = Field(min_length=1, description="One sentence: why there, or why nowhere.")

    @model_validator(mode="after")
    def _names_what_was_shown(self, info: ValidationInfo) -> Self:
        request: HomeRequest | None = (info.context or {}).get("request")
        if request is None:
            return self
        if self.tree == NONE:
            if self.part:
                raise ValueError("part must be empty where tree is 'none'")
            return self
        card = request.tree(self.tree)
        if card is None:
            known = ", ".join(tree.id for tree in request.trees) or "there are no trees"
            raise ValueError(f"there is no tree {self.tree!r}; answer with one of: {known}; or 'none'")
        if self.part and self.part not in {part.id for part in card.parts}:
            known = ", ".join(part.id for part in card.parts) or "it has no parts"
            raise ValueError(f"the tree {self.tree!r} has no part {self.part!r}: {known}; or leave part empty")
        return self

    @property
    def is_none(self) -> bool:
        """Whether a new tree should be made."""
        return self.tree == NONE


def home_messages(request: HomeRequest) -> list[dict[str, Any]]:
    """The whole conversation that asks where a document belongs."""
    cards = "\n\n".join(_card(tree) for tree in request.trees) or "(none yet)"
    asked = prompt(
        "home/request",
        trees=fenced(cards, label="trees", origin="memory"),
        document=fenced(request.text, label="document", origin=json.dumps(request.name)),
    )
    return [{"role": "system", "content": prompt("home/system")}, {"role": "user", "content": asked}]


def _card(tree: TreeCard) -> str:
    lines = [f"TREE {tree.id}: {collapse_spaces(tree.title)}", collapse_spaces(tree.about)]
    lines += [f"nearest to the document: {collapse_spaces(text)}" for text in tree.found]
    lines += [f"- part {part.id}: {collapse_spaces(part.title)}. {collapse_spaces(part.about)}" for part in tree.parts]
    return "\n".join(line for line in lines if line)

"""The contextual summaries of an article's parts: the request, the typed answer, the words (spec 5, Ingestion).

One decision gives the summaries of all parts that are asked for; the rules of an answer are its validators, as in
`librarian.answers`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from infold.librarian.answers import Answer
from infold.librarian.prompts import prompt
from infold.text import collapse_spaces, fenced, word_count

_SHOWN_CHARACTERS = 80  # of a paragraph, to tell which one is meant


@dataclass(frozen=True, slots=True)
class ArticlePart:
    """A part to summarise. `number` is its own; `trail` the titles above it, its own last where it has one."""

    number: int
    kind: str  # article, section or paragraph
    trail: tuple[str, ...]
    text: str
    words: tuple[int, int]  # fewest and most of the summary


@dataclass(frozen=True, slots=True)
class ArticleRequest:
    """An article, whole, and the parts whose summaries are wanted."""

    path: str
    title: str
    text: str
    parts: tuple[ArticlePart, ...]


class PartSummary(BaseModel):
    """The summary of one part."""

    model_config = ConfigDict(extra="ignore")

    number: int = Field(description="The number of the part.")
    summary: str = Field(min_length=1, description="Its summary: plain prose, as long as asked for.")


class ArticleSummaries(Answer):
    """The summaries of an article's parts: every part that was asked for exactly once."""

    summaries: list[PartSummary] = Field(description="One entry a part, in any order.")

    @model_validator(mode="after")
    def _each_part_once(self, info: ValidationInfo) -> Self:
        request: ArticleRequest | None = (info.context or {}).get("request")
        if request is None:
            return self
        wanted = {part.number: part for part in request.parts}
        given = Counter(entry.number for entry in self.summaries)
        problems = [
            f"{what}: {', '.join(map(str, numbers))}"
            for what, numbers in (
                ("no such part", sorted(set(given) - set(wanted))),
                ("summarised twice", sorted(number for number, times in given.items() if times > 1)),
                ("without a summary", sorted(set(wanted) - set(given))),
            )
            if numbers
        ]
        for entry in self.summaries:
            part, count = wanted.get(entry.number), word_count(entry.summary)
            # The upper bound is the rule; a part of few words has no more to say.
            if part is not None and count > part.words[1] * 5 // 4:
                problems.append(f"part {entry.number} has {count} words; at most {part.words[1]} are wanted")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def by_number(self) -> dict[int, str]:
        """The summaries by the number of their part."""
        return {entry.number: collapse_spaces(entry.summary) for entry in self.summaries}


def article_messages(request: ArticleRequest) -> list[dict[str, Any]]:
    """The whole conversation that asks for the summaries."""
    listed = "\n".join(_line(part) for part in request.parts)
    asked = prompt(
        "article/request",
        article=fenced(request.text, label="article", origin=json.dumps(request.path, ensure_ascii=True)),
        parts=fenced(listed, label="parts", origin="article"),
    )
    return [{"role": "system", "content": prompt("article/system")}, {"role": "user", "content": asked}]


def _line(part: ArticlePart) -> str:
    below = " > ".join(collapse_spaces(title) for title in part.trail)
    begins = collapse_spaces(part.text)[:_SHOWN_CHARACTERS]
    what = f"the {part.kind}" if part.kind != "paragraph" else f"the paragraph that begins “{begins}”"
    return f"{part.number}. {what}, at {below or 'the top'}: {part.words[0]} to {part.words[1]} words"

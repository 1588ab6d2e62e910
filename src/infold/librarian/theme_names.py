"""Names for themes of notes, and a sentence on each: the request, the typed answer, the words (spec 5, Queries).

One decision names several themes, so that their names tell them apart. Which notes make a theme belongs to
`navigator.themes`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from infold.librarian.answers import Answer
from infold.librarian.perspectives import PerspectiveRequest, extracted
from infold.librarian.prompts import prompt
from infold.text import collapse_spaces, fenced, word_count, words

MOST_NAME_WORDS: Final = 6
MOST_SUMMARY_WORDS: Final = 45
_FEWEST_SUMMARY_WORDS: Final = 15


@dataclass(frozen=True, slots=True)
class ThemeCard:
    """A theme to name: its name until now, its telling words, and notes that stand for it, as (path, text)."""

    number: int
    name: str
    terms: tuple[str, ...]
    note_count: int
    notes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NamingRequest:
    """The themes whose names are wanted; their numbers are their own."""

    themes: tuple[ThemeCard, ...]


class ThemeName(BaseModel):
    """What one theme is called, and what it is about."""

    model_config = ConfigDict(extra="ignore")

    number: int = Field(description="The number of the theme.")
    name: str = Field(min_length=1, description="Its name: a few words.")
    summary: str = Field(min_length=1, description="What its notes are about: one or two sentences.")


class ThemeNames(Answer):
    """Every theme that was asked for exactly once, each with a name of its own."""

    themes: list[ThemeName] = Field(description="One entry a theme, in any order.")

    @model_validator(mode="after")
    def _each_theme_once(self, info: ValidationInfo) -> Self:
        request: NamingRequest | None = (info.context or {}).get("request")
        if request is None:
            return self
        wanted = {card.number for card in request.themes}
        given = Counter(entry.number for entry in self.themes)
        names = Counter(collapse_spaces(entry.name).casefold() for entry in self.themes)
        problems = [
            f"{what}: {', '.join(map(str, which))}"
            for what, which in (
                ("no such theme", sorted(set(given) - wanted)),
                ("named twice", sorted(number for number, times in given.items() if times > 1)),
                ("without a name", sorted(wanted - set(given))),
                ("the name of several themes", sorted(name for name, times in names.items() if times > 1)),
            )
            if which
        ]
        for entry in self.themes:
            for what, text, most in (
                ("name", entry.name, MOST_NAME_WORDS),
                ("summary", entry.summary, MOST_SUMMARY_WORDS * 5 // 4),
            ):
                if word_count(text) > most:
                    problems.append(f"the {what} of theme {entry.number} has {word_count(text)} words; at most {most}")
        if problems:
            raise ValueError("; ".join(problems))
        return self


def naming_messages(request: NamingRequest) -> list[dict[str, Any]]:
    """The whole conversation that asks for the names."""
    asked = prompt(
        "themes/request",
        count=len(request.themes),
        most_name=MOST_NAME_WORDS,
        most_summary=MOST_SUMMARY_WORDS,
        themes="\n\n".join(_shown(card) for card in request.themes),
    )
    return [{"role": "system", "content": prompt("themes/system")}, {"role": "user", "content": asked}]


def names_by_terms(request: NamingRequest) -> ThemeNames:
    """The names that themes have, and their notes' sentences that say most of their terms, without a model."""
    taken: set[str] = set()
    named: list[dict[str, object]] = []
    for card in request.themes:
        name = _own_name(card, taken)
        taken.add(name.casefold())
        perspective = PerspectiveRequest(card.notes, " ".join(card.terms), (_FEWEST_SUMMARY_WORDS, MOST_SUMMARY_WORDS))
        named.append({"number": card.number, "name": name, "summary": extracted(perspective) or name})
    return ThemeNames.model_validate({"themes": named}, context={"request": request})


def _own_name(card: ThemeCard, taken: AbstractSet[str]) -> str:
    """What the card says, as long as a name may be; with its number where another has it."""
    name = card.name if word_count(card.name) <= MOST_NAME_WORDS else " ".join(words(card.name)[: MOST_NAME_WORDS - 1])
    return f"{name} {card.number}" if name.casefold() in taken or not name else name


def _shown(card: ThemeCard) -> str:
    said = "\n\n".join(
        fenced(collapse_spaces(text), label="note", origin=json.dumps(path, ensure_ascii=True))
        for path, text in card.notes
    )
    terms = fenced(", ".join(card.terms) or card.name, label="words", origin="notes")
    return f"Theme {card.number}, {card.note_count} notes. It says these words more than the others:\n{terms}\n{said}"

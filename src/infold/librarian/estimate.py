"""What a run with a model will take, before it is started: calls, tokens and dollars, from low to high.

How the range comes about. Every request of a conversation sends all that was said before, so the prompts of a chunk add
up; both ends play such conversations through with the real prompts and the product's token rule (a quarter of the
characters), and differ in these:

| | low | high |
|---|---|---|
| chunks | as few as the word limit allows | every paragraph alone |
| exploration | the root is what fits: check out at once | every round is used, half of the views taken |
| a card | few headings and links | many |
| checked out | one short note | two thirds of what is allowed, longer ones |
| corrections | none | one for every summary, grouping and set of edits |

The ends are what is likely, not what is possible: a model that needs more corrections, very long notes, or a tokenizer
that counts more than the rule can pass the high one. The cap (`librarian.max_tokens`, `librarian.max_usd`) is what
holds. Answers that are already kept cost nothing and are not foreseen here, so a run taken up again costs less; nor is
thinking that a model bills as part of its answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from infold.librarian.answers import Answer, Grouping, Look, Paragraph, Summary
from infold.librarian.edit_answers import Edits
from infold.librarian.prompts import prompt
from infold.librarian.spend import Price
from infold.settings import Params
from infold.text import token_count, word_count

_TOKENS_PER_WORD: Final = 1.6  # six and a half characters, the space included
_FENCE_TOKENS: Final = 22  # the two lines around a piece of material
_PATH_TOKENS: Final = 10
_NAME_TOKENS: Final = 8  # a sampled name
_LOOK_ANSWER_TOKENS: Final = (12, 60)
_CORRECTION_TOKENS: Final = 90  # what was wrong, said to the model
_CARD_EXTRAS: Final = ((2, 2), (12, 8))  # headings and links of a viewed note
_HEADING_TOKENS: Final = 8
_NOTE_TOKENS: Final = (150, 2000)  # a checked-out note
_EDIT_FRAME_TOKENS: Final = (60, 250)  # the JSON around the text, and the anchors quoted


class Estimate(BaseModel):
    """What is to be expected, each as (low, high). `usd` is None where the price of the model is unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    calls: tuple[int, int]
    prompt_tokens: tuple[int, int]
    completion_tokens: tuple[int, int]
    usd: tuple[float, float] | None

    @property
    def tokens(self) -> tuple[int, int]:
        """Prompt and completion together, as `librarian.max_tokens` counts them."""
        low, high = (p + c for p, c in zip(self.prompt_tokens, self.completion_tokens, strict=True))
        return low, high

    def __str__(self) -> str:
        price = "price unknown" if self.usd is None else f"{self.usd[0]:.2f} to {self.usd[1]:.2f} USD"
        low, high = self.tokens
        return f"{self.calls[0]} to {self.calls[1]} calls, {low} to {high} tokens, {price}"


def estimate(
    paragraphs: Sequence[Paragraph],
    unsummarised_tokens: Sequence[int],
    params: Params,
    price: Price | None = None,
) -> Estimate:
    """What grouping and folding in `paragraphs` will take, and summarising the notes that have no summary yet.

    `unsummarised_tokens` are the token counts of those notes (for an index note: of its linked notes' summaries).
    """
    low, high = _Meter(), _Meter()
    for meter, corrections in ((low, 0), (high, min(1, params.editing.max_corrections))):
        _summaries(meter, unsummarised_tokens, params, corrections)
        if paragraphs:
            _grouping(meter, paragraphs, params, corrections)
            _chunks(meter, paragraphs, params, corrections, end=0 if meter is low else 1)
    usd = None
    if price is not None:
        usd = (price(low.prompt, 0, low.completion), price(high.prompt, 0, high.completion))
    return Estimate(
        calls=(low.calls, high.calls),
        prompt_tokens=(low.prompt, high.prompt),
        completion_tokens=(low.completion, high.completion),
        usd=usd,
    )


@dataclass(slots=True)
class _Meter:
    """Calls and tokens of one end of the range, over conversations played through."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    _said: int = 0

    def begin(self, system_tokens: int) -> None:
        self._said = system_tokens

    def ask(self, message_tokens: int, answer_tokens: int, schema_tokens: int, corrections: int) -> None:
        for message in (message_tokens, *[_CORRECTION_TOKENS] * corrections):
            self._said += message
            self.calls += 1
            self.prompt += self._said + schema_tokens
            self.completion += answer_tokens
            self._said += answer_tokens


def _summaries(meter: _Meter, note_tokens: Sequence[int], params: Params, corrections: int) -> None:
    words = params.summary.summary_target_words
    system = token_count(prompt("summary/system"))
    asked = token_count(prompt("summary/request", words="75-100", note="")) + _FENCE_TOKENS
    for tokens in note_tokens:
        meter.begin(system)
        meter.ask(asked + tokens, _summary_tokens(words[1 if corrections else 0]), _schema_tokens(Summary), corrections)


def _grouping(meter: _Meter, paragraphs: Sequence[Paragraph], params: Params, corrections: int) -> None:
    words = sum(word_count(p.text) for p in paragraphs)
    requests = max(1, math.ceil(words / params.chunking.max_words_per_request))
    names = params.chunking.granularity_sample_size * _NAME_TOKENS
    system = token_count(prompt("group/system", max_words=params.chunking.max_chunk_words))
    asked = token_count(prompt("group/request", names="", paragraphs="", numbers="")) + names
    share = math.ceil(_paragraph_tokens(paragraphs) / requests)
    answer = 8 + 3 * math.ceil(len(paragraphs) / requests)
    for _ in range(requests):
        meter.begin(system)
        meter.ask(asked + share, answer, _schema_tokens(Grouping), corrections)


def _chunks(meter: _Meter, paragraphs: Sequence[Paragraph], params: Params, corrections: int, *, end: int) -> None:
    explore = params.exploration
    headings, links = _CARD_EXTRAS[end]
    summary = _summary_tokens(params.summary.summary_target_words[end]) + _PATH_TOKENS
    card = summary + headings * _HEADING_TOKENS + links * summary + _PATH_TOKENS
    words = sum(word_count(p.text) for p in paragraphs)
    chunks = [max(1, math.ceil(words / params.chunking.max_chunk_words)), len(paragraphs)][end]
    text = math.ceil(_paragraph_tokens(paragraphs) / chunks)
    viewing_rounds = explore.max_exploration_rounds if end else 0
    views = math.ceil(min(viewing_rounds * explore.max_files_viewed_per_round, explore.max_files_viewed_total) / 2)
    checked_out = math.ceil(explore.max_files_checked_out * 2 / 3) if end else 1
    for _ in range(chunks):
        meter.begin(token_count(prompt("chunk/system")))
        first = text + card + explore.search_candidates * summary + _FENCE_TOKENS
        for round_ in range(viewing_rounds + 1):
            seen = first if round_ == 0 else math.ceil(views / viewing_rounds) * card + _FENCE_TOKENS
            meter.ask(60 + seen, _LOOK_ANSWER_TOKENS[end], _schema_tokens(Look), 0)
        notes = checked_out * (_NOTE_TOKENS[end] + _FENCE_TOKENS)
        meter.ask(40 + notes, text + _EDIT_FRAME_TOKENS[end], _schema_tokens(Edits), corrections)


def _paragraph_tokens(paragraphs: Sequence[Paragraph]) -> int:
    return sum(token_count(p.text) + _FENCE_TOKENS for p in paragraphs)


def _summary_tokens(words: int) -> int:
    return math.ceil(words * _TOKENS_PER_WORD)


def _schema_tokens(answer: type[Answer]) -> int:
    return token_count(json.dumps(answer.model_json_schema()))

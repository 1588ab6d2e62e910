"""What of the passages that were found goes into a context, and how much of each (spec 4: "auto", LLM decides).

One decision; that its pieces are known, each chosen once, and fit, are its validators. Without a model it is taken by
measured value, in `knowledge.filling`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from infold.librarian.answers import Answer
from infold.librarian.estimate import Estimate
from infold.librarian.prompts import prompt
from infold.librarian.spend import Price
from infold.text import fenced, token_count

OWN: Final = "vault"  # the trust of a person's own text
_PIECE_ANSWER_TOKENS: Final = 14  # of one chosen piece
_FRAME_TOKENS: Final = 20


@dataclass(frozen=True, slots=True)
class OfferedPiece:
    """A passage that may go in. `brief` is how it reads in short; the tokens are those of its whole element."""

    place: str
    heading: str
    trust: str
    brief: str
    whole_tokens: int
    key_tokens: int


@dataclass(frozen=True, slots=True)
class CompressionRequest:
    """The question, the pieces (numbered from 1), the likeliest first, and the tokens that there is room for."""

    question: str
    pieces: tuple[OfferedPiece, ...]
    room_tokens: int


class ChosenPiece(BaseModel):
    """One piece that goes in."""

    model_config = ConfigDict(extra="ignore")

    number: int = Field(ge=1, description="The number of the piece.")
    form: Literal["whole", "key"] = Field(description="whole, or key: its key sentences alone.")


class Compression(Answer):
    """The pieces that go in, the most telling first."""

    pieces: list[ChosenPiece] = Field(min_length=1, description="The chosen pieces, the most telling first.")

    @model_validator(mode="after")
    def _fits(self, info: ValidationInfo) -> Self:
        request: CompressionRequest | None = (info.context or {}).get("request")
        if request is None:
            return self
        numbers = [piece.number for piece in self.pieces]
        unknown = sorted({number for number in numbers if number > len(request.pieces)})
        if unknown:
            raise ValueError(f"there is no piece {', '.join(map(str, unknown))}: they end with {len(request.pieces)}")
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            raise ValueError(f"chosen twice: {', '.join(map(str, twice))}")
        taken = sum(_tokens_of(request.pieces[piece.number - 1], piece.form) for piece in self.pieces)
        if taken > request.room_tokens:
            raise ValueError(
                f"these take {taken} tokens, and there is room for {request.room_tokens}: leave some out, or take more "
                "of them as key sentences"
            )
        return self


def compression_messages(request: CompressionRequest) -> list[dict[str, Any]]:
    """The whole conversation that asks for the choice."""
    asked = prompt(
        "compression/request",
        question=fenced(request.question, label="question", origin="person"),
        room=request.room_tokens,
        pieces="\n\n".join(_labelled(number, piece) for number, piece in enumerate(request.pieces, start=1)),
    )
    return [{"role": "system", "content": prompt("compression/system")}, {"role": "user", "content": asked}]


def estimate_compression(request: CompressionRequest, corrections: int, price: Price | None) -> Estimate:
    """What a model takes for the choice, from one piece at once to every answer corrected."""
    prompt_tokens = sum(token_count(message["content"]) for message in compression_messages(request))
    prompt_tokens += token_count(json.dumps(Compression.model_json_schema()))
    most = _FRAME_TOKENS + _PIECE_ANSWER_TOKENS * len(request.pieces)
    calls = 1 + corrections
    low, high = _FRAME_TOKENS + _PIECE_ANSWER_TOKENS, calls * most
    prompts = prompt_tokens, calls * prompt_tokens + most * corrections * calls
    usd = (price(prompts[0], 0, low), price(prompts[1], 0, high)) if price else None
    return Estimate(calls=(1, calls), prompt_tokens=prompts, completion_tokens=(low, high), usd=usd)


def _tokens_of(piece: OfferedPiece, form: Literal["whole", "key"]) -> int:
    return piece.whole_tokens if form == "whole" else piece.key_tokens


def _labelled(number: int, piece: OfferedPiece) -> str:
    label = "piece" if piece.trust == OWN else "piece from outside"
    facts = f"Piece {number}: {piece.whole_tokens} tokens whole, {piece.key_tokens} as key sentences."
    said = f"{piece.heading}\n\n{piece.brief}" if piece.heading else piece.brief
    return f"{facts}\n{fenced(said, label=label, origin=json.dumps(piece.place, ensure_ascii=True))}"

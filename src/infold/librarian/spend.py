"""What decisions cost: counted as they are paid, stopped before the cap is passed."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Usage(BaseModel):
    """What was paid: model calls, tokens, US dollars (None: the price of this model is unknown)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0

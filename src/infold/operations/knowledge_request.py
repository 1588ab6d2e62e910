"""What is asked of the notes as context for a model (spec 4)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infold.knowledge.packing import FEWEST_TOKENS
from infold.operations.spending import Agreement

QuerySource = Literal["local", "external", "both"]
QueryCompression = Literal["auto", "none", "minimal"]


class KnowledgeQueryRequest(Agreement):
    """What to answer, and in how much room."""

    query: str
    """What you want to know."""
    max_tokens: int = Field(default=8000, ge=FEWEST_TOKENS)
    """The whole answer has at most so many tokens (a quarter of its characters)."""
    source: QuerySource = "local"
    """Your own notes, what was brought in from outside, or both."""
    compression: QueryCompression = "auto"
    """none: whole notes, cut at the limit; minimal: key sentences and summaries; auto: what is worth most.

    Where a model decides what that is, it is asked only with a token or a cap; until then measured value decides."""

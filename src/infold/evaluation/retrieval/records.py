"""What a retrieval evaluation keeps: where the answers of each question rank in each way, by set.

Frozen records that are kept as JSON. What they add up to belongs to `retrieval.figures`.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from infold.inbox.run import RunPart


class AskedQuestion(RunPart):
    """One question asked. `ranks` gives, by way, the rank (from 1) of each answer that was found."""

    id: str
    text: str
    relevant: dict[str, int]  # answers and their grades
    ranks: dict[str, dict[str, int]]
    first: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # what each way put first


class SetResult(RunPart):
    """A set, asked."""

    name: str
    title: str
    meaning: str
    is_circular: bool = False
    texts: int
    passages: int
    asked: tuple[AskedQuestion, ...]


class RetrievalEvaluation(RunPart):
    """A retrieval evaluation, whole."""

    vault: str
    created_at: str  # ISO 8601, UTC
    version: str
    seed: int
    resamples: int
    embeddings: str  # their name; '' where search is by keyword alone
    notes: int
    sets: tuple[SetResult, ...]
    settings: dict[str, Any] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()

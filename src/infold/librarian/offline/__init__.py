"""The embedded librarian: retrieval, extraction and rules of placing, in place of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infold.librarian.offline.candidate_scorer import CandidateScorer
    from infold.librarian.offline.librarian import OfflineLibrarian

__all__ = ["CandidateScorer", "OfflineLibrarian"]


def __getattr__(name: str) -> Any:
    """Both names on first use: worker processes that make summaries import this package and need neither."""
    if name == "CandidateScorer":
        from infold.librarian.offline.candidate_scorer import CandidateScorer

        return CandidateScorer
    if name == "OfflineLibrarian":
        from infold.librarian.offline.librarian import OfflineLibrarian

        return OfflineLibrarian
    raise AttributeError(name)

"""The embedded librarian: retrieval, extraction and rules of placing, in place of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infold.librarian.offline.evidence import Evidence
    from infold.librarian.offline.librarian import OfflineLibrarian

__all__ = ["Evidence", "OfflineLibrarian"]


def __getattr__(name: str) -> Any:
    """Both names on first use: worker processes that make summaries import this package and need neither."""
    if name == "Evidence":
        from infold.librarian.offline.evidence import Evidence

        return Evidence
    if name == "OfflineLibrarian":
        from infold.librarian.offline.librarian import OfflineLibrarian

        return OfflineLibrarian
    raise AttributeError(name)

"""The embedded librarian: retrieval, extraction and rules of placing, in place of a model."""

from infold.librarian.offline.evidence import Evidence
from infold.librarian.offline.librarian import OfflineLibrarian

__all__ = ["Evidence", "OfflineLibrarian"]

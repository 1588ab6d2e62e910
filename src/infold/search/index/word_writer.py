"""Writes the words of every point, and what a result needs to be shown, to the index that `index.words` reads.

Whoever writes holds the turn to sync. What was written is there for all after `commit`, whole or not at all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import tantivy

from infold.errors import IndexFault
from infold.search.index.contract import Filter, IndexPoint
from infold.search.index.integrity import META, seal, verify
from infold.search.index.point_ids import point_number
from infold.search.index.word_schema import (
    document,
    filtered,
    new_schema,
    numbers_of,
    path_query,
    point_query,
    standing,
    translated,
)

_HEAP_BYTES: Final = 60_000_000  # of what is written before a part of the index is made of it
_LITTLE_BYTES: Final = 15_000_000


class WordWriter:
    """Writes the words in `folder`, made where there are none. One at a time; nobody sees it before `commit`."""

    def __init__(self, folder: Path, *, is_little: bool = False) -> None:
        self.folder = folder
        with translated(folder, "opening"):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / META).exists():
                verify(folder)
                self._index = tantivy.Index.open(str(folder))
            else:
                self._index = tantivy.Index(new_schema(), path=str(folder))
            heap = _LITTLE_BYTES if is_little else _HEAP_BYTES
            self._writer: tantivy.IndexWriter | None = self._index.writer(heap, 1)

    def replace(self, paths: Sequence[str], points: Sequence[IndexPoint]) -> None:
        """Takes away every point of these paths and adds these points."""
        writer, schema = self._open, self._index.schema
        with translated(self.folder, "writing"):
            for path in paths:
                writer.delete_documents_by_query(path_query(schema, path))
            for point in points:
                writer.add_document(document(point))

    def put(self, points: Sequence[IndexPoint]) -> None:
        """Adds the points, in place of those with the same id."""
        self.delete([point.id for point in points])
        self.replace((), points)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes these points away; an id that is not there is passed over."""
        writer, schema = self._open, self._index.schema
        with translated(self.folder, "deleting"):
            for one in ids:
                writer.delete_documents_by_query(point_query(schema, point_number(one)))

    def commit(self) -> None:
        """Makes all that was written since the last commit durable, and visible, at once."""
        with translated(self.folder, "writing"):
            self._open.commit()

    def count(self) -> int:
        """How many points were committed."""
        with translated(self.folder, "counting"):
            return int(self._index.searcher().num_docs)

    def numbers(self, paths: Sequence[str]) -> list[int]:
        """The numbers of the points of these paths, as committed."""
        with translated(self.folder, "listing"):
            searcher = self._committed()
            where = filtered(self._index.schema, Filter(paths=tuple(paths)))
            return numbers_of(searcher, where, searcher.num_docs) if paths else []

    def missing(self, numbers: Collection[int]) -> list[int]:
        """Those of these numbers that no point has, as committed."""
        with translated(self.folder, "looking points up"):
            there = standing(self._committed(), self._index.schema, numbers)
        return sorted(set(numbers).difference(there))

    def _committed(self) -> tantivy.Searcher:
        self._index.reload()
        return self._index.searcher()

    def close(self) -> None:
        """Ends what is being tidied up and lets go; what was not committed is forgotten. Again does nothing."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with translated(self.folder, "closing"):
                writer.wait_merging_threads()
                seal(self.folder)

    @property
    def _open(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise IndexFault("The search index is closed.")
        return self._writer

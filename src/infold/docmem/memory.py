"""Memory trees behind one door: each method is one operation and one transaction (spec 2, Operations).

    with open_docmem(workspace.docmem) as memory:
        tree = memory.create_root("", Context("root", "purpose", "project"), root_id="garden")
        bed = memory.append(tree.id, "The bed by the wall gets sun until noon.", Context("memory", "source", "walk"))
        memory.update_content(bed.id, "The bed by the wall gets sun until two.", bed.hash)
        print(memory.serialise(tree.id))

What a method does, gives and raises stands at the function that it is made of. Every method may raise ArgumentInvalid,
StoreBusy, StoreClosed, StoreDamaged or StateUnwritable beside what it names.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from infold.docmem import (
    budgeted_expansion,
    expanding,
    history,
    marks,
    moving,
    notes,
    reading,
    stale,
    summarising,
    writing,
)
from infold.docmem.checked import reads, writes
from infold.docmem.lookup import Lookup
from infold.docmem.store import Batch, Store, open_store
from infold.errors import StoreClosed


def open_docmem(file: Path) -> Docmem:
    """The memory trees in `file` (`Workspace.docmem`), made where there are none; closed by `close` or `with`.

    All that are open in a process share one connection. Raises StoreTooNew, StoreDamaged, StoreBusy, StateUnwritable.
    """
    return Docmem(open_store(file))


class Docmem:
    """All memory trees of one store."""

    def __init__(self, store: Store) -> None:
        self._store: Store | None = store
        self._file = store.file

    # made and changed
    create_root = writes(writing.create_root)
    append = writes(writing.append)
    append_all = writes(writing.append_all)
    insert_before = writes(writing.insert_before)
    insert_after = writes(writing.insert_after)
    note_beside = writes(notes.note_beside)
    update_content = writes(writing.update_content)
    update_context = writes(writing.update_context)
    delete = writes(writing.delete)
    move = writes(moving.move)
    copy = writes(moving.copy)
    summarise = writes(summarising.summarise)
    unsummarise = writes(summarising.unsummarise)

    # read
    find = reads(Lookup.find)
    get = reads(Lookup.get)
    full_hash = reads(Lookup.full_hash)
    size = reads(reading.size)
    get_root = reads(reading.get_root)
    roots = reads(reading.roots)
    children = reads(reading.children)
    ancestors = reads(reading.ancestors)
    subtree = reads(reading.subtree)
    with_context = reads(reading.with_context)
    notes_of = reads(notes.notes_of)
    serialise = reads(reading.serialise)
    structure = reads(reading.structure)
    expand_to_length = reads(expanding.expand_to_length)
    expand = reads(budgeted_expansion.expand)
    stale_summaries = reads(stale.stale_summaries)

    # what was, and flags
    versions = reads(history.versions)
    restore_version = writes(history.restore_version)
    deletions = reads(history.deletions)
    restore_deleted = writes(history.restore_deleted)
    mark = writes(marks.mark)
    unmark = writes(marks.unmark)
    marks_of = reads(marks.marks_of)
    marked = reads(marks.marked)

    @property
    def store(self) -> Store:
        """The open file. Raises StoreClosed after `close`."""
        if self._store is None:
            raise StoreClosed(f"The memory in {self._file.name} was closed.", hint="Open it again: `open_docmem`.")
        return self._store

    def batch(self) -> Batch:
        """Makes all that happens within one transaction, as `with` or `async with`: see `store.Batch`.

        An operation that fails within and is caught there leaves nothing; those before it stay.
        """
        return self.store.batch()

    def close(self) -> None:
        """This user is done; the file is let go of with the last one of the process. Twice is fine."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

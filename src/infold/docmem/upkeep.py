"""The store checked, counted, backed up and restored while others use it (DESIGN, promise 1: trees are not derived)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infold.docmem import marks, outbox, queries
from infold.docmem.lookup import Lookup
from infold.docmem.migrations import migrate, version_of
from infold.docmem.node import node_hash
from infold.docmem.store import BUSY_SECONDS, Store, translated
from infold.errors import ContextFieldTooLong, StateUnwritable, StoreBusy, StoreDamaged
from infold.text import token_count
from infold.vault.disk import Disk

INDEX_GENERATION: Final = "index_generation"  # the fact that says which index has heard of the nodes
_MOST_PROBLEMS: Final = 20


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """How the store stands."""

    trees: int
    nodes: int
    versions: int  # what nodes were before
    waiting: int  # nodes that the search index has not heard of
    rebalances: int  # how often siblings were numbered anew: no number was left between two
    rebalanced_nodes: int
    size_bytes: int  # of the file and of what is not yet written back to it


def facts(store: Store) -> StoreFacts:
    """Counts of the store."""
    with store.reading() as rows:
        count = rows.connection.execute
        return StoreFacts(
            trees=count("SELECT count(*) FROM nodes WHERE parent_id IS NULL").fetchone()[0],
            nodes=count("SELECT count(*) FROM nodes").fetchone()[0],
            versions=count("SELECT count(*) FROM history").fetchone()[0],
            waiting=outbox.waiting_count(rows),
            rebalances=int(marks.fact(rows, "rebalances") or 0),
            rebalanced_nodes=int(marks.fact(rows, "rebalanced_nodes") or 0),
            size_bytes=sum(path.stat().st_size for path in store.file.parent.glob(f"{store.file.name}*")),
        )


def problems(store: Store) -> list[str]:
    """What is wrong with the store, a sentence each, twenty at most: the file, the trees, the nodes."""
    try:
        with store.reading() as rows:
            checked = rows.connection.execute("PRAGMA integrity_check(20)")
            found = [f"SQLite: {row[0]}" for row in checked if row[0] != "ok"]
            return (found or [*_wrong_trees(rows.connection), *_wrong_nodes(rows)])[:_MOST_PROBLEMS]
    except StoreDamaged as damage:
        return [str(damage)]


def backup(store: Store, target: Path) -> None:
    """A copy of the store as it is now in one file, whole or not at all. Others go on reading and writing.

    Raises StateUnwritable, StoreBusy.
    """
    disk = Disk()
    disk.make_folder(target.absolute().parent)
    part = target.with_name(f".{target.name}.tmp")
    disk.remove(part)
    with store.alone() as connection:
        _copy(connection, part)
    disk.replace(part, target)


def restore(store: Store, source: Path) -> Path:
    """The store as it was when `source` was made: all of it, or it stays as it is. Others see it at once.

    What it was before is kept beside it, and named. The search index is told to begin anew. Raises StoreDamaged,
    StoreTooNew, StateUnwritable, StoreBusy.
    """
    if not source.is_file():
        raise StateUnwritable(f"There is no backup {source}.", hint="Name a file that `infold docmem backup` wrote.")
    kept = store.file.with_name(f"{store.file.stem}.before-restore{store.file.suffix}")
    prepared = store.file.with_name(f".{store.file.name}.restoring")
    disk = Disk()
    disk.remove(prepared)
    try:
        with translated(source), _closing(f"{source.absolute().as_uri()}?mode=ro") as original:
            _check_whole(original, source)
            _copy(original, prepared)
        with translated(prepared), _closing(prepared.absolute().as_uri()) as wanted:
            migrate(wanted, source)
            wanted.execute("DELETE FROM outbox")
            wanted.execute("INSERT OR REPLACE INTO facts VALUES (?, '')", (INDEX_GENERATION,))
            backup(store, kept)
            with store.alone() as connection:
                _step(wanted, connection, store.file)
    finally:
        disk.remove(prepared)
    return kept


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    with translated(target), _closing(target.absolute().as_uri()) as copy:
        _step(connection, copy, target)
        copy.execute("PRAGMA journal_mode = DELETE")  # so that the one file is all of it


def _step(source: sqlite3.Connection, target: sqlite3.Connection, file: Path) -> None:
    """All pages as one transaction of the target."""
    until = time.monotonic() + BUSY_SECONDS

    def give_up(status: int, _remaining: int, _total: int) -> None:
        if status != sqlite3.SQLITE_DONE and time.monotonic() > until:
            raise StoreBusy(f"{file.name} stayed in use.", hint="Try again when nothing else writes.")

    source.backup(target, progress=give_up)


@contextmanager
def _closing(uri: str) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def _check_whole(connection: sqlite3.Connection, file: Path) -> None:
    if version_of(connection, file) == 0:
        raise StoreDamaged(f"{file.name} is empty.", hint="Name a file that `infold docmem backup` wrote.")
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise StoreDamaged(f"The backup {file.name} is damaged: {found}.", hint="Use another one.")


def _wrong_trees(connection: sqlite3.Connection) -> Iterator[str]:
    for node, parent in connection.execute(queries.ORPHANS):
        yield f"The parent {parent!r} of the memory node {node!r} is missing."
    (unreached,) = connection.execute(queries.UNREACHED).fetchone()
    if unreached:
        yield f"{unreached} memory nodes hang on no root."
    for parent, number in connection.execute(queries.TIES):
        yield f"Several children of the memory node {parent!r} have the order {number!r}."


def _wrong_nodes(rows: Lookup) -> Iterator[str]:
    for node in rows.every_node():
        try:
            context = node.context
        except ContextFieldTooLong as fault:
            yield f"The memory node {node.id!r}: {fault}"
            continue
        if node.hash != node_hash(node.parent_id, context, node.text, node.order_value):
            yield f"The hash of the memory node {node.id!r} is not that of its content."
        if node.token_count != token_count(node.text):
            yield f"The memory node {node.id!r} says {node.token_count} tokens; it has {token_count(node.text)}."

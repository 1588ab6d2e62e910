"""The store checked, counted, backed up and restored while others use it (DESIGN, promise 1: trees are not derived)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from infold.docmem import marks, outbox, queries
from infold.docmem.lookup import Lookup
from infold.docmem.node import node_hash
from infold.docmem.schema import SCHEMA
from infold.docmem.store import Store
from infold.durable.files import Disk
from infold.durable.sqlite import BUSY_SECONDS, migrate, translated, version_of
from infold.errors import ContextFieldTooLong, StateUnwritable, StoreBusy, StoreDamaged, StoreTooNew
from infold.text import token_count

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
        ask = rows.connection.execute
        return StoreFacts(
            trees=ask("SELECT count(*) FROM nodes WHERE parent_id IS NULL").fetchone()[0],
            nodes=ask("SELECT count(*) FROM nodes").fetchone()[0],
            versions=ask("SELECT count(*) FROM history").fetchone()[0],
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

    An earlier backup is written over; the store itself and what is no backup are not, and nothing is where the store is
    damaged. Raises StateUnwritable, StoreDamaged, StoreBusy.
    """
    _check_target(store, target)
    Disk().make_folder(target.absolute().parent)
    _back_up(store, target, is_whole=True)


def _back_up(store: Store, target: Path, *, is_whole: bool) -> None:
    disk = Disk()
    part = target.with_name(f".{target.name}.tmp")
    disk.remove(part)
    try:
        with store.alone() as connection:
            _copy(connection, part)
        if is_whole:
            with translated(store.file, SCHEMA), _closing(f"{part.absolute().as_uri()}?mode=ro") as copy:
                _check_integrity(copy, f"{store.file.name} is damaged, and no backup was written")
        disk.replace(part, target)
    finally:
        disk.remove(part)


def _check_target(store: Store, target: Path) -> None:
    """Raises StateUnwritable where a backup would take the place of the store, or of something that is no backup."""
    if target.is_dir():
        raise StateUnwritable(f"{target} is a folder.", hint="Name a file for the backup.")
    if not target.exists():
        return
    if target.samefile(store.file):
        raise StateUnwritable(f"{target} is the store itself.", hint="Name another file for the backup.")
    try:
        with translated(target, SCHEMA), _closing(f"{target.absolute().as_uri()}?mode=ro") as there:
            is_backup = version_of(there, target, SCHEMA) > 0
    except StoreTooNew:
        is_backup = True
    except StoreDamaged:
        is_backup = False
    if not is_backup:
        raise StateUnwritable(
            f"{target} is there already and is no backup of memory trees.", hint="Name another file for the backup."
        )


def restore(store: Store, source: Path) -> Path:
    """The store as it was when `source` was made: all of it, or it stays as it is. Others see it at once.

    What it was before is kept beside it, and named. The search index is told to begin anew. Raises StoreDamaged,
    StoreTooNew, StateUnwritable, StoreBusy.
    """
    kept = store.file.with_name(f"{store.file.stem}.before-restore{store.file.suffix}")
    with _prepared(store.file, source) as prepared:
        _back_up(store, kept, is_whole=False)
        with (
            translated(prepared, SCHEMA),
            _closing(prepared.absolute().as_uri()) as wanted,
            store.alone() as connection,
        ):
            _step(wanted, connection, store.file)
    return kept


def replace(file: Path, source: Path) -> Path:
    """The same for a store that cannot be opened: damaged beyond that, or of a later infold. It is kept, and named.

    Raises StoreDamaged, StoreTooNew, StateUnwritable, for the backup.
    """
    disk = Disk()
    with _prepared(file, source) as prepared:
        kept = next(
            path
            for path in (file.with_name(f"{file.stem}.unusable-{number}{file.suffix}") for number in count(1))
            if not path.exists()
        )
        for ending in ("-wal", "-shm", ""):  # a log that stayed would be read into what takes its place
            if (part := file.with_name(file.name + ending)).exists():
                disk.replace(part, kept.with_name(kept.name + ending))
        disk.replace(prepared, file)
    return kept


@contextmanager
def _prepared(file: Path, source: Path) -> Iterator[Path]:
    """A checked copy of a backup beside the store, of today's version, for an index that begins anew."""
    if not source.is_file():
        raise StateUnwritable(f"There is no backup {source}.", hint="Name a file that `infold docmem backup` wrote.")
    prepared = file.with_name(f".{file.name}.restoring")
    disk = Disk()
    disk.remove(prepared)
    try:
        with translated(source, SCHEMA), _closing(f"{source.absolute().as_uri()}?mode=ro") as original:
            _check_whole(original, source)
            _copy(original, prepared)
        with translated(prepared, SCHEMA), _closing(prepared.absolute().as_uri()) as wanted:
            wanted.execute("BEGIN")
            migrate(wanted, source, SCHEMA)
            wanted.execute("COMMIT")
            wanted.execute("DELETE FROM outbox")
            wanted.execute("INSERT OR REPLACE INTO facts VALUES (?, '')", (INDEX_GENERATION,))
        yield prepared
    finally:
        disk.remove(prepared)


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    with translated(target, SCHEMA), _closing(target.absolute().as_uri()) as copy:
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
    if version_of(connection, file, SCHEMA) == 0:
        raise StoreDamaged(f"{file.name} is empty.", hint="Name a file that `infold docmem backup` wrote.")
    _check_integrity(connection, f"The backup {file.name} is damaged")


def _check_integrity(connection: sqlite3.Connection, what: str) -> None:
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        first = found.removeprefix("*** in database main ***").split("\n")
        raise StoreDamaged(
            f"{what}: {next(filter(None, first), found)}.", hint="Restore an earlier backup, or use another one."
        )


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

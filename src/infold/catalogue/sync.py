"""Keeps the notes and links tables in step with the vault; only what changed is read.

A file of the size and time known is taken as unchanged, unless it was written shortly before it was read or later: then
its hash decides. Links are worked out again for all notes when a name or alias came or went, else for changed notes.
The notes table is written last: until then the next sync does the same work again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infold.catalogue import links as links_module
from infold.catalogue import notes as notes_module
from infold.catalogue.kinds import kind_of
from infold.catalogue.links import links_schema, links_table, resolve_rows
from infold.catalogue.notes import TRUST, NoteRow, notes_schema
from infold.catalogue.parquet import list_column, read_table, write_table
from infold.catalogue.reading import Reading, read_rows
from infold.errors import VaultNotFound
from infold.settings import Params
from infold.vault.files import FileStat, Scan, Skipped, scan
from infold.vault.links import LinkResolver, alias_table

if TYPE_CHECKING:
    import polars as pl

_RACE_NS: Final = 2_000_000_000  # two writes within this time may leave a file with one time stamp


@dataclass(frozen=True, slots=True)
class TablesResult:
    """What one sync did. `emptied`: no notes were found where there had been some, so nothing was touched."""

    scanned: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    seconds: float
    emptied: bool = False
    warnings: tuple[Skipped, ...] = ()  # notes whose front matter could not be read, and why


@dataclass(frozen=True, slots=True)
class _Known:
    """What the tables say of a note."""

    content_hash: str
    size: int
    mtime_ns: int


def sync_tables(
    vault: Path, tables_dir: Path, params: Params, progress: Callable[[int, int], None] | None = None
) -> TablesResult:
    """Brings the tables in `tables_dir` up to date with the notes in `vault`.

    `progress(done, total)` counts files read. Raises VaultNotFound where there is neither vault nor table, and
    StateUnwritable.
    """
    started, started_ns = time.monotonic(), time.time_ns()
    notes, links = _load(tables_dir)
    known = _known(notes)
    try:
        seen = scan(vault, params.vault)
    except VaultNotFound:
        if not known:
            raise
        reason = Skipped(".", f"there is no vault folder at {vault}; what is known of its notes was kept", is_kept=True)
        seen = Scan((), (reason,))
    if known and not seen.files:
        return TablesResult(0, 0, 0, 0, len(known), seen.skipped, time.monotonic() - started, emptied=True)

    synced_ns = _synced_ns(tables_dir)
    doubtful = [file for file in seen.files if not _is_as_known(file, known.get(file.path), synced_ns)]
    wanted = [(file.path, known[file.path].content_hash if file.path in known else None) for file in doubtful]
    readings = read_rows(vault, wanted, params.vault.max_note_bytes, progress or _silent)
    change = _Change.of(known, seen, readings)
    kind = kind_of(params, vault)
    is_stale = change.is_needed or notes is None or links is None or _kinds_differ(notes, kind)
    if is_stale or notes is None:
        notes = _write(tables_dir, notes, links, change, kind)
    if is_stale or doubtful:
        os.utime(tables_dir / notes_module.FILE_NAME, ns=(started_ns, started_ns))
    return TablesResult(
        scanned=len(seen.files),
        added=change.added,
        changed=change.changed,
        removed=len(change.gone),
        unchanged=len(seen.files) - change.added - change.changed - change.unreadable,
        skipped=change.skipped,
        seconds=time.monotonic() - started,
        warnings=_warnings(notes),
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """How the vault differs from the tables."""

    rows: tuple[NoteRow, ...]
    stamps: Mapping[str, FileStat]  # of notes whose time or size is to be noted
    gone: frozenset[str]
    skipped: tuple[Skipped, ...]
    added: int
    changed: int
    unreadable: int

    @classmethod
    def of(cls, known: Mapping[str, _Known], seen: Scan, readings: Sequence[Reading]) -> _Change:
        rows = tuple(reading.row for reading in readings if reading.row is not None)
        failed = [Skipped(r.path, r.reason, r.is_kept) for r in readings if r.reason is not None]
        skipped = tuple(sorted((*seen.skipped, *failed), key=lambda item: item.path))
        failed_paths = {item.path for item in failed}
        present = {file.path for file in seen.files} - failed_paths
        gone = frozenset(path for path in known if path not in present and not _is_kept(path, skipped))
        new = {row.path for row in rows}
        read = {reading.path for reading in readings} - failed_paths
        stamps = {
            file.path: file
            for file in seen.files
            if file.path in new or (file.path in read and _differs(file, known.get(file.path)))
        }
        added = sum(1 for row in rows if row.path not in known)
        return cls(rows, stamps, gone, skipped, added, len(rows) - added, len(failed))

    @property
    def is_needed(self) -> bool:
        """Whether the tables have to be written."""
        return bool(self.rows or self.gone or self.stamps)


def _load(tables_dir: Path) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Both tables, or neither: one without the other is made again."""
    notes = read_table(tables_dir / notes_module.FILE_NAME, notes_schema(), notes_module.VERSION)
    links = (
        read_table(tables_dir / links_module.FILE_NAME, links_schema(), links_module.VERSION)
        if notes is not None
        else None
    )
    return (notes, links) if notes is not None and links is not None else (None, None)


def _known(notes: pl.DataFrame | None) -> dict[str, _Known]:
    if notes is None:
        return {}
    rows = notes.select("path", "content_hash", "size", "mtime_ns").iter_rows()
    return {path: _Known(digest, size, mtime) for path, digest, size, mtime in rows}


def _synced_ns(tables_dir: Path) -> int:
    """When the last sync that read a file began: kept as the time of the notes table."""
    try:
        return (tables_dir / notes_module.FILE_NAME).stat().st_mtime_ns
    except OSError:
        return 0


def _differs(file: FileStat, known: _Known | None) -> bool:
    return known is None or (file.size, file.mtime_ns) != (known.size, known.mtime_ns)


def _is_as_known(file: FileStat, known: _Known | None, synced_ns: int) -> bool:
    return not _differs(file, known) and file.mtime_ns < synced_ns - _RACE_NS


def _is_kept(path: str, skipped: Iterable[Skipped]) -> bool:
    """Whether a note that was not seen is only out of reach: itself, or its folder."""
    kept = [item.path for item in skipped if item.is_kept]
    return any(name in (path, ".") or path.startswith(f"{name.rstrip('/')}/") for name in kept)


def _kinds_differ(notes: pl.DataFrame, kind: Callable[[str], str]) -> bool:
    return any(kind(path) != known for path, known in notes.select("path", "kind").iter_rows())


def _write(
    tables_dir: Path,
    notes: pl.DataFrame | None,
    links: pl.DataFrame | None,
    change: _Change,
    kind: Callable[[str], str],
) -> pl.DataFrame:
    import polars as pl

    old_notes = notes if notes is not None else pl.DataFrame(schema=notes_schema())
    old_links = links if links is not None else pl.DataFrame(schema=links_schema())
    replaced = pl.Series(sorted(change.gone | {row.path for row in change.rows}), dtype=pl.String())
    kept = _stamped(old_notes.filter(~pl.col("path").is_in(replaced.implode())), change.stamps)
    new_notes = pl.concat([kept, _notes_table(change.rows, change.stamps)]).sort("path")
    kept_links = old_links.filter(~pl.col("source").is_in(replaced.implode()))
    new_links = links_table([(row.path, row.links) for row in change.rows])
    resolver = _resolver(new_notes)
    if _names(old_notes) == _names(new_notes):
        all_links = pl.concat([kept_links, resolve_rows(new_links, resolver)])
    else:
        all_links = resolve_rows(pl.concat([kept_links, new_links]), resolver)
    all_links = all_links.sort("source", "ordinal")
    finished = _with_outgoing(new_notes, all_links, kind)
    if not all_links.equals(old_links):
        write_table(tables_dir / links_module.FILE_NAME, all_links, links_module.VERSION)
    write_table(tables_dir / notes_module.FILE_NAME, finished, notes_module.VERSION)
    return finished


def _notes_table(rows: Sequence[NoteRow], stamps: Mapping[str, FileStat]) -> pl.DataFrame:
    import polars as pl

    schema = notes_schema()
    fields = [field for field in NoteRow._fields if field in schema]
    values: dict[str, Any] = dict(zip(NoteRow._fields, zip(*rows, strict=True), strict=True)) if rows else {}
    values = {field: values.get(field, ()) for field in fields}
    values["mtime_ns"] = [stamps[row.path].mtime_ns for row in rows]
    values["size"] = [stamps[row.path].size for row in rows]
    values["kind"] = [""] * len(rows)
    values["outgoing"] = [()] * len(rows)
    values["trust"] = [TRUST] * len(rows)
    lists = {name: list_column(values[name]) for name, kind in schema.items() if kind == pl.List(pl.String())}
    return pl.DataFrame({name: lists.get(name, values[name]) for name in schema}, schema=schema)


def _stamped(notes: pl.DataFrame, stamps: Mapping[str, FileStat]) -> pl.DataFrame:
    """`notes` with the times and sizes of files that were touched but not changed."""
    import polars as pl

    if not stamps:
        return notes
    times: list[int] = []
    sizes: list[int] = []
    for path, mtime_ns, size in notes.select("path", "mtime_ns", "size").iter_rows():
        file = stamps.get(path)
        times.append(file.mtime_ns if file is not None else mtime_ns)
        sizes.append(file.size if file is not None else size)
    return notes.with_columns(
        pl.Series("mtime_ns", times, dtype=pl.Int64()), pl.Series("size", sizes, dtype=pl.Int64())
    )


def _names(notes: pl.DataFrame) -> set[tuple[str, tuple[str, ...]]]:
    return {(path, tuple(aliases)) for path, aliases in notes.select("path", "aliases").iter_rows()}


def _resolver(notes: pl.DataFrame) -> LinkResolver:
    rows = list(notes.select("path", "aliases").iter_rows())
    return LinkResolver((path for path, _ in rows), alias_table(rows))


def _with_outgoing(notes: pl.DataFrame, links: pl.DataFrame, kind: Callable[[str], str]) -> pl.DataFrame:
    import polars as pl

    targets = (
        links.filter(pl.col("target").is_not_null() & (pl.col("target") != pl.col("source")))
        .group_by("source", maintain_order=True)
        .agg(pl.col("target").unique(maintain_order=True).alias("outgoing"))
    )
    joined = notes.drop("outgoing").join(targets, left_on="path", right_on="source", how="left")
    return joined.with_columns(
        pl.col("outgoing").fill_null(pl.lit([], dtype=pl.List(pl.String()))),
        pl.Series("kind", [kind(path) for path in notes["path"]], dtype=pl.String()),
    ).select(*notes_schema())


def _warnings(notes: pl.DataFrame) -> tuple[Skipped, ...]:
    import polars as pl

    rows = notes.filter(pl.col("problem").is_not_null()).select("path", "problem").iter_rows()
    return tuple(Skipped(path, problem, is_kept=True) for path, problem in rows)


def _silent(done: int, total: int) -> None:
    """No progress."""

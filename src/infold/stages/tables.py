"""Stage `tables`: notes and links of the snapshot as parquet. The tables persist: only changed notes are read."""

from __future__ import annotations

from infold.catalogue.sync import sync_tables
from infold.errors import VaultFault
from infold.stages.repository import Repository, run_stage


def main(repository: Repository) -> str:
    """The stage."""
    place = repository.snapshot
    result = sync_tables(place.vault, place.tables, place.params)
    if result.emptied:
        raise VaultFault(
            "The snapshot holds no note, but the tables do.", hint=f"Delete {place.tables} if it is meant."
        )
    changes = f"{result.added} added, {result.changed} changed, {result.removed} removed"
    return f"tables: {result.scanned} notes, {changes}, {len(result.skipped)} skipped"


if __name__ == "__main__":
    run_stage(main)

"""Stage `tables`: notes, links and passages of the snapshot as parquet, exported from its catalogue.

The catalogue stays beside them: only changed notes are read again.
"""

from __future__ import annotations

from contextlib import closing

from infold.catalogue.export import export_tables
from infold.catalogue.store import catalogue_of
from infold.catalogue.sync import sync_catalogue
from infold.errors import VaultFault
from infold.stages.repository import Repository, run_stage


def main(repository: Repository) -> str:
    """The stage."""
    place = repository.snapshot
    with closing(catalogue_of(place)) as catalogue:
        result = sync_catalogue(catalogue)
        if result.emptied:
            raise VaultFault(
                "The snapshot holds no note, but the tables do.",
                hint=f"Delete {place.catalogue} and {place.tables} if it is meant.",
            )
        export_tables(catalogue, place.tables)
    changes = f"{result.added} added, {result.changed} changed, {result.removed} removed"
    return f"tables: {result.scanned} notes, {changes}, {len(result.skipped)} skipped"


if __name__ == "__main__":
    run_stage(main)

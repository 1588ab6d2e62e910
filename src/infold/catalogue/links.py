"""The links table: one row a link, in the order of the note, with where it leads.

A link leads where the names of all notes say, so `resolve_rows` runs again whenever those change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from infold.catalogue.parquet import read_table
from infold.vault.links import LinkResolver, is_attachment
from infold.vault.records import Link

if TYPE_CHECKING:
    import polars as pl

FILE_NAME: Final = "links.parquet"
VERSION: Final = "links/1"


class LinkRow(NamedTuple):
    """A link as the note writes it; whose it is and where it leads stand in columns of their own."""

    raw: str
    name: str  # the target as written, decoded and without anchor
    anchor: str
    alias: str | None
    is_wiki: bool
    is_embed: bool
    is_attachment: bool  # leads to no note by its form, so it cannot dangle
    line: int
    context: str


def links_schema() -> dict[str, Any]:
    """Columns and types, in order."""
    import polars as pl

    return {
        "source": pl.String(),
        "ordinal": pl.Int32(),
        "target": pl.String(),  # path of the note, null where there is none
        "raw": pl.String(),
        "name": pl.String(),
        "anchor": pl.String(),
        "alias": pl.String(),
        "is_wiki": pl.Boolean(),
        "is_embed": pl.Boolean(),
        "is_attachment": pl.Boolean(),
        "line": pl.Int32(),
        "context": pl.String(),
    }


def load_links(tables_dir: Path) -> pl.DataFrame:
    """The links table, sorted by source and ordinal; empty where it has not been made."""
    import polars as pl

    schema = links_schema()
    table = read_table(tables_dir / FILE_NAME, schema, VERSION)
    return table if table is not None else pl.DataFrame(schema=schema)


def dangling_links(links: pl.DataFrame) -> pl.DataFrame:
    """The rows of `links` that should lead to a note and lead to none."""
    import polars as pl

    return links.filter(pl.col("target").is_null() & ~pl.col("is_attachment"))


def link_rows(links: Iterable[Link]) -> list[LinkRow]:
    """Rows for the links of one note."""
    return [
        LinkRow(
            link.raw,
            link.target,
            link.anchor,
            link.alias,
            link.is_wiki,
            link.is_embed,
            bool(link.target) and is_attachment(link.target, is_wiki=link.is_wiki),
            link.line,
            link.context,
        )
        for link in links
    ]


def links_table(notes: Sequence[tuple[str, Sequence[LinkRow]]]) -> pl.DataFrame:
    """The table of the links of `notes` (path, rows), targets still null."""
    import polars as pl

    schema = links_schema()
    columns = list(zip(*(row for _, rows in notes for row in rows), strict=True)) or [()] * len(LinkRow._fields)
    values: dict[str, Any] = dict(zip(LinkRow._fields, columns, strict=True))
    values["source"] = [path for path, rows in notes for _ in rows]
    values["ordinal"] = [ordinal for _, rows in notes for ordinal in range(len(rows))]
    values["target"] = [None] * len(values["source"])
    return pl.DataFrame({name: values[name] for name in schema}, schema=schema)


def resolve_rows(links: pl.DataFrame, resolver: LinkResolver) -> pl.DataFrame:
    """`links` with every target worked out anew. Links written alike in one folder are worked out once."""
    import polars as pl

    known: dict[tuple[str, str, str | None, bool], str | None] = {}
    targets: list[str | None] = []
    for source, name, alias, is_wiki in links.select("source", "name", "alias", "is_wiki").iter_rows():
        if not name:
            targets.append(source)
            continue
        key = (source.rpartition("/")[0], name, alias, is_wiki)
        if key not in known:
            found = resolver.resolve(name, source)
            known[key] = found or resolver.resolve_reversed(alias, source, is_wiki=is_wiki)
        targets.append(known[key])
    return links.with_columns(pl.Series("target", targets, dtype=pl.String()))

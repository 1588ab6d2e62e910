"""Sources as something to search: the group `external`, each passage labelled with where it is from.

`SourcesFeed` gives their passages to the index, `source_texts` the text behind a hit. Their paths begin with `sources/`
and name no file of the vault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold.errors import FetchFault, RunStateWrong
from infold.knowledge.sources.records import TRUST, SourceRecord
from infold.knowledge.sources.store import SourceStore
from infold.search.index.contract import PointGroup
from infold.search.index.feeds import Item, Listing, ReadResult
from infold.search.query.excerpts import NoteTexts
from infold.vault.files import decode, read_bytes
from infold.vault.portions import Portion, portion_of
from infold.vault.scanning import Skipped

if TYPE_CHECKING:
    from infold.settings import Params, SearchParams

FEED: Final = "sources"


@dataclass(frozen=True, slots=True)
class SourcesFeed:
    """The sources in a store. No folder is no sources."""

    folder: Path
    params: SearchParams

    name = FEED
    is_guarded = False  # nothing left means that all was forgotten

    def items(self, paths: Sequence[str] | None = None) -> Listing:
        """Every source; one whose record cannot be read is passed over by name."""
        try:
            records = list(SourceStore(self.folder))
        except FetchFault as error:
            return Listing((), (Skipped(FEED, str(error), is_kept=True),))
        wanted = None if paths is None else frozenset(paths)
        items = [
            Item(record.path, 0, len(record.versions), record.content)
            for record in records
            if wanted is None or record.path in wanted
        ]
        return Listing(sorted(items))

    def read(self, item: Item, known_sha256: str) -> ReadResult:
        """The passages of a source's newest text."""
        # Here, because a search of what is indexed already does without the parser.
        from infold.search.index.points import note_points
        from infold.vault.note import parse

        store = SourceStore(self.folder)
        try:
            record = store.get(item.path)
            if record.content == known_sha256:
                return ReadResult(item, known_sha256)
            text = store.text(record)
        except (FetchFault, RunStateWrong) as error:
            return ReadResult(item, reason=str(error), is_kept=True)
        made = note_points(replace(parse(item.path, text), title=record.title), record.kind, self.params)
        points = [
            point._replace(group=PointGroup.EXTERNAL, kind=record.kind, trust=TRUST, date=_day(record), tags=())
            for point in made.points
        ]
        return ReadResult(item, record.content, made._replace(points=points))


def source_texts(store: SourceStore, vault: Path, params: Params) -> NoteTexts:
    """The texts behind hits in sources, and in notes that were made of them."""
    by_path = {record.path: record for record in store}

    def read(path: str) -> str:
        if path in by_path:
            return store.text(by_path[path])
        return decode(read_bytes(vault, path, params.vault.max_note_bytes), path)

    return NoteTexts(vault, params, read)


def source_portion(store: SourceStore, name: str) -> Portion | None:
    """The lines of a source that `name` means, `path`, `path:3`, `path:3:5` or `path:3-7`; None where there is none."""
    path, _, lines = name.partition(".md")
    record = next((record for record in store if record.path == f"{path}.md"), None)
    return None if record is None else portion_of(record.path, store.text(record), lines.removeprefix(":"))


def _day(record: SourceRecord) -> str:
    """The day a source is of: that of its publication, else that on which its text was fetched."""
    return record.published or record.fetched[:10]

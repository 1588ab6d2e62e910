"""The kept sources: a small JSON file a source, its texts by content. No time to live, nothing is ever fetched here.

Each file is written whole or not at all and a text before the record that names it, so a stop at any moment leaves the
store as it was or as it is to be. Two processes may keep different sources at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from infold.durable.blobs import Blobs
from infold.durable.files import Disk
from infold.errors import SourceDamaged, SourceNotFound
from infold.knowledge.reading.records import SourceText
from infold.knowledge.sources.records import SourceRecord, SourceVersion
from infold.text import content_hash

StoredAs = Literal["new", "changed", "unchanged", "gone"]


class KeptSource(NamedTuple):
    """A source after a look at it, and what the look found."""

    record: SourceRecord
    outcome: StoredAs


class SourceStore:
    """The sources in one folder."""

    def __init__(self, folder: Path) -> None:
        self._disk = Disk()
        self._folder = folder
        self._records = folder / "records"
        self._texts = Blobs(folder / "texts", self._disk)

    def find(self, url: str) -> SourceRecord | None:
        """The source at `url`; None where none is kept."""
        return _read(self._file(url))

    def get(self, url: str) -> SourceRecord:
        """The source at `url`, or of that path. Raises SourceNotFound."""
        found = self.find(url) or next((record for record in self if record.path == url), None)
        if found is None:
            raise SourceNotFound(f"There is no source {url[:300]}.", hint="`infold sources` lists them.")
        return found

    def __iter__(self) -> Iterator[SourceRecord]:
        """Every source, by address."""
        records = (_read(file) for file in self._records.glob("*.json")) if self._records.is_dir() else ()
        yield from sorted((record for record in records if record is not None), key=lambda record: record.url)

    def text(self, record: SourceRecord, version: int = -1) -> str:
        """A text of the source, the newest by default."""
        return self._texts.get(record.versions[version].content).decode()

    def keep(
        self, url: str, text: SourceText, now: str, *, final_url: str = "", etag: str = "", last_modified: str = ""
    ) -> KeptSource:
        """Keeps what the source at `url` says at the time `now`; a text as before is only marked as looked at."""
        known = self.find(url)
        versions = known.versions if known is not None else ()
        digest = content_hash(text.text)
        outcome: StoredAs = "new" if known is None else "unchanged"
        if not versions or versions[-1].content != digest:
            outcome = "changed" if versions else "new"
            self._texts.put(text.text.encode())
            versions = (*versions, SourceVersion(digest, now))
        record = SourceRecord(
            url=url,
            title=text.title,
            kind=text.kind,
            versions=versions,
            checked=now,
            final_url=final_url if final_url != url else "",
            published=text.date,
            licence=text.licence,
            etag=etag,
            last_modified=last_modified,
            is_watched=known.is_watched if known is not None else False,
        )
        self._write(record)
        return KeptSource(record, outcome)

    def unchanged(self, record: SourceRecord, now: str) -> KeptSource:
        """Marks a source as looked at, and there."""
        record = record._replace(checked=now, is_gone=False)
        self._write(record)
        return KeptSource(record, "unchanged")

    def gone(self, record: SourceRecord, now: str) -> KeptSource:
        """Marks a source whose server has it no more. Its texts stay."""
        record = record._replace(checked=now, is_gone=True)
        self._write(record)
        return KeptSource(record, "gone")

    def watch(self, url: str, *, is_watched: bool) -> SourceRecord:
        """Puts a source on the list that is looked at by schedule, or takes it off. Raises SourceNotFound."""
        record = self.get(url)._replace(is_watched=is_watched)
        self._write(record)
        return record

    def forget(self, url: str) -> SourceRecord:
        """Takes a source out, with the texts that no other source has. Raises SourceNotFound."""
        record = self.get(url)
        self._disk.remove(self._file(record.url))
        still = {version.content for other in self for version in other.versions}
        for version in record.versions:
            if version.content not in still:
                self._disk.remove(self._folder / "texts" / version.content)
        return record

    def difference(self, record: SourceRecord, older: int = -2, newer: int = -1) -> str:
        """A unified diff between two texts of the source; empty where there is only one."""
        if len(record.versions) < 2:
            return ""
        from difflib import unified_diff  # here, because a search lists what there is and compares none of it

        old, new = record.versions[older], record.versions[newer]
        lines = unified_diff(
            self._texts.get(old.content).decode().splitlines(keepends=True),
            self._texts.get(new.content).decode().splitlines(keepends=True),
            f"{record.url} {old.fetched}",
            f"{record.url} {new.fetched}",
            n=2,
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def _write(self, record: SourceRecord) -> None:
        self._disk.make_folder(self._records)
        values = {**record._asdict(), "versions": [version._asdict() for version in record.versions]}
        data = json.dumps(values, ensure_ascii=False, indent=1).encode()
        self._disk.write_whole(self._file(record.url), data)

    def _file(self, url: str) -> Path:
        return self._records / f"{content_hash(url)[:32]}.json"


def _read(file: Path) -> SourceRecord | None:
    try:
        values = json.loads(file.read_bytes())
        values["versions"] = tuple(SourceVersion(**version) for version in values["versions"])
        return SourceRecord(**values)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SourceDamaged(
            f"{file} cannot be read: {error}.", hint="Remove it; the page comes back when it is fetched again."
        ) from error

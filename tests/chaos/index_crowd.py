"""One of several processes that use an index at once, and look for torn or stale answers: `ROLE FOLDER SECONDS SEED`.

Every version of a note has passages of its own number, and each says which version it is of, and of how many. Before a
version is written the writer notes that it was begun, and afterwards that it was acknowledged: an answer must be whole,
no older than what was acknowledged before the question, no newer than what was begun before the answer.
"""

from __future__ import annotations

import json
import mmap
import random
import struct
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Final
from uuid import UUID

import numpy as np

from infold.search.index.contract import Filter, IndexPoint, VectorRecord
from infold.search.index.generations import Generations
from infold.search.index.manifest import NOTES as NOTES_FEED
from infold.search.index.manifest import Manifest
from infold.search.index.point_ids import point_number
from infold.search.index.word_writer import WordWriter
from infold.search.index.words import WordIndex
from infold.search.shared.embedded import EdgeEngine
from infold.search.shared.shared_index import SharedIndex

NOTES: Final = 40
MOST_PASSAGES: Final = 7
SIZE: Final = 16
_NUMBER: Final = struct.Struct("<q")


class Versions:
    """What was begun, or acknowledged, of each note: numbers in a file that every process sees at once."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(bytes(_NUMBER.size * NOTES))
        with file.open("r+b") as opened:
            self._map = mmap.mmap(opened.fileno(), 0)

    def __getitem__(self, note: int) -> int:
        return int(_NUMBER.unpack_from(self._map, note * _NUMBER.size)[0])

    def __setitem__(self, note: int, version: int) -> None:
        _NUMBER.pack_into(self._map, note * _NUMBER.size, version)


def version_of(note: int, version: int) -> list[IndexPoint]:
    """The passages of a version: as many as the version says, so that versions differ in number."""
    count = 1 + (note * 31 + version * 17) % MOST_PASSAGES
    return [
        IndexPoint(
            id=str(UUID(int=(note << 96) | (version << 32) | ordinal)),
            path=f"{note}.md",
            start_line=ordinal,
            end_line=version,
            title=f"{version} {count}",
            trail=(),
            kind="standard",
            group="notebook",
            words=f"levain note{note} version{version} passage{ordinal}",
        )
        for ordinal in range(count)
    ]


def records_of(points: list[IndexPoint]) -> list[VectorRecord]:
    """A vector for each passage, by its version."""
    vectors = np.eye(SIZE, dtype=np.float32)
    return [VectorRecord(point_number(one.id), vectors[one.end_line % SIZE]) for one in points]


def look(opened: Opened, note: int, begun: Versions, acknowledged: Versions, chance: random.Random) -> str:
    """What is wrong with one answer about a note; empty where nothing is."""
    only = Filter(paths=(f"{note}.md",))
    oldest = acknowledged[note]
    if chance.random() < 0.5:
        among = opened.words.numbers(only)
        nearest = opened.vectors.query(np.ones(SIZE, dtype=np.float32), 3 * MOST_PASSAGES, among)
        hits = list(opened.words.numbered([one for one, _ in nearest], only).values())
        is_whole = not hits  # vectors come after words, and are replaced one by one
    else:
        hits = opened.words.search({"levain": 1.0}, 3 * MOST_PASSAGES, only).scored
        is_whole = False
    newest = begun[note]
    if is_whole:
        return ""
    if not hits:
        return "" if oldest == 0 else f"note {note} is missing, version {oldest} was acknowledged"
    if len({hit.title for hit in hits}) != 1:
        return f"note {note} is torn: {sorted({hit.title for hit in hits})}"
    version, count = map(int, hits[0].title.split())
    if hits[0].score and sorted(hit.start_line for hit in hits) != list(range(count)):
        return f"note {note} version {version}: {len(hits)} of {count} passages"
    if not oldest <= version <= newest:
        return f"note {note}: version {version}, of {oldest} to {newest}"
    return ""


class Opened:
    """Words and vectors of the index in use, and who may write them."""

    def __init__(self, folder: Path, *, writes: bool) -> None:
        index = Generations(folder)
        generation = index.current() or ""
        self.vectors = EdgeEngine(folder).open(generation)
        self.words = WordIndex(index.words_of(generation))
        self._writer = WordWriter(index.words_of(generation), is_little=True) if writes else None
        self._manifest = Manifest(folder / "manifest.sqlite") if writes else None

    def write(self, note: int, points: list[IndexPoint]) -> None:
        """As a sync does: what leaves is noted, then words, then vectors; durable before what leaves is forgotten."""
        if self._writer is None or self._manifest is None:
            return
        paths = [f"{note}.md"]
        self._manifest.begin(NOTES_FEED, paths, self._writer.numbers(paths))
        self._writer.replace(paths, points)
        self._writer.commit()
        leaving = self._manifest.leaving()
        self.vectors.delete(self._writer.missing(leaving))
        self.vectors.put(records_of(points))
        self.vectors.flush()
        self._manifest.gone(leaving)

    @property
    def is_owner(self) -> bool:
        return isinstance(self.vectors, SharedIndex) and self.vectors.is_owner

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._manifest is not None:
            self._manifest.close()
        self.words.close()
        self.vectors.close()


def main() -> None:
    """Plays its part for as long as it is told, then prints what it did and saw."""
    role, folder, seconds, seed = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(seed)
    begun, acknowledged = Versions(folder / "begun"), Versions(folder / "acknowledged")
    done = owned = openings = 0
    wrong: list[str] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        openings += 1
        stay = {"opener": 0.05, "reader": 3.0, "writer": 10.0}[role] * chance.uniform(0.2, 2)
        leave = min(end, time.monotonic() + stay)
        with closing(Opened(folder, writes=role == "writer")) as opened:
            while time.monotonic() < leave:
                note = chance.randrange(NOTES)
                owned += opened.is_owner
                if role == "writer":
                    version = begun[note] = begun[note] + 1
                    opened.write(note, version_of(note, version))
                    acknowledged[note] = version
                else:
                    wrong += filter(None, [look(opened, note, begun, acknowledged, chance)])
                done += 1
        time.sleep(chance.uniform(0, 0.1))  # else it would own the index again before anybody notices
    print(json.dumps({"role": role, "done": done, "owned": owned, "openings": openings, "wrong": wrong}))


if __name__ == "__main__":
    main()

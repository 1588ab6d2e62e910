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
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

import numpy as np

from infold.search import terms
from infold.search.index.contract import Filter, Index, IndexPoint
from infold.search.index.generations import IndexFolder
from infold.search.shared.embedded import EdgeEngine
from infold.search.shared.shared_index import SharedIndex

NOTES: Final = 40
MOST_PASSAGES: Final = 7
SIZE: Final = 16
_NUMBER: Final = struct.Struct("<q")
_COMMON: Final = terms.sparse_query("levain")


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
    vector = np.zeros(SIZE, dtype=np.float32)
    vector[version % SIZE] = 1
    return [
        IndexPoint(
            id=str(UUID(int=(note << 96) | (version << 32) | ordinal)),
            path=f"{note}.md",
            start_line=ordinal,
            end_line=version,
            title=f"{version} {count}",
            trail=(),
            kind="standard",
            source="notebook",
            sparse=terms.sparse_document(f"levain note{note} version{version} passage{ordinal}"),
            dense=vector,
        )
        for ordinal in range(count)
    ]


def look(index: Index, note: int, begun: Versions, acknowledged: Versions, chance: random.Random) -> str:
    """What is wrong with one answer about a note; empty where nothing is."""
    only = Filter(paths=(f"{note}.md",))
    oldest = acknowledged[note]
    if chance.random() < 0.5:
        hits = index.query_sparse(_COMMON, 3 * MOST_PASSAGES, only)
    else:
        hits = index.query_dense(np.ones(SIZE, dtype=np.float32), 3 * MOST_PASSAGES, only)
    newest = begun[note]
    if not hits:
        return "" if oldest == 0 else f"note {note} is missing, version {oldest} was acknowledged"
    if len({hit.title for hit in hits}) != 1:
        return f"note {note} is torn: {sorted({hit.title for hit in hits})}"
    version, count = map(int, hits[0].title.split())
    if sorted(hit.start_line for hit in hits) != list(range(count)):
        return f"note {note} version {version}: {len(hits)} of {count} passages"
    if not oldest <= version <= newest:
        return f"note {note}: version {version}, of {oldest} to {newest}"
    return ""


@contextmanager
def opened(folder: Path) -> Iterator[SharedIndex]:
    """The index in use."""
    index = EdgeEngine(folder).open(IndexFolder(folder).current() or "")
    with closing(index):
        assert isinstance(index, SharedIndex)
        yield index


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
        with opened(folder) as index:
            while time.monotonic() < leave:
                note = chance.randrange(NOTES)
                owned += index.is_owner
                if role == "writer":
                    version = begun[note] = begun[note] + 1
                    index.replace([f"{note}.md"], version_of(note, version))
                    acknowledged[note] = version
                    if chance.random() < 0.05:
                        index.flush()
                else:
                    wrong += filter(None, [look(index, note, begun, acknowledged, chance)])
                done += 1
        time.sleep(chance.uniform(0, 0.1))  # else it would own the index again before anybody notices
    print(json.dumps({"role": role, "done": done, "owned": owned, "openings": openings, "wrong": wrong}))


if __name__ == "__main__":
    main()

"""A first index by the command, which may kill itself: `VAULT STATE [OWNER.METHOD CALL]`; and all that an index holds.

Rounds are small, so that 700 notes take several of each kind.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from infold.catalogue.link_blob import unpack_targets
from infold.catalogue.schema import FILE_NAME
from infold.catalogue.store import paths_by_id
from infold.catalogue.summaries import SummaryStore
from infold.search.index.generations import Generations
from infold.search.index.point_ids import point_number
from infold.search.index.words import WordIndex
from infold.search.shared.edge import EdgeIndex

NOTES: Final = 700
SMALL: Final = {
    "infold.catalogue.sync:ROUND": 200,
    "infold.search.index.change_detection:ROUND_NOTES": 150,
    "infold.inbox.summarising:EXTRACTED_AT_ONCE": 256,
}
_COLUMNS: Final = {
    "files": "id, path, size, mtime_ns, day, sha256",
    "notes": "*",
    "outlines": "*",
    "links": "note, said, places",
}
_VICTIMS: Final = {
    "CatalogueSync": "infold.catalogue.sync",
    "WordWriter": "infold.search.index.word_writer",
    "EdgeIndex": "infold.search.shared.edge",
    "NoteVectors": "infold.search.index.note_vectors",
    "SummaryStore": "infold.catalogue.summaries",
}


def write_notes(vault: Path, count: int = NOTES) -> Path:
    """A vault of this many small notes: headings, tags, links that lead somewhere and some that do not, an alias each."""
    for number in range(count):
        note = vault / f"part {number % 7}" / f"note {number:04}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(
            f"---\naliases: [alias {number}]\ntags: [tag{number % 5}]\n---\n# Title {number}\n\n"
            f"The levain of day {number} rises beside [[note {(number * 7) % count:04}]] and [[alias {number // 2}]].\n\n"
            f"## Oven {number % 11}\n\nBake at {200 + number % 50} degrees. See [[nowhere {number}]].\n"
        )
        os.utime(note, (1_700_000_000 + number,) * 2)
    return vault


def begun(vault: Path, state: Path, *victim: str) -> subprocess.Popen[bytes]:
    """The command, which runs; killed where it is said."""
    command = [sys.executable, "-m", __name__, str(vault), str(state), *victim]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=root)


def held(state: Path) -> dict[str, object]:
    """All that is derived, the times of making it aside: part by part, each by path or id."""
    derived = state / "derived"
    folder = Generations(derived / "index")
    generation = folder.current() or ""
    with closing(WordIndex(folder.words_of(generation))) as words:
        points = {point_number(hit.id): hit for hit in words.points()}
        terms = {field: sorted(words.beginning("", field)) for field in ("words", "written")}
    with closing(EdgeIndex(folder.folder_of(generation) / "shard")) as shard:
        vectors = {number: tuple(vector) for number, vector in shard.vectors([*points]).items()}
        assert shard.count() == len(vectors), "a vector of a point that is gone"
    return {
        **catalogue_of(state),
        "points": {number: repr(hit) for number, hit in points.items()},
        "terms": terms,
        "vectors": vectors,
        "means": _rows(folder.note_vectors_of(generation), "SELECT * FROM means"),
        "manifest": _rows(
            folder.manifest_of(generation), "SELECT feed, path, size, mtime_ns, sha256, passages FROM notes"
        ),
        "summaries": sorted(map(repr, SummaryStore(derived / "summaries").load().values())),
    }


def catalogue_of(state: Path) -> dict[str, dict[str, object]]:
    """The part of it that is the catalogue's: rows by table, by path; and where links lead."""
    with closing(sqlite3.connect(state / "derived" / FILE_NAME)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        paths = paths_by_id(db)
        tables: dict[str, dict[str, object]] = {
            table: {paths[number]: tuple(rest) for number, *rest in db.execute(f"SELECT {columns} FROM {table}")}
            for table, columns in _COLUMNS.items()
        }
        leads = db.execute("SELECT note, targets FROM links").fetchall()
    return {**tables, "targets": {paths[note]: [*map(paths.get, unpack_targets(targets))] for note, targets in leads}}


def _rows(file: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as db:
        return sorted(db.execute(query).fetchall())


def main(vault: str, state: str, victim: str = "", call: str = "1") -> None:
    """Runs `infold index`; is killed when `victim` has been called so many times."""
    os.cpu_count = lambda: 2  # workers, wherever this runs
    for name, size in SMALL.items():
        module, _, constant = name.partition(":")
        setattr(import_module(module), constant, size)
    if victim:
        owner, _, method = victim.partition(".")
        _kill_after(getattr(import_module(_VICTIMS[owner]), owner), method, int(call))
    from infold.cli.start import main as command

    sys.argv = ["infold", "index", "--vault", vault, "--state", state]
    command()


def _kill_after(owner: type, method: str, last: int) -> None:
    original, calls = getattr(owner, method), 0

    def dying(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        result = original(*given, **named)
        if calls == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, method, dying)


if __name__ == "__main__":
    main(*sys.argv[1:])

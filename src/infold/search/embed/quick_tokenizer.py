"""The bundled model's tokens of a short text in a millisecond: its tokenizer would read 32,000 words of JSON first.

Byte-pair encoding as that tokenizer does it, from a file of two tables that is made of its JSON once, when something is
embedded anyway. What it cannot read, or was made of another tokenizer, is no file: the tokenizer itself answers then.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Final

_SPACE: Final = "▁"
_TABLES: Final = """
CREATE TABLE pieces (piece TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE merges (pair TEXT PRIMARY KEY, rank INTEGER NOT NULL) WITHOUT ROWID;
"""


def quick_file(folder: Path, tokenizer: Path) -> Path:
    """Where the tables made of this tokenizer are kept: another file of it has others."""
    status = tokenizer.stat()
    return folder / f"tokens-{status.st_size}-{status.st_mtime_ns}.sqlite"


def make_quick(tokenizer: Path, file: Path) -> None:
    """Makes the tables where there are none yet. Nothing depends on them: if they cannot be written, there are none."""
    if file.exists():
        return
    model = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]
    temporary = file.with_name(f"{file.name}.{id(model)}.tmp")
    with suppress(OSError, sqlite3.Error):
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(temporary)) as db:
            db.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
            db.executemany("INSERT INTO pieces VALUES (?, ?)", model["vocab"].items())
            db.executemany(
                "INSERT INTO merges VALUES (?, ?)", ((pair, rank) for rank, pair in enumerate(model["merges"]))
            )
            db.commit()
        temporary.replace(file)
    temporary.unlink(missing_ok=True)


def quick_tokens(file: Path, text: str) -> list[int] | None:
    """The ids of the tokens of `text`; None where the tables are not there, or the text wants the tokenizer itself."""
    if "<" in text or not file.exists():  # a token of its own may be written out
        return None
    if not text:
        return []
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?immutable=1", uri=True)) as db:
            return _encoded(db, _SPACE + text.replace(" ", _SPACE))
    except sqlite3.Error:
        return None


def _encoded(db: sqlite3.Connection, text: str) -> list[int] | None:
    known: dict[str, int | None] = {}

    def id_of(piece: str) -> int | None:
        if piece not in known:
            row = db.execute("SELECT id FROM pieces WHERE piece = ?", (piece,)).fetchone()
            known[piece] = row[0] if row else None
        return known[piece]

    pieces: list[str] = []
    for sign in text:
        pieces += [sign] if id_of(sign) is not None else [f"<0x{byte:02X}>" for byte in sign.encode("utf-8", "replace")]
    pieces = _merged(db, pieces)
    found = [id_of(piece) for piece in pieces]
    return [one for one in found if one is not None] if None not in found else None


def _merged(db: sqlite3.Connection, pieces: list[str]) -> list[str]:
    """The pieces, the pair that comes first in the model's list made one, the leftmost first, until there is none."""
    ranks: dict[tuple[str, str], int | None] = {}

    def rank_of(left: str, right: str) -> int | None:
        if (left, right) not in ranks:
            row = db.execute("SELECT rank FROM merges WHERE pair = ?", (f"{left} {right}",)).fetchone()
            ranks[left, right] = row[0] if row else None
        return ranks[left, right]

    after, before = list(range(1, len(pieces) + 1)), list(range(-1, len(pieces) - 1))
    pieces = pieces.copy()

    def pair_at(at: int) -> tuple[int, int] | None:
        """The rank of the piece at `at` with the next one, and `at`; None where they are no pair."""
        if at < 0 or after[at] >= len(pieces):
            return None
        rank = rank_of(pieces[at], pieces[after[at]])
        return None if rank is None else (rank, at)

    ahead = [pair for at in range(len(pieces) - 1) if (pair := pair_at(at)) is not None]
    heapify(ahead)
    while ahead:
        pair = heappop(ahead)
        at = pair[1]
        if not pieces[at] or pair_at(at) != pair:  # one of the two has become part of another
            continue
        taken = after[at]
        pieces[at], pieces[taken] = pieces[at] + pieces[taken], ""
        after[at] = after[taken]
        if after[at] < len(pieces):
            before[after[at]] = at
        for pair_here in (pair_at(before[at]), pair_at(at)):
            if pair_here is not None:
                heappush(ahead, pair_here)
    return [piece for piece in pieces if piece]

"""The bundled model's tokens of a short text in a millisecond: its tokenizer would read 32,000 words of JSON first.

Byte-pair encoding as that tokenizer does it, from a file of two tables that is made of its JSON once, when something is
embedded anyway. What it cannot read, or was made of another tokenizer, is no file: the tokenizer itself answers then.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Final

from infold.search.embed.many_tokens import WORD

_SPACE: Final = "▁"
_WRITTEN_OUT: Final = re.compile("<s>|</s>|<unk>")  # tokens that are no part of a word
_MOST_KNOWN: Final = 8_192  # pieces, and pairs of them, that stay known
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


class QuickTokenizer:
    """The tokens by the tables in `file`, which stay open, and what was looked up known. For any number of threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._turn = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._words: dict[str, list[int] | None] = {}
        self._ids: dict[str, int | None] = {}
        self._ranks: dict[tuple[str, str], int | None] = {}

    def tokens(self, text: str) -> list[int] | None:
        """The ids of the tokens of `text`; None where there are no tables, or the text wants the tokenizer itself."""
        if _WRITTEN_OUT.search(text):
            return None
        if not text:
            return []
        with self._turn:
            try:
                return self._read(f" {text}") if self._is_open() else None
            except sqlite3.Error:
                self._let_go()
                return None

    def close(self) -> None:
        """Lets go of the file. Asked again, it is opened again."""
        with self._turn:
            self._let_go()

    def _is_open(self) -> bool:
        if self._db is None and self._file.exists():
            place = f"{self._file.absolute().as_uri()}?immutable=1"
            self._db = sqlite3.connect(place, uri=True, check_same_thread=False)
        for known in (self._words, self._ids, self._ranks):
            if len(known) > _MOST_KNOWN:
                known.clear()
        return self._db is not None

    def _let_go(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def _looked_up(self, query: str, value: str) -> int | None:
        row = self._db.execute(query, (value,)).fetchone() if self._db is not None else None
        return row[0] if row else None

    def _id_of(self, piece: str) -> int | None:
        if piece not in self._ids:
            self._ids[piece] = self._looked_up("SELECT id FROM pieces WHERE piece = ?", piece)
        return self._ids[piece]

    def _rank_of(self, left: str, right: str) -> int | None:
        pair = left, right
        if pair not in self._ranks:
            self._ranks[pair] = self._looked_up("SELECT rank FROM merges WHERE pair = ?", f"{left} {right}")
        return self._ranks[pair]

    def _read(self, text: str) -> list[int] | None:
        """The ids of each word in turn: what is merged has no space or line end behind another sign."""
        found: list[int] = []
        for word in [text] if _SPACE in text else WORD.findall(text):
            if word not in self._words:
                self._words[word] = self._encoded(word.replace(" ", _SPACE))
            ids = self._words[word]
            if ids is None:
                return None
            found += ids
        return found

    def _encoded(self, text: str) -> list[int] | None:
        pieces: list[str] = []
        for sign in text:
            is_piece = self._id_of(sign) is not None
            pieces += [sign] if is_piece else [f"<0x{byte:02X}>" for byte in sign.encode("utf-8", "replace")]
        found = [self._id_of(piece) for piece in _merged(pieces, self._rank_of)]
        return [one for one in found if one is not None] if None not in found else None


def _merged(pieces: list[str], rank_of: Callable[[str, str], int | None]) -> list[str]:
    """The pieces, the pair that comes first in the model's list made one, the leftmost first, until there is none."""
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

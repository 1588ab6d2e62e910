"""SQLite behind the face of `bench.rival_engines`: FTS5 with the Porter stemmer, and sqlite-vec."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any, Final

from bench.rival_engines import BEST, DEPTH, RRF_K, Corpus, Passage, Vector

STOP_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for from has have if in into is it its no not of on or such that the their then "
        "there these they this to was were will with you your",
    )
)


def connect(file: Path) -> Any:
    """A connection that loads extensions, which not every Python's own SQLite does."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3.connect(file)
    import pysqlite3

    return pysqlite3.connect(file)


class Sqlite:
    """SQLite: FTS5 with the Porter stemmer, and sqlite-vec."""

    name = "SQLite FTS5 + sqlite-vec"
    most_passages: int | None = None

    def __init__(self, home: Path) -> None:
        import sqlite_vec

        home.mkdir(parents=True, exist_ok=True)
        self._base = connect(home / "index.db")
        self._base.enable_load_extension(True)
        sqlite_vec.load(self._base)
        self._base.execute("PRAGMA journal_mode=WAL")

    def build(self, corpus: Corpus) -> None:
        """One transaction."""
        size = corpus.vectors.shape[1]
        self._base.executescript(
            f"""CREATE TABLE passages(id INTEGER PRIMARY KEY, path TEXT, folder TEXT, text TEXT);
            CREATE VIRTUAL TABLE words USING fts5(
                text, content=passages, content_rowid=id, tokenize='porter unicode61');
            CREATE VIRTUAL TABLE meaning USING vec0(
                id INTEGER PRIMARY KEY, folder TEXT, embedding FLOAT[{size}] distance_metric=cosine);"""
        )
        self._add(corpus.passages, corpus.vectors)
        self._base.executescript("CREATE INDEX by_path ON passages(path); CREATE INDEX by_folder ON passages(folder);")

    def open(self) -> None:
        """It is."""
        self._base.execute("SELECT count(*) FROM passages").fetchone()

    def change(self, old: list[Passage], new: list[Passage], vectors: Vector) -> None:
        """One transaction."""
        gone = [(passage.id, passage.text) for passage in old]
        self._base.executemany("INSERT INTO words(words, rowid, text) VALUES ('delete', ?, ?)", gone)
        for table in ("meaning", "passages"):
            self._base.executemany(f"DELETE FROM {table} WHERE id = ?", [(number,) for number, _ in gone])
        self._add(new, vectors)

    def keyword(self, text: str, folder: str | None = None) -> list[str]:
        """BM25 over any of the words; stop words left out, without which it is three times as slow."""
        return [path for _, path in self._keyword(text, folder, BEST)]

    def dense(self, vector: Vector, folder: str | None = None) -> list[str]:
        """Cosine, exact."""
        return [path for _, path in self._dense(vector, folder, BEST)]

    def hybrid(self, text: str, vector: Vector, folder: str | None = None) -> list[str]:
        """Fused here."""
        scores: dict[int, float] = {}
        paths: dict[int, str] = {}
        for weight, leg in ((1.0, self._keyword(text, folder, DEPTH)), (0.3, self._dense(vector, folder, DEPTH))):
            for rank, (number, path) in enumerate(leg, start=1):
                scores[number] = scores.get(number, 0.0) + weight / (RRF_K + rank)
                paths[number] = path
        return [paths[number] for number in sorted(scores, key=lambda number: -scores[number])[:BEST]]

    def _add(self, passages: list[Passage], vectors: Vector) -> None:
        rows = [(p.id, p.path, p.folder, p.text) for p in passages]
        self._base.executemany("INSERT INTO passages VALUES (?, ?, ?, ?)", rows)
        self._base.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", [(p.id, p.text) for p in passages])
        self._base.executemany(
            "INSERT INTO meaning(id, folder, embedding) VALUES (?, ?, ?)",
            [(p.id, p.folder, vector.tobytes()) for p, vector in zip(passages, vectors, strict=True)],
        )
        self._base.commit()

    def _keyword(self, text: str, folder: str | None, limit: int) -> list[tuple[int, str]]:
        words = [f'"{word}"' for word in re.findall(r"\w+", text.lower()) if word not in STOP_WORDS]
        filtered = "" if folder is None else "AND +passages.folder = ?"  # +: the words first, then the folder
        given = (" OR ".join(words), *([folder] if folder else []), limit)
        return list(
            self._base.execute(
                f"SELECT passages.id, path FROM words JOIN passages ON passages.id = words.rowid "
                f"WHERE words MATCH ? {filtered} ORDER BY words.rank LIMIT ?",
                given,
            ).fetchall()
        )

    def _dense(self, vector: Vector, folder: str | None, limit: int) -> list[tuple[int, str]]:
        filtered = "" if folder is None else "AND folder = ?"
        given = (vector.tobytes(), limit, *([folder] if folder else []))
        found = self._base.execute(
            f"SELECT id FROM meaning WHERE embedding MATCH ? AND k = ? {filtered} ORDER BY distance", given
        ).fetchall()
        path = "SELECT path FROM passages WHERE id = ?"
        return [(number, self._base.execute(path, (number,)).fetchone()[0]) for (number,) in found]

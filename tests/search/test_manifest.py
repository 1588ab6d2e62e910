"""The manifest of an index: what it says of all notes at once, while rows come, change and go."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from infold.durable.sqlite import Database
from infold.search.index.manifest import SCHEMA, IndexedNote, Manifest

FEEDS = st.sampled_from(["notes", "sessions"])
PATHS = st.sampled_from(["a.md", "b.md", "c.md", "d.md"])
LANGUAGES = st.sampled_from(["", "english", "german", "french"])
ROWS = st.dictionaries(PATHS, st.tuples(st.integers(0, 9), LANGUAGES), max_size=3)
STEPS = st.lists(st.tuples(st.sampled_from(["begin", "finish", "touch"]), FEEDS, ROWS, st.sets(PATHS)), max_size=8)


def do(manifest: Manifest, step, feed: str, rows, gone) -> None:
    """One step of a sync, as it might come."""
    if step == "begin":
        manifest.begin(feed, list(rows))
    elif step == "finish":
        done = [IndexedNote(feed, path, 1, 1, "hash", "", n, told, 1) for path, (n, told) in rows.items()]
        manifest.finish(feed, done, sorted(gone - rows.keys()))
    else:
        manifest.touch(note._replace(mtime_ns=2) for note in manifest.notes(feed).values())


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_what_all_notes_come_to_is_as_the_rows_say(steps):
    """Passages and languages are kept beside the rows; after any writes they are what counting the rows gives."""
    with tempfile.TemporaryDirectory() as folder, closing(Manifest(Path(folder) / "manifest.sqlite")) as manifest:
        for step in steps:
            do(manifest, *step)
            with closing(sqlite3.connect(manifest.file)) as db:
                passages, unfinished = db.execute(
                    "SELECT coalesce(sum(passages), 0), coalesce(sum(sha256 = ''), 0) FROM notes"
                ).fetchone()
                spoken = db.execute(
                    "SELECT language FROM notes WHERE language != '' GROUP BY language ORDER BY count(*) DESC, language"
                ).fetchall()
            assert manifest.passage_count() == (None if unfinished else passages)
            assert manifest.languages(2) == tuple(language for (language,) in spoken)[:2]


HASHES = st.one_of(st.just(""), st.just("memory"), st.binary(min_size=32, max_size=32).map(bytes.hex))


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        PATHS,
        st.builds(
            IndexedNote,
            st.just("notes"),
            st.just(""),
            *[st.integers(0, 2**62)] * 2,
            HASHES,
            st.sampled_from(["standard", "daily"]),
            st.integers(0, 9),
            LANGUAGES,
            st.integers(0, 2**62),
        ),
    )
)
def test_a_note_comes_back_as_it_was_given(notes):
    """Every field, whatever stands for the content: a hash, nothing yet, or the name of a feed without files."""
    given_ = {path: note._replace(path=path) for path, note in notes.items()}
    with tempfile.TemporaryDirectory() as folder, closing(Manifest(Path(folder) / "manifest.sqlite")) as manifest:
        manifest.finish("notes", given_.values(), [])
        assert manifest.notes() == given_
        manifest.touch(given_.values())
        assert manifest.notes("notes", list(given_)[:1]) == dict(list(given_.items())[:1])


def test_a_manifest_of_before_still_says_what_it_holds(tmp_path):
    """Its rows are read as those of today: a vault that is suddenly empty empties no older index either."""
    file = tmp_path / "manifest.sqlite"
    first = SCHEMA._replace(migrations=SCHEMA.migrations[:1])
    row = ("notes", "a.md", 1, 2, "ab" * 32, "standard", 3, "english", "A", 4)
    with closing(Database(file, first)) as db, db.writing() as connection:
        connection.execute(f"INSERT INTO notes VALUES ({', '.join('?' * len(row))})", row)
    with closing(Manifest(file)) as manifest:
        assert manifest.notes() == {"a.md": IndexedNote(*row[:8], row[9])}


def test_totals_that_are_damaged_are_counted_again(tmp_path):
    """They are told by the rows, too."""
    with closing(Manifest(tmp_path / "manifest.sqlite")) as manifest:
        manifest.finish("notes", [IndexedNote("notes", "a.md", 1, 1, "hash", "", 3, "english", 1)], [])
        with closing(sqlite3.connect(manifest.file)) as db, db:
            db.execute("UPDATE meta SET value = '{' WHERE key = 'totals'")
        assert (manifest.passage_count(), manifest.languages(3)) == (3, ("english",))

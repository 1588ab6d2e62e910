"""The manifest of an index: what it says of all notes at once, while rows come, change and go."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from infold.search.index.manifest import IndexedNote, Manifest

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
        done = [IndexedNote(feed, path, 1, 1, "hash", "", n, told, "", 1) for path, (n, told) in rows.items()]
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

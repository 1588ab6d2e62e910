"""A catalogue made anew beside the one in use."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from infold.catalogue.derived import generation_of
from infold.catalogue.renewal import FILE_NAME, renewed
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.settings import Params

FACTS = "SELECT path, size, sha256, title, words, tags, aliases, headings, outline, passages, targets, said, places"
ALL_FACTS = f"{FACTS} FROM files JOIN notes USING (id) JOIN outlines USING (id) LEFT JOIN links ON note = id ORDER BY 1"
WRONG = (  # of valid form each
    "UPDATE notes SET title = 'Pie', tags = 'pie', words = 7",
    "UPDATE files SET path = 'c.md' WHERE path = 'a.md'",
    "UPDATE files SET sha256 = zeroblob(32), is_certain = 1",
    "UPDATE links SET targets = zeroblob(length(targets))",
    "UPDATE outlines SET id = id + 100",
    "DELETE FROM links",
    "INSERT INTO derived SELECT 'graph', value, x'00' FROM meta WHERE key = 'generation'",
    "UPDATE meta SET value = '?' WHERE key = 'generation'",
    "DROP INDEX notes_with_problems",
)


@pytest.fixture
def catalogue(tmp_path: Path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("---\ntags: [fruit]\n---\n# Apple\n\n[[b]] [[nowhere]]\n")
    (vault / "b.md").write_text("# Pear\n\n## Core\n\n[[a]]\n")
    for file in vault.iterdir():
        os.utime(file, (1_000_000_000, 1_000_000_000))
    found = Catalogue(tmp_path / "catalogue.sqlite", vault, Params())
    sync_catalogue(found)
    yield found
    found.close()


def facts(catalogue: Catalogue) -> list[tuple[object, ...]]:
    with catalogue.reading() as db:
        return db.execute(ALL_FACTS).fetchall()


def done(catalogue: Catalogue, *statements: str) -> None:
    with closing(sqlite3.connect(catalogue.file)) as db, db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize("wrong", WRONG)
def test_no_wrong_fact_outlives_a_renewal(catalogue, wrong):
    """Whatever was wrong, and certain by all that a sync goes by, is as the notes say; nothing worked out is left."""
    true = facts(catalogue)
    done(catalogue, wrong)
    before = generation_of(catalogue) if "?" not in wrong else 0
    with renewed(catalogue) as new:
        sync_catalogue(new)
    assert facts(catalogue) == true
    assert generation_of(catalogue) > before  # else who remembers the wrong ones would take them for these
    with catalogue.reading() as db:
        assert not db.execute("SELECT * FROM derived").fetchall()
    assert not catalogue.file.with_name(FILE_NAME).exists()


def test_readers_have_the_old_one_until_the_new_one_is_whole(catalogue):
    """Beside it nothing is missing at any moment; what a kill left of a former one is not taken for a fact."""
    true = facts(catalogue)
    catalogue.file.with_name(FILE_NAME).write_bytes(b"half of a file")
    with closing(Catalogue(catalogue.file, catalogue.vault, catalogue.params)) as reader, renewed(catalogue) as new:
        assert facts(reader) == true
        assert new.count() == 0
        sync_catalogue(new)
        assert facts(reader) == true
    assert facts(catalogue) == true


def test_what_fails_or_finds_nothing_takes_nothing(catalogue):
    """The old one stays: an absent vault is no empty one."""
    true = facts(catalogue)
    with suppress(KeyboardInterrupt), renewed(catalogue) as new:
        sync_catalogue(new, ["a.md"])
        raise KeyboardInterrupt
    assert facts(catalogue) == true
    with renewed(catalogue):
        pass
    assert facts(catalogue) == true


def test_a_damaged_file_is_replaced(catalogue):
    """One that shows its damage only when its rows go is taken away whole."""
    true = facts(catalogue)
    catalogue.close()
    data = bytearray(catalogue.file.read_bytes())
    page = int.from_bytes(data[16:18])
    for start in range(page, len(data), page):
        data[start : start + 8] = b"\xff" * 8
    catalogue.file.write_bytes(data)
    with renewed(catalogue) as new:
        sync_catalogue(new)
    assert facts(catalogue) == true


def test_the_day_on_which_a_file_was_first_seen_stays(catalogue):
    """Nothing else knows of it; a day later than that of the file is none."""
    file = catalogue.vault / "a.md"
    day = catalogue.notes(["a.md"])[0].day
    os.utime(file, (1_500_000_000, 1_500_000_000))
    done(catalogue, "UPDATE files SET day = 50000 WHERE path = 'b.md'")
    with renewed(catalogue) as new:
        sync_catalogue(new)
    assert [note.day for note in catalogue.notes()] == [day, day]

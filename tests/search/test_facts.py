"""The debug facts have the shapes of the specification (spec 3, section 10), to the key."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from infold.search import index_status as facts
from infold.search.follow.watcher import watch_claimed
from infold.settings import Params
from infold.workspace import Workspace

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

type_of = {
    "indexed": bool,
    "lastSync": str,
    "lastSyncDuration": int,
    "embeddingModel": str,
    "dbSizeBytes": int,
    "watcherActive": bool,
    "servedBy": type(None),
}


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    """The contacts of the specification, and a day's log."""
    vault = tmp_path / "vault"
    for path, text in {
        "reference/contacts.md": "# Contacts\n\n## Sarah Chen\n- Phone: 555-1234\n- Email: sarah@example.com\n",
        "daily/2026-02-24.md": "# Daily Log — 2026-02-24\n\n## 11:30 — Sarah meeting prep\nSarah now at Acme Corp.\n",
    }.items():
        (vault / path).parent.mkdir(parents=True)
        (vault / path).write_text(text)
    return Workspace(vault=vault, state=tmp_path / "state", inbox=vault / "inbox.md", params=Params())


@pytest.fixture
def indexed(space: Workspace, static_embedder) -> Workspace:
    """The same, indexed."""
    list(facts.rebuild(space, static_embedder))
    return space


def test_a_rebuild_says_that_it_began_and_what_came_of_it(space: Workspace, static_embedder):
    """Two objects: the first before any work, the second with the counts."""
    steps = facts.rebuild(space, static_embedder)
    assert next(steps) == {"started": True, "message": "Full rebuild initiated"}
    assert facts.status(space)["indexed"] is False
    done = next(steps)
    assert done["result"].pop("durationMs") >= 0
    assert done == {
        "completed": True,
        "result": {"filesScanned": 2, "filesChanged": 2, "chunksCreated": 2, "embeddingsComputed": 2},
    }
    assert next(steps, None) is None


def test_status(indexed: Workspace):
    """Every key of the specification, no other, each of its kind."""
    found = facts.status(indexed)
    assert {name: type(found[name]) for name in type_of} == type_of
    assert MOMENT.fullmatch(found["lastSync"])
    assert found["dbSizeBytes"] > 1000
    assert found["embeddingModel"].startswith("static/")
    assert {name: value for name, value in found.items() if name not in type_of} == {
        "files": {"total": 2, "stale": 0},
        "chunks": {"total": 2, "withEmbeddings": 2, "cachedEmbeddings": 0},  # the bundled model's are not kept
    }
    with watch_claimed(indexed.index):
        assert facts.status(indexed)["watcherActive"] is True
    assert facts.status(indexed)["watcherActive"] is False


def test_status_before_there_is_an_index(space: Workspace):
    """The same keys, and nothing is made by asking."""
    found = facts.status(space)
    assert (found["indexed"], found["lastSync"], found["embeddingModel"]) == (False, None, None)
    assert set(found) == {*type_of, "files", "chunks"}
    assert not space.index.exists()
    assert facts.files(space) == {"files": []}


def test_files(indexed: Workspace):
    """Each indexed note with hash, time, size, passages, and whether it changed since."""
    contacts = indexed.vault / "reference" / "contacts.md"
    os.utime(contacts, (1771932600, 1771932600))
    first, second = facts.files(indexed)["files"]
    assert set(first) == {"path", "hash", "mtime", "size", "chunks", "stale"}
    assert (first["path"], first["stale"], MOMENT.fullmatch(first["mtime"]) is None) == (
        "daily/2026-02-24.md",
        False,
        False,
    )
    assert (second["path"], second["size"], second["chunks"], second["stale"]) == (
        "reference/contacts.md",
        contacts.stat().st_size,
        1,
        True,
    )
    assert facts.status(indexed)["files"]["stale"] == 1


def test_what_no_sync_can_read_is_not_stale(indexed: Workspace, static_embedder):
    """A file that is no note does not make the index look behind for ever; a new note does, until it is indexed."""
    (indexed.vault / "picture.md").write_bytes(b"\xff\xfe\x00\x01")
    assert facts.status(indexed)["files"] == {"total": 2, "stale": 0}
    (indexed.vault / "new.md").write_text("# New\n")
    assert facts.status(indexed)["files"] == {"total": 2, "stale": 1}
    list(facts.rebuild(indexed, static_embedder))
    assert facts.status(indexed)["files"] == {"total": 3, "stale": 0}


def test_an_index_that_is_damaged_is_said_to_be_none(indexed: Workspace):
    """The facts do not fail with it."""
    generation = facts.Generations(indexed.index)  # type: ignore[attr-defined]
    generation.mark_damaged()
    assert facts.status(indexed)["indexed"] is False
    generation.manifest_of(generation.current()).write_bytes(b"no database")
    found = facts.status(indexed)
    assert (found["indexed"], found["files"]["total"]) == (False, 0)
    assert facts.held(indexed) == (0, 0, 0)

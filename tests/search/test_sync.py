"""Keeping the index in step with the vault: what is done, what is not done again, and what survives a kill."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as qe

from infold.errors import IndexFault, VaultBusy
from infold.search.manifest import Manifest
from infold.search.query import Searcher
from infold.search.shard import IndexFolder
from infold.search.sync import SyncResult
from infold.settings import Params


def contents(index: Path) -> dict[str, tuple[object, ...]]:
    """Every point of an index, whole."""
    with IndexFolder(index).copied() as copy:
        shard = qe.EdgeShard.load(str(copy.folder))
        records, _ = shard.scroll(qe.ScrollRequest(limit=100_000, with_payload=True, with_vector=True))
        found = {}
        for record in records:
            sparse, dense = record.vector["bm25"], record.vector.get("dense")
            weights = tuple(sorted(zip(sparse.indices, sparse.values, strict=True)))
            payload = tuple(sorted((key, str(value)) for key, value in record.payload.items()))
            found[str(record.id)] = (payload, weights, None if dense is None else tuple(dense))
        shard.close()
    return found


def test_a_first_sync_indexes_every_note_but_the_inbox(place):
    """Each note is counted under spec 3's names; the inbox is no note to be found."""
    result = place.sync()
    assert (result.files_changed, result.chunks_created, result.embeddings_computed) == (4, 5, 5)
    assert place.found("rhubarb") == []
    assert place.found("levain") == ["bread.md"]
    assert set(result.as_json()) == {
        "filesScanned",
        "filesChanged",
        "chunksCreated",
        "embeddingsComputed",
        "embeddingsCached",
        "durationMs",
    }
    assert all(type(value) is int for value in result.as_json().values())


def test_nothing_changed_is_nothing_done(place):
    """A second sync reads no note, computes no vector and does not open the shard."""
    place.sync()
    before = {file: file.stat().st_mtime_ns for file in (place.index / "shard").rglob("*") if file.is_file()}
    result = place.sync()
    assert (result.files_scanned, result.files_changed, result.chunks_created) == (5, 0, 0)
    assert before == {file: file.stat().st_mtime_ns for file in (place.index / "shard").rglob("*") if file.is_file()}


def test_only_a_changed_note_is_written_again(place):
    """One note changed: one note read, and only its new text embedded."""
    place.sync()
    place.write("bread.md", "# Bread\n\nA poolish is quicker.\n\n## Oven\n\nBake at 250 degrees in cast iron.\n")
    result = place.sync()
    assert (result.files_changed, result.chunks_created) == (1, 2)
    assert (result.embeddings_computed, result.embeddings_cached) == (1, 1)
    assert place.found("levain") == []
    assert place.found("poolish") == ["bread.md"]


def test_deleted_text_is_not_found(place):
    """A deleted note leaves every layer: keywords, vectors, candidates and the manifest."""
    place.sync()
    (place.vault / "bread.md").unlink()
    result = place.sync()
    assert result.files_removed == 1
    with place.searcher() as searcher:
        assert "bread.md" not in [hit.path for hit in searcher.keyword("levain oven", 50)]
        assert "bread.md" not in [hit.path for hit in searcher.dense("levain oven", 50)]
        assert "bread.md" not in searcher.candidates("levain oven", 50)
    assert "bread.md" not in Manifest(place.index / "manifest.sqlite").notes()


def test_a_renamed_note_computes_nothing(place):
    """Vectors belong to content: a rename moves the passages and embeds none."""
    place.sync()
    (place.vault / "garden" / "tomatoes.md").rename(place.vault / "garden" / "love apples.md")
    result = place.sync()
    assert (result.files_changed, result.files_removed) == (1, 1)
    assert (result.embeddings_computed, result.embeddings_cached) == (0, 1)
    assert place.found("stake") == ["garden/love apples.md"]
    assert place.found("love apples") == ["garden/love apples.md"]


def test_a_lost_index_computes_no_vector_again(place):
    """The index is derived: deleted, it comes back as it was, from kept vectors."""
    place.sync()
    before = contents(place.index)
    shutil.rmtree(place.index)
    result = place.sync()
    assert (result.embeddings_computed, result.embeddings_cached) == (0, 5)
    assert contents(place.index) == before


def test_lost_vectors_are_computed_again(place):
    """The kept vectors are derived too."""
    place.sync()
    before = contents(place.index)
    shutil.rmtree(place.embeddings)
    result = place.sync(rebuild=True)
    assert result.rebuilt
    assert result.embeddings_computed == 5
    assert contents(place.index) == before


@pytest.mark.parametrize(
    "damage", ["config", "garbage", "truncated", "panic", "no segments", "manifest", "manifest gone"]
)
def test_a_damaged_index_is_made_anew(place, damage: str):
    """Whatever is wrong with the index's files, a search names it or works, and the next syncs put it right."""
    place.sync()
    whole = contents(place.index)
    shard = place.index / "shard"
    segment = next((shard / "segments").iterdir())
    if damage == "config":
        (shard / "edge_config.json").write_text("{")
    elif damage == "garbage":
        (segment / "segment.json").write_bytes(b"\x00garbage")
    elif damage == "truncated":
        for file in segment.rglob("*.dat"):
            file.write_bytes(file.read_bytes()[:10])
    elif damage == "panic":
        for file in segment.glob("payload_index/*/*/status.dat"):
            file.write_bytes(b"")
    elif damage == "no segments":
        shutil.rmtree(shard / "segments")
    elif damage == "manifest":
        (place.index / "manifest.sqlite").write_bytes(b"no database" * 100)
    else:
        (place.index / "manifest.sqlite").unlink()
    with contextlib.suppress(IndexFault):
        assert place.found("levain") == ["bread.md"]
    result = place.sync()
    assert result.embeddings_computed == 0
    assert contents(place.index) == whole


def test_another_model_or_cut_makes_the_index_anew(place):
    """An index made with other settings is not mixed with; vectors of both models are kept."""
    place.sync()
    embedder = place.embedder
    place.embedder = None
    assert place.sync().rebuilt
    with place.searcher() as searcher:
        assert searcher.dense("levain", 5) == []
        assert searcher.candidates("levain", 5) == ["bread.md"]
    place.embedder = embedder
    result = place.sync()
    assert (result.rebuilt, result.embeddings_computed) == (True, 0)
    place.params = Params.model_validate({"search": {"passage_tokens": 64}})
    assert place.sync().rebuilt


def test_a_vault_suddenly_empty_empties_nothing(place):
    """An absent mount is not a deletion."""
    place.sync()
    shutil.rmtree(place.tables)
    shutil.move(place.vault, place.root / "elsewhere")
    place.vault.mkdir()
    assert place.sync().emptied
    assert place.sync(rebuild=True).emptied
    place.embedder = None
    assert place.sync().emptied
    assert place.found("levain") == ["bread.md"]


def test_a_note_that_cannot_be_read_is_named(place):
    """A note that vanished between table and index is skipped by name; the others are indexed."""
    from infold.tables.sync import sync_tables

    sync_tables(place.vault, place.tables, place.params)
    (place.vault / "bread.md").unlink()
    result = _index_only(place)
    assert [path for path, _ in result.skipped] == ["bread.md"]
    assert place.found("tomatoes") != []


def _index_only(place) -> SyncResult:
    from infold.search.sync import sync_index

    return sync_index(place.vault, place.tables, place.embeddings, place.index, place.params, place.embedder)


def test_two_syncs_do_not_mix(place):
    """While one process syncs, another waits, and says who it waits for when that takes too long."""
    place.sync()
    place.write("new.md", "Something new.")
    with IndexFolder(place.index).owned(), pytest.raises(VaultBusy, match="search index"):
        place.sync()
    assert place.sync().files_changed == 1


def test_searches_go_on_while_a_sync_runs(place):
    """Several searches and a sync at once: no search is refused, each sees whole notes."""
    place.sync()
    seen: list[list[str]] = []

    def look(stage: str, done: int, total: int) -> None:
        with place.searcher() as one, place.searcher() as two:
            seen.append([hit.path for hit in one.keyword("levain", 5)])
            assert [hit.path for hit in two.keyword("levain", 5)] == seen[-1]

    place.write("second.md", "Another levain.")
    place.sync(progress=look)
    assert seen[0] == ["bread.md"]
    assert sorted(seen[-1]) == ["bread.md", "second.md"]
    assert list((place.index / "readers").iterdir()) == []


def test_keywords_are_searchable_before_vectors(place):
    """The first stage is enough to search by keyword; vectors follow."""
    stages: list[tuple[str, list[str]]] = []
    place.sync(progress=lambda stage, done, total: stages.append((stage, place.found("levain") if done else [])))
    first = next(found for stage, found in stages if stage == "keywords" and found)
    assert first == ["bread.md"]
    assert [stage for stage, _ in stages] == ["keywords", "keywords", "vectors", "vectors"]


def test_no_index_yet_is_said(tmp_path):
    """Searching without an index names the command that makes one."""
    with pytest.raises(IndexFault, match="no search index") as fault:
        Searcher(tmp_path / "index", Params().search, None)
    assert "infold index" in fault.value.hint


KILLED = """
import os, signal, sys
from pathlib import Path
import infold.search.edge as edge, infold.search.manifest as manifest, infold.tables.embeddings as embeddings
from infold.search import changes, sync
from infold.search.embedding import StaticEmbedder
from infold.settings import Params
from infold.tables.sync import sync_tables

root, victim, moment = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
changes.ROUND_NOTES, sync.VECTOR_BATCH = 1, 2
owner, name = {"Manifest": manifest.Manifest, "EdgeIndex": edge.EdgeIndex, "Store": embeddings.EmbeddingStore}[
    victim.split(".")[0]], victim.split(".")[1]
original, calls = getattr(owner, name), 0

def dying(self, *args):
    global calls
    calls += 1
    if calls == 3 and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = original(self, *args)
    if calls == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(owner, name, dying)
sync_tables(root / "vault", root / "tables", Params())
sync.sync_index(root / "vault", root / "tables", root / "embeddings", root / "index", Params(), StaticEmbedder())
"""


@pytest.mark.parametrize(
    "victim, moment",
    [
        ("Manifest.begin", "before"),
        ("EdgeIndex.replace", "before"),
        ("EdgeIndex.upsert", "before"),
        ("EdgeIndex.flush", "before"),
        ("Manifest.finish", "before"),
        ("Manifest.finish", "after"),
        ("Store.append", "before"),
        ("EdgeIndex.add_vectors", "before"),
        ("Manifest.filled", "before"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_anywhere_the_next_sync_puts_it_right(place, victim: str, moment: str):
    """Killed before or after any step that writes, whatever changed: the next sync gives what a rebuild gives."""
    place.sync()
    place.write("bread.md", "# Bread\n\nA poolish is quicker.\n\n## Oven\n\nUse a stone.\n")
    place.write("index.md", "# Home\n\nNothing here.\n")
    place.write("new/one.md", "# One\n\nFirst new note.\n\n## Two\n\nMore of it.\n")
    place.write("new/two.md", "# Two\n\nSecond new note.\n\n# Three\n\nThird.\n")
    (place.vault / "garden" / "tomatoes.md").unlink()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(place.root), victim, moment], check=False, timeout=60)
    assert killed.returncode == -9, "the process was to be killed"
    (place.vault / "new" / "two.md").unlink()
    place.sync()
    after = contents(place.index)
    assert not any("two.md" in str(payload) for payload, _, _ in after.values())
    place.sync(rebuild=True)
    assert contents(place.index) == after
    assert all(dense is not None for _, _, dense in after.values())
    pending = sqlite3.connect(place.index / "manifest.sqlite").execute("SELECT count(*) FROM pending").fetchone()
    assert pending == (0,)


def test_vectors_are_the_same_however_they_came(place):
    """A vector just computed and one that was kept are equal to the bit."""
    place.sync()
    before = contents(place.index)
    place.sync(rebuild=True)
    for point, (_, _, dense) in contents(place.index).items():
        assert np.array_equal(dense, before[point][2])

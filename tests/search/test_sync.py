"""Keeping the index in step with the vault: what is done, and what is not done again."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from infold.catalogue.embeddings import EmbeddingStore
from infold.catalogue.schema import FILE_NAME
from infold.catalogue.store import Catalogue
from infold.errors import EndpointFault, IndexFault, VaultBusy, VaultNotFound
from infold.search.embed.embedder import EmbedderTraits
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index import writing
from infold.search.index.generations import Generations
from infold.search.index.manifest import Manifest
from infold.search.query.searcher import Searcher
from infold.settings import Params
from infold.vault.scanning import Scan


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
    shard = place.generation / "shard"
    before = {file: file.stat().st_mtime_ns for file in shard.rglob("*") if file.is_file()}
    result = place.sync()
    assert (result.files_scanned, result.files_changed, result.chunks_created) == (4, 0, 0)
    assert before == {file: file.stat().st_mtime_ns for file in shard.rglob("*") if file.is_file()}


@pytest.mark.usefixtures("costly")
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
    with contextlib.closing(place.manifest()) as manifest:
        assert "bread.md" not in manifest.notes()


@pytest.mark.usefixtures("costly")
def test_a_renamed_note_computes_nothing(place):
    """Vectors belong to content: a rename moves the passages and embeds none."""
    place.sync()
    (place.vault / "garden" / "tomatoes.md").rename(place.vault / "garden" / "love apples.md")
    result = place.sync()
    assert (result.files_changed, result.files_removed) == (1, 1)
    assert (result.embeddings_computed, result.embeddings_cached) == (0, 1)
    assert place.found("stake") == ["garden/love apples.md"]
    assert place.found("love apples") == ["garden/love apples.md"]


@pytest.mark.usefixtures("costly")
def test_a_lost_index_computes_no_vector_again(place):
    """The index is derived: deleted, it comes back as it was, from kept vectors."""
    place.sync()
    before = place.contents()
    shutil.rmtree(place.index)
    result = place.sync()
    assert (result.embeddings_computed, result.embeddings_cached) == (0, 5)
    assert place.contents() == before


@pytest.mark.usefixtures("costly")
def test_lost_vectors_are_computed_again(place):
    """The kept vectors are derived too."""
    place.sync()
    before = place.contents()
    shutil.rmtree(place.embeddings)
    result = place.sync(rebuild=True)
    assert result.rebuilt
    assert result.embeddings_computed == 5
    assert place.contents() == before


def test_what_costs_nothing_is_not_kept(place):
    """Of the bundled model no vector is on disk but the index's; of a text that comes twice in a sync it makes one."""
    place.write("again.md", "The same words.\n")
    place.write("deep/again.md", "The same words.\n")
    first = place.sync()
    assert (first.embeddings_computed, first.embeddings_cached) == (6, 1)
    assert not place.embeddings.exists()
    (place.vault / "again.md").rename(place.vault / "once more.md")
    renamed = place.sync()
    assert (renamed.embeddings_computed, renamed.embeddings_cached, renamed.pending) == (1, 0, 0)
    whole = place.contents()
    assert place.sync(rebuild=True).embeddings_computed == 6
    assert place.contents() == whole


def test_what_an_earlier_infold_kept_is_given_back(place, monkeypatch):
    """With the index made anew the bundled model's kept vectors go, which is counted; those that were paid for stay."""
    with monkeypatch.context() as patched:
        patched.setattr(StaticEmbedder, "traits", EmbedderTraits(weight=0.3))
        patched.setattr("infold.search.index.sync.SCHEMA", "index/1")
        place.sync()
    store = EmbeddingStore(place.embeddings)
    store.append("paid", {"a": np.ones(4, dtype=np.float32)})
    assert store.count() == 6
    done = place.sync()
    assert (done.rebuilt, done.embeddings_dropped, done.pending) == (True, 5, 0)
    assert (store.count(), place.sync().embeddings_dropped) == (1, 0)
    assert place.found("levain") == ["bread.md"]


def test_an_index_of_another_version_is_replaced_at_once(place, monkeypatch):
    """It can be searched by nobody: what comes is found as in a first index, long before all of it is there."""
    with monkeypatch.context() as patched:
        patched.setattr("infold.search.index.sync.SCHEMA", "index/1")
        place.sync()
    former, in_use = place.generation, []
    place.sync(progress=lambda *_: in_use.append(place.generation))
    assert in_use
    assert former not in in_use


def test_a_rebuild_reads_every_note(place):
    """A fact of the catalogue that is wrong, but not in form, is mended by it; who searches beside it misses none."""
    place.sync()
    file = place.index.with_name(FILE_NAME)
    with closing(sqlite3.connect(file)) as db, db:
        wanted = db.execute("SELECT path, title, words FROM files JOIN notes USING (id) ORDER BY 1").fetchall()
        db.execute("UPDATE notes SET title = title || 's', words = words + 1")

    def known() -> list[tuple[str, str, int]]:
        with closing(Catalogue(file, place.vault, place.params)) as catalogue:
            return [(note.path, note.title, note.words) for note in catalogue.notes()]

    place.sync()
    wrong = known()
    assert wrong != wanted
    beside = []
    place.sync(rebuild=True, feeds=[place.notes_feed()], progress=lambda *_: beside.append(known()))
    assert beside
    assert all(one == wrong for one in beside)
    assert known() == wanted
    assert place.sync().files_changed == 0


def test_a_vault_suddenly_empty_empties_nothing(place):
    """An absent mount is not a deletion."""
    place.sync()
    shutil.move(place.vault, place.root / "elsewhere")
    place.vault.mkdir()
    assert place.sync().emptied
    assert place.sync(rebuild=True).emptied
    assert place.sync(paths=["bread.md"]).emptied
    place.vault.rmdir()
    assert place.sync().emptied
    place.embedder = NO_EMBEDDER
    assert place.sync().emptied
    assert place.found("levain") == ["bread.md"]


def test_no_vault_and_no_index_is_said(place):
    """Where nothing was ever indexed, a vault that is not there is an error."""
    shutil.rmtree(place.vault)
    with pytest.raises(VaultNotFound):
        place.sync()


def test_two_syncs_do_not_mix(place):
    """While one process syncs, another waits and says so, and gives up by name when that takes too long."""
    place.sync()
    place.write("new.md", "Something new.")
    said: list[str] = []
    with Generations(place.index).syncing(), pytest.raises(VaultBusy, match="search index"):
        place.sync(progress=lambda stage, *_: said.append(stage), wait_seconds=0.1)
    assert said == ["waiting"]
    assert place.sync().files_changed == 1


def test_only_the_notes_named_are_looked_at(place):
    """With paths a sync sees what changed in those notes, gone ones too, and nothing else."""
    place.sync()
    place.write("bread.md", "# Bread\n\nA poolish is quicker.\n")
    place.write("index.md", "# Home\n\nNothing about rye.\n")
    place.write("new/deep/note.md", "A note about spelt.\n")
    (place.vault / "garden" / "tomatoes.md").unlink()
    result = place.sync(paths=["bread.md", "garden/tomatoes.md", "new/deep/note.md", "never/was.md"])
    assert (result.files_changed, result.files_removed) == (2, 1)
    assert (place.found("poolish"), place.found("spelt")) == (["bread.md"], ["new/deep/note.md"])
    assert (place.found("stake"), place.found("rye")) == ([], [])
    assert place.sync().files_changed == 1
    assert place.found("rye") == ["index.md"]


def test_vectors_can_be_left_to_a_later_sync(place):
    """Keywords alone are written when asked so; what is pending is told, and the next sync computes it."""
    result = place.sync(vectors=False)
    assert (result.chunks_created, result.embeddings_computed, result.pending) == (5, 0, 5)
    assert place.found("levain") == ["bread.md"]
    place.write("new.md", "Something new.")
    result = place.sync(paths=())
    assert (result.files_scanned, result.embeddings_computed, result.pending) == (0, 5, 0)
    assert all(dense is not None for _, dense in place.contents().values())


class Failing:
    """The static model by name, which breaks off after some batches."""

    def __init__(self, embedder, batches: int) -> None:
        self.name, self.size, self.traits = embedder.name, embedder.size, EmbedderTraits()
        self._embedder, self._batches = embedder, batches

    def embed(self, texts):
        self._batches -= 1
        if self._batches < 0:
            raise EndpointFault("The endpoint is out of breath.")
        return self._embedder.embed(texts)

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.usefixtures("costly")
def test_an_embedder_that_fails_costs_no_keyword_and_no_vector_paid_for(place, monkeypatch):
    """Keywords are there, what was computed is kept, and the next sync computes the rest only."""
    monkeypatch.setattr(writing, "VECTOR_BATCH", 2)
    static, place.embedder = place.embedder, Failing(place.embedder, 2)
    with pytest.raises(EndpointFault):
        place.sync()
    assert place.found("levain") == ["bread.md"]
    with contextlib.closing(place.manifest()) as manifest:
        assert manifest.pending_count() == 1
    place.embedder = static
    result = place.sync()
    assert (result.files_changed, result.embeddings_computed, result.pending) == (0, 1, 0)


def test_a_touched_note_is_not_written_again(place):
    """A new time with the same bytes costs one look at the file, once."""
    place.sync()
    old = 1_700_000_000 * 10**9
    os.utime(place.vault / "bread.md", ns=(old, old))
    assert place.sync().files_changed == 0
    with contextlib.closing(place.manifest()) as manifest:
        assert manifest.notes()["bread.md"].mtime_ns == old


def test_a_note_written_within_the_same_moment_is_seen(place):
    """Time and size may stay as they were: a file written just before a sync is compared by its bytes."""
    file = place.vault / "bread.md"
    place.sync()
    status = file.stat()
    file.write_bytes(file.read_bytes().replace(b"levain", b"chapon"))
    os.utime(file, ns=(status.st_mtime_ns, status.st_mtime_ns))
    assert place.sync().files_changed == 1
    assert place.found("chapon") == ["bread.md"]


def test_a_sync_of_little_loads_no_table_library(place):
    """Looking for changes, and writing a few, is quick because neither polars nor a table is loaded."""
    place.sync()
    place.write("bread.md", "# Bread\n\nA poolish is quicker.\n")
    source = (
        "import sys; from pathlib import Path\n"
        "from infold.search.index.sync import sync_index; from infold.search.embed.static_embedder import StaticEmbedder\n"
        "from infold.settings import Params\n"
        "at = Path(sys.argv[1])\n"
        "done = sync_index(at / 'vault', at / 'index', at / 'embeddings', Params(), StaticEmbedder())\n"
        "print(done.files_changed, [name for name in ('polars', 'pyarrow', 'openai') if name in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-c", source, str(place.root)], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "1 []"


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


def test_keywords_are_searchable_before_vectors(place, monkeypatch):
    """The first stage is enough to search by keyword; where embeddings are slow, vectors follow when all words are there."""
    monkeypatch.setattr(StaticEmbedder, "traits", EmbedderTraits(weight=0.3))
    stages: list[tuple[str, list[str]]] = []
    place.sync(progress=lambda stage, done, total: stages.append((stage, place.found("levain") if done else [])))
    first = next(found for stage, found in stages if stage == "keywords" and found)
    assert first == ["bread.md"]
    assert [stage for stage, _ in stages] == ["keywords", "keywords", "vectors", "vectors"]


def test_no_index_yet_is_said(tmp_path):
    """Searching without an index names the command that makes one."""
    with pytest.raises(IndexFault, match="no search index") as fault:
        Searcher(tmp_path / "index", Params().search, NO_EMBEDDER)
    assert "infold index" in fault.value.hint


@pytest.mark.usefixtures("costly")
def test_a_thousand_renamed_notes_compute_nothing(place):
    """Nor does an index that is deleted; both by worker processes, whose points are as this process's would be."""
    place.embedder.embed(["warm"])
    for n in range(1000):
        place.write(f"many/note {n}.md", f"Note {n} about the levain of day {n % 7}.\n")
    assert place.sync().embeddings_computed == 1005
    (place.vault / "many").rename(place.vault / "moved")
    result = place.sync()
    assert (result.files_changed, result.files_removed) == (1000, 1000)
    assert (result.embeddings_computed, result.embeddings_cached, result.pending) == (0, 1000, 0)
    before = place.contents()
    shutil.rmtree(place.index)
    assert (place.sync().embeddings_computed, place.contents() == before) == (0, True)


def test_vectors_are_the_same_however_they_came(place):
    """A vector just computed and one that was kept are equal to the bit."""
    place.sync()
    before = place.contents()
    place.sync(rebuild=True)
    for point, (_, dense) in place.contents().items():
        assert np.array_equal(dense, before[point][1])


def settled(place) -> None:
    """The index as it is once all of the vault was compared with it and found to be there for certain."""
    for file in place.vault.rglob("*.md"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    for _ in range(2):
        place.sync()


def test_an_index_known_to_hold_all_of_a_vault_is_not_compared(place, monkeypatch):
    """Once it was, no row of a note is read, whatever the number of notes; the count stays."""
    settled(place)
    monkeypatch.setattr(Manifest, "stamps", lambda *_: pytest.fail("compared"))
    monkeypatch.setattr(Scan, "files", property(lambda _: pytest.fail("sorted")))
    result = place.sync()
    assert (result.files_scanned, result.files_changed, result.skipped) == (4, 0, ())


def test_a_note_that_turns_into_another_kind_is_found_at_once(place):
    """Settings that make another file the inbox count, though no file of the vault was touched."""
    settled(place)
    place.params = Params.model_validate({"vault": {"inbox_file": "bread.md"}})
    assert place.sync().files_removed == 1
    assert place.found("levain") == []


def test_daily_notes_named_by_another_rule_are_of_other_days(place):
    """Where days and months change places in the names, each note is of the day that it says now, untouched as it is."""

    def days() -> set[str | None]:
        return {point.date for point, _ in place.contents().values() if point.path == "daily/03-04-2026.md"}

    place.write("daily/03-04-2026.md", "Fed the levain.\n")
    place.params = Params.model_validate({"notebook": {"daily_format": "DD-MM-YYYY"}})
    settled(place)
    assert days() == {"2026-04-03"}
    place.params = Params.model_validate({"notebook": {"daily_format": "MM-DD-YYYY"}})
    assert place.sync().files_changed == 1
    assert days() == {"2026-03-04"}


def test_a_note_that_cannot_be_read_for_a_while_comes_back(place, monkeypatch):
    """The vault looks as it did when the note was left out: it is taken in all the same once it can be read."""
    settled(place)
    (place.vault / "bread.md").write_bytes(b"caf\xe9 levain" + b"." * 10)
    os.utime(place.vault / "bread.md", (1_700_000_100, 1_700_000_100))
    for _ in range(3):
        place.sync()
    assert place.found("levain") == []
    monkeypatch.setattr("infold.catalogue.reading.decode", lambda data, _: data.decode("latin-1"))
    monkeypatch.setattr("infold.catalogue.store.decode", lambda data, _: data.decode("latin-1"))
    place.sync()
    assert place.found("levain") == ["bread.md"]


def test_notes_of_an_index_that_was_killed_are_looked_at_again(place):
    """A note in progress leaves nothing that says the index is whole, though the vault is as it was."""
    settled(place)
    with contextlib.closing(Manifest(place.generation / "manifest.sqlite")) as manifest:
        manifest.begin("notes", ["bread.md"])
    assert place.sync().files_changed == 1
    assert place.found("levain") == ["bread.md"]

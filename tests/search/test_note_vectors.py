"""What notes are about as a whole: kept with the vectors, and what it counts in a search."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.app import open_vault
from infold.errors import IndexDamaged, IndexFault
from infold.search.index.contract import Hit, ScoredHits
from infold.search.index.generations import Generations
from infold.search.index.note_vectors import NoteVectors
from infold.search.query.fusion import NOTE_WEIGHT, note_nearness


def unit(vector: Sequence[float] | np.ndarray) -> np.ndarray:
    found = np.array(vector, dtype=np.float32)
    return found / (np.linalg.norm(found) or 1)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([255, 256, 384]), st.integers(1, 4), st.sampled_from([0, 3, 40]))
def test_the_cosine_is_that_of_the_mean(tmp_path_factory, seed: int, size: int, count: int, outlier: int):
    """Four bits a dimension tell the nearness of a note's mean vector to within three hundredths.

    Also where one dimension is far larger than the others, as some models have it.
    """
    chance = np.random.default_rng(seed)
    asked, *kept = chance.normal(size=(count + 1, size)) + outlier * np.eye(size)[3]
    asked += chance.uniform(-1, 1) * kept[0]
    question = unit(asked)
    vectors = [unit(vector) for vector in kept]
    mean = np.mean(vectors, axis=0)
    with closing(NoteVectors(tmp_path_factory.mktemp("means") / "notes.sqlite")) as notes:
        notes.replace([], [("a.md", vector) for vector in vectors])
        found = notes.cosines(question, ["a.md", "b.md"])
    assert found == {"a.md": pytest.approx(float(mean @ question) / float(np.linalg.norm(mean)), abs=0.03)}


@pytest.mark.parametrize("damage", ["squares = -1", "squares = 'x'", "vector = 7", "vector = x'00'"])
def test_a_mean_that_is_none_is_told_as_damage(tmp_path, damage):
    """So that the index is made anew."""
    file = tmp_path / "notes.sqlite"
    with closing(NoteVectors(file)) as notes:
        notes.replace([], [("a.md", unit([1, 2, 3, 4]))])
        with closing(sqlite3.connect(file)) as db, db:
            db.execute(f"UPDATE means SET {damage}")
        with pytest.raises(IndexDamaged, match=r"notes\.sqlite"):
            notes.cosines(unit([1, 0, 0, 0]), ["a.md"])


def test_compacted_it_says_the_same_and_is_smaller(tmp_path):
    """Notes come in any order, which leaves pages half full; compacting fills them."""
    chance = np.random.default_rng(1)
    vectors = [unit(vector) for vector in chance.normal(size=(900, 256))]
    paths = [f"{n}.md" for n in range(900)]
    file = tmp_path / "notes.sqlite"
    with closing(NoteVectors(file)) as notes:
        for first in range(0, 900, 60):
            given_ = zip(paths[first : first + 60], vectors[first : first + 60], strict=True)
            notes.replace(paths[first : first + 60], given_)
    before = file.stat().st_size
    with closing(NoteVectors(file)) as notes:
        said = notes.cosines(vectors[7], paths)
        notes.compact()
        assert notes.cosines(vectors[7], paths) == said
    assert max(said, key=said.__getitem__) == "7.md"
    assert file.stat().st_size < min(0.9 * before, 900 * 165)


def test_a_path_that_goes_takes_its_mean_with_it(tmp_path):
    """What is replaced is forgotten unless it comes again, and a closed file says so."""
    notes = NoteVectors(tmp_path / "notes.sqlite")
    notes.replace([], [("a.md", unit([1, 0])), ("b.md", unit([0, 1]))])
    notes.replace(["a.md", "b.md"], [("b.md", unit([1, 0]))])
    assert notes.cosines(np.array([1, 0], dtype=np.float32), ["a.md", "b.md"]) == {"b.md": pytest.approx(1, abs=0.03)}
    notes.close()
    notes.close()
    with pytest.raises(IndexFault):
        notes.cosines(np.array([1, 0], dtype=np.float32), ["b.md"])


def test_notes_count_from_the_least_near_of_them():
    """Each hit has its note's cosine; what has none is as near as meaning found it, or is left out."""
    hits = [Hit("a.md", 1, 2, (), 9.0, id="1"), Hit("b.md", 1, 2, (), 8.0, id="2")]
    memory, unknown = Hit("memory/x", 0, 0, (), 7.0, id="3"), Hit("c.md", 1, 2, (), 6.0, id="4")
    ranking = note_nearness(
        [*hits, memory, unknown], {"a.md": 0.2, "b.md": 0.6}, ScoredHits.of([memory.scored(0.5)]), 0.5
    )
    assert [hit.path for hit in ranking.hits] == ["b.md", "memory/x", "a.md"]
    assert ranking.scored == [0.6, 0.5, 0.2]
    assert ranking.base == 0.2
    assert ranking.weight == pytest.approx(0.5 * NOTE_WEIGHT)


def test_every_note_of_an_index_has_the_mean_of_its_vectors(tmp_path):
    """After a sync, a change and a deletion, the means are those of the passages that are there."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for n, about in enumerate(("bread and flour", "boats on the lake", "the moon at night")):
        (vault / f"{n}.md").write_text(f"# {about}\n\n{about} again.\n\n## More\n\nThe rest of {about}.\n")

    def check() -> None:
        with open_vault(vault, state=tmp_path / "state") as opened:
            opened.sync_index()
            hits, kept = opened.searcher.vectors()
            current = Generations(opened.workspace.index).current()
            file = Generations(opened.workspace.index).note_vectors_of(current or "")
        with closing(NoteVectors(file, read_only=True)) as notes:
            for path in ("0.md", "1.md", "2.md", "3.md"):
                own = [row for hit, row in zip(hits, kept, strict=True) if hit.path == path]
                found = notes.cosines(kept[0], [path])
                assert bool(own) == bool(found)
                if own:
                    mean = np.mean(own, axis=0)
                    assert found[path] == pytest.approx(float(mean @ kept[0] / np.linalg.norm(mean)), abs=0.05)

    check()
    (vault / "0.md").unlink()
    (vault / "1.md").write_text("# Trains\n\nSteam and rails.\n")
    (vault / "3.md").write_text("# Bees\n\nHoney and wax.\n")
    check()


def test_a_note_about_a_thing_comes_before_one_that_names_it(tmp_path):
    """Of two passages alike, the one whose whole note is about the question comes first."""
    vault = tmp_path / "vault"
    vault.mkdir()
    same = "## Keeping\n\nStored in a cool dry cupboard for two weeks.\n"
    (vault / "a.md").write_text(f"# Harbour\n\nBoats, ropes, anchors and sails on the sea.\n\n{same}")
    (vault / "z.md").write_text(f"# Pantry\n\nFlour, sugar, bread, jars of jam and other food.\n\n{same}")
    with open_vault(vault, state=tmp_path / "state") as opened:
        opened.sync_index()
        found = opened.searcher.hybrid("how is bread stored in a cupboard", 4)
    assert found[0].path == "z.md"

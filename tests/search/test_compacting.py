"""Compacting: an index that opens fast and answers as before, whatever is written to it or killed meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from infold.search.index import compaction as compacting
from infold.search.index.contract import VectorIndex, VectorRecord
from infold.search.index.generations import Generations
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.embedded import EdgeEngine

SIZE = 256
POINTS = 3000


def records(first: int, last: int) -> list[VectorRecord]:
    """Vectors of chance, each its own for good."""
    return [VectorRecord(n, vector_of(n)) for n in range(first, last)]


def vector_of(n: int) -> np.ndarray:
    vector = np.random.default_rng(n).normal(size=SIZE).astype(np.float32)
    return vector / np.linalg.norm(vector)


def answers(index: VectorIndex) -> list[list[tuple[int, float]]]:
    """What it says to questions, of all points and of some."""
    among = [None, range(3, POINTS, 7), range(1000, 2000), [*range(5)]]
    return [index.query(vector_of(10_000 + n), 20, some) for n, some in enumerate(among)]


def alike(one: list[list[tuple[int, float]]], other: list[list[tuple[int, float]]]) -> bool:
    """Whether the answers are the same but for the last digit of scores; equal scores may stand in any order."""
    return all(
        [score for _, score in a] == pytest.approx([score for _, score in b], abs=1e-3)
        and dict(_unequalled(a)) == pytest.approx(dict(_unequalled(b)), abs=1e-3)
        for a, b in zip(one, other, strict=True)
    )


def _unequalled(hits: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The points whose score no other has, and which nothing that was cut off can have had."""
    scores = [round(score, 3) for _, score in hits]
    return [hit for hit, score in zip(hits, scores, strict=True) if score != scores[-1] and scores.count(score) == 1]


@pytest.fixture
def made(tmp_path: Path) -> tuple[EdgeEngine, str, Path]:
    """An engine with a generation of many points."""
    engine, folder = EdgeEngine(tmp_path), Generations(tmp_path)
    generation = folder.new_generation()
    index = engine.create(generation, SIZE)
    index.put(records(0, POINTS))
    index.close()
    return engine, generation, folder.folder_of(generation) / "shard"


def parts(shard: Path) -> list[set[str]]:
    """The files of each part of a shard."""
    return [{file.name for file in part.iterdir()} for part in (shard / "segments").iterdir()]


def test_a_compacted_index_answers_and_is_written_as_before(made: tuple[EdgeEngine, str, Path]):
    """Same answers, of all points and of some; later writes, replacements and deletions are found, also when opened again."""
    engine, generation, shard = made
    index = engine.open(generation)
    before = answers(index)
    index.close()
    assert not any("id_tracker.i2e" in part for part in parts(shard))
    assert engine.compact(generation, 120)
    assert any("id_tracker.i2e" in part for part in parts(shard))
    index = engine.open(generation)
    assert alike(answers(index), before)
    index.put(records(POINTS, POINTS + 2))
    index.delete([2, *range(100, 120)])
    index.close()
    index = engine.open(generation)
    assert index.count() == POINTS + 2 - 21
    for n in (POINTS, 5):
        assert index.query(vector_of(n), 1)[0][0] == n
    assert index.vectors([2, 110]) == {}
    index.close()


def test_an_index_in_use_is_left_as_it_is(made: tuple[EdgeEngine, str, Path]):
    """While a search has it open nothing is compacted, and the search goes on."""
    engine, generation, shard = made
    index = engine.open(generation)
    before = parts(shard)
    assert not engine.compact(generation, 120)
    assert parts(shard) == before
    assert index.count() == POINTS
    index.close()
    assert not engine.compact("0" * 16, 1)


def test_time_that_is_over_leaves_it_whole(made: tuple[EdgeEngine, str, Path]):
    """A compaction that takes too long is given up; every point is there, and the next one ends."""
    engine, generation, shard = made
    assert engine.compact(generation, 0.01)
    index = EdgeIndex(shard)
    assert index.count() == POINTS
    index.close()
    assert engine.compact(generation, 120)
    assert any("id_tracker.i2e" in part for part in parts(shard))


KILLED = """
import sys
from pathlib import Path
from infold.search.shared.edge import compact
compact(Path(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_killed_while_compacting_nothing_is_lost(made: tuple[EdgeEngine, str, Path]):
    """SIGKILL at moments all over the work: every point is there each time, and answers stay what they were."""
    engine, generation, shard = made
    index = EdgeIndex(shard)
    before = answers(index)
    index.close()
    for pause in (0.1, 0.2, 0.4):
        with subprocess.Popen([sys.executable, "-c", KILLED, str(shard)]) as child:
            time.sleep(pause)
            child.send_signal(signal.SIGKILL)
        index = EdgeIndex(shard)
        assert index.count() == POINTS
        assert alike(answers(index), before)
        index.close()
    assert engine.compact(generation, 120)
    index = engine.open(generation)  # type: ignore[assignment]
    assert index.count() == POINTS
    assert alike(answers(index), before)
    index.close()


def test_a_sync_compacts_what_is_mostly_new_once(place, monkeypatch):
    """After a first index and after a rebuild, when the vectors are there; not again while little is written."""
    monkeypatch.setattr(compacting, "LOOSE_PASSAGES", 5)
    told: list[str] = []
    for n in range(6):
        place.write(f"{n}.md", f"# Note {n}\n\nBread number {n} of the week.\n")
    for file in place.vault.rglob("*.md"):
        os.utime(file, (1e9, 1e9))  # else a sync would look at them again
    place.sync(vectors=False)
    place.sync(progress=lambda stage, _done, _total: told.append(stage))
    assert "compacting" in told
    place.write("0.md", "# Note 0\n\nAnother bread.\n")
    told.clear()
    place.sync(progress=lambda stage, _done, _total: told.append(stage))
    assert "compacting" not in told
    place.sync(progress=lambda stage, _done, _total: told.append(stage), rebuild=True)
    assert told.count("compacting") == 2
    assert set(place.found("bread", 20)) >= {f"{n}.md" for n in range(6)}

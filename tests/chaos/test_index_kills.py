"""Many processes on one index, and killed ones: a tenth of the full measure here, all of it by `make chaos`."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from infold.search.index.contract import VectorRecord
from infold.search.index.generations import Generations
from infold.search.index.point_ids import point_number
from infold.search.index.word_writer import WordWriter
from infold.search.index.words import WordIndex
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.embedded import EdgeEngine
from tests.chaos.edge_flushes import NUMBERS as FLUSHED
from tests.chaos.index_crowd import NOTES, SIZE, Opened, Versions, version_of
from tests.chaos.index_sync import sync
from tests.search.first_index import begun, held, write_notes

SHARE = float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))
CROWD = Path(__file__).with_name("index_crowd.py")
FLUSHES = Path(__file__).with_name("edge_flushes.py")
SYNC = Path(__file__).with_name("index_sync.py")

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.name == "nt", reason="sockets of the file system and SIGKILL"),
]


def member(role: str, folder: Path, seconds: float, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(CROWD), role, str(folder), str(seconds), str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def everything(folder: Path) -> dict[str, tuple[object, ...]]:
    """Every point of the index in use by id, with its vector. Nobody else may have it open."""
    index = Generations(folder)
    current = index.folder_of(index.current() or "")
    with closing(WordIndex(current / "words")) as words, closing(EdgeIndex(current / "shard")) as vectors:
        points = {point_number(hit.id): hit for hit in words.points()}
        found = vectors.vectors(list(points))
        assert vectors.count() == len(found), "a vector of a point that is gone"
        return {hit.id: (hit, tuple(found[one]) if one in found else None) for one, hit in points.items()}


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """An index that is in use and empty, and the versions of its notes."""
    folder = Generations(tmp_path)
    generation = folder.new_generation()
    EdgeEngine(tmp_path).create(generation, SIZE).close()
    with closing(WordWriter(folder.words_of(generation))) as writer:
        writer.commit()
    folder.publish(generation)
    Versions(tmp_path / "begun")
    Versions(tmp_path / "acknowledged")
    return tmp_path


def counts_are_right(folder: Path) -> None:
    begun, acknowledged = Versions(folder / "begun"), Versions(folder / "acknowledged")
    with closing(Opened(folder, writes=True)) as index:
        for note in range(NOTES):
            if begun[note]:  # of a writer that was killed nobody said that it was written, and vectors come after words
                index.write(note, version_of(note, begun[note]))
        expected = [one for note in range(NOTES) if begun[note] for one in version_of(note, begun[note])]
        assert index.words.count() == len(expected)
    assert set(everything(folder)) == {one.id for one in expected}
    assert acknowledged[0] <= begun[0]


def test_four_processes_at_once_meet_no_error(crowded: Path):
    """A writer, two readers and one that opens and closes all the time: no error, no torn answer, no stale one."""
    seconds, owners = max(5.0, 120 * SHARE), 0
    for first in range(0, 16, 4):  # on a machine that is busy an owner may keep the index for all of its time
        roles = ["opener", "writer", "reader", "reader"]
        crowd = [member(role, crowded, seconds, first + at) for at, role in enumerate(roles)]
        said = [json.loads(process.communicate(timeout=seconds + 120)[0] or "null") for process in crowd]
        assert [process.returncode for process in crowd] == [0, 0, 0, 0]
        assert [wrong for one in said for wrong in one["wrong"]] == []
        assert all(one["done"] > 10 * (seconds if one["role"] == "reader" else 1) for one in said), said
        owners = sum(one["owned"] > 0 for one in said)
        if owners > 1:
            break
    assert owners > 1, "the index changed hands"
    counts_are_right(crowded)


def test_killed_members_of_the_crowd_are_not_missed(crowded: Path):
    """Whoever is killed, the owner too: those who are left go on without an error, a torn or a stale answer."""
    seconds = max(6.0, 60 * SHARE)
    chance = random.Random(os.getpid())
    readers = [member("reader", crowded, seconds, seed) for seed in (1, 2)]
    end, kills, seed = time.monotonic() + seconds, 0, 10
    victims: list[subprocess.Popen[str]] = []
    while time.monotonic() < end - 1:
        seed += 1
        victims = [member("writer", crowded, seconds, seed), member("opener", crowded, seconds, 1000 + seed)]
        time.sleep(chance.uniform(0.5, 2))
        for victim in victims:
            victim.kill()
            victim.communicate()
            kills += 1
    said = [json.loads(process.communicate(timeout=120)[0] or "null") for process in readers]
    assert [process.returncode for process in readers] == [0, 0]
    assert [wrong for one in said for wrong in one["wrong"]] == []
    assert kills >= 4
    counts_are_right(crowded)


def test_a_sync_killed_at_random_moments_is_made_good_by_the_next(tmp_path: Path):
    """Fifty times a vault changes and the sync of it is killed; then one sync gives what a rebuild gives."""
    kills = max(5, round(50 * SHARE))
    chance = random.Random(os.getpid())
    vault = tmp_path / "vault"
    vault.mkdir()

    def change(few: int) -> None:
        for _ in range(few):
            note = vault / f"note {chance.randrange(60)}.md"
            if note.exists() and chance.random() < 0.2:
                note.unlink()
                continue
            sections = (f"## Part {n}\n\nlevain {chance.random()} rises\n" for n in range(chance.randrange(1, 6)))
            note.write_text("# Bread\n\n" + "\n".join(sections))

    change(80)
    sync(tmp_path)
    killed = 0
    while killed < kills:
        change(12)
        process = subprocess.Popen([sys.executable, str(SYNC), str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "begins\n"
        time.sleep(chance.uniform(0, 0.6))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        if chance.random() < 0.2:
            change(3)
            sync(tmp_path)
    sync(tmp_path)
    after = everything(tmp_path / "index")
    sync(tmp_path, "fresh")
    assert everything(tmp_path / "fresh") == after
    assert {hit.path for hit, _ in after.values()} == {note.name for note in vault.glob("*.md")}  # type: ignore[attr-defined]


def test_a_first_index_killed_at_random_moments_is_made_in_the_end(tmp_path: Path):
    """Twenty times, with its workers at work: what comes in the end is what an index has that was never killed."""
    chance = random.Random(os.getpid())
    vault, fresh = write_notes(tmp_path / "vault"), tmp_path / "fresh"
    started = time.monotonic()
    assert begun(vault, fresh).wait(300) == 0
    seconds = time.monotonic() - started
    for number in range(max(2, round(20 * SHARE))):
        state = tmp_path / f"state {number // 2}"  # each is killed twice
        process = begun(vault, state)
        time.sleep(chance.uniform(0.2, 1) * seconds)
        process.kill()
        process.wait()
        if number % 2:
            assert begun(vault, state).wait(300) == 0
            assert held(state) == held(fresh)


def test_vectors_written_after_a_kill_are_the_ones_that_are_there(tmp_path: Path):
    """Killed at any moment of writing and flushing: what is written next replaces, what is deleted next is gone."""
    folder, chance = tmp_path / "shard", random.Random(os.getpid())
    many = range(FLUSHED)
    for number in range(max(12, round(100 * SHARE))):
        process = subprocess.Popen([sys.executable, str(FLUSHES), str(folder), str(number)], stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"begins\n"
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        process.communicate()
        with closing(EdgeIndex(folder)) as index:
            vectors = np.roll(np.eye(SIZE, dtype=np.float32), chance.randrange(SIZE), axis=0)
            index.put([VectorRecord(n, vectors[n % SIZE]) for n in many])
            assert [n for n, vector in index.vectors(many).items() if vector @ vectors[n % SIZE] < 0.9] == []
            index.delete(many[::2])
            assert index.count() == len(many) // 2

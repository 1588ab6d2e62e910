"""A disk that is full: nothing is written to an index there, and it is said before the engine is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from infold.errors import StateUnwritable
from infold.search import room

PLENTY = 200 * 1024 * 1024


def says_free(monkeypatch: pytest.MonkeyPatch, free_bytes: int) -> None:
    """From now on every disk has this much room."""
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: usage._replace(free=free_bytes))


def test_a_full_disk_is_told_before_an_index_is_made(place, monkeypatch):
    """No engine is started on a disk without room, and no generation is left behind."""
    says_free(monkeypatch, 5_000_000)
    with pytest.raises(StateUnwritable, match="too little room: 5 MB are free") as raised:
        place.sync()
    assert "Free disk space" in raised.value.hint
    assert not (place.index / "generations").exists()


def test_a_disk_that_fills_up_leaves_the_index_as_it_was(place, monkeypatch):
    """What was indexed is found as before; what changed meanwhile is indexed once there is room again."""
    place.sync()
    place.write("bread.md", "# Bread\n\nA poolish ferments for twelve hours.\n")
    with monkeypatch.context() as full:
        says_free(full, 1_000_000)
        with pytest.raises(StateUnwritable):
            place.sync()
        assert place.found("levain") == ["bread.md"]
    place.sync()
    assert place.found("levain") == []
    assert place.found("poolish") == ["bread.md"]


def test_vectors_wait_for_room(place, monkeypatch):
    """Vectors that are missing stay missing, and are filled in by the next sync that has room."""
    place.sync(vectors=False)
    with monkeypatch.context() as full:
        says_free(full, 1_000_000)
        with pytest.raises(StateUnwritable):
            place.sync()
    assert place.sync().pending == 0


@pytest.fixture
def small_disk(tmp_path: Path):
    """A disk of 20 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a disk")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_disk_that_is_too_small_ends_no_process(place, small_disk):
    """On a real disk that cannot hold an index the sync is refused; the engine would end the process without a word."""
    place.root = small_disk
    place.write("bread.md", "# Bread\n\nA levain rises overnight.\n")
    with pytest.raises(StateUnwritable):
        place.sync()

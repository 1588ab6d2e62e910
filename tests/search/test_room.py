"""A disk that is full: nothing is written to an index there, and it is said before the engine is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import pytest

from infold.catalogue.embeddings import EmbeddingStore
from infold.errors import StateUnwritable
from infold.search.follow.watcher import is_watched, watch_claimed
from infold.search.index import disk_space as room


def says_free(monkeypatch: pytest.MonkeyPatch, free_bytes: int) -> None:
    """From now on every disk has this much room."""
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: usage._replace(free=free_bytes))  # type: ignore[attr-defined]


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
        says_free(full, 30_000_000)
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


def test_a_search_on_a_full_disk_goes_by_words(place, monkeypatch):
    """Vectors cannot be opened there; what the words find is answered, and it is said why, where, and what to do."""
    place.sync()
    with monkeypatch.context() as full, place.searcher() as searcher:
        says_free(full, 5_000_000)
        legs = searcher.legs("levain", "levain", 5)
        assert [hit.path for hit in legs.keyword.scored] == ["bread.md"]
        assert not legs.dense.scored
        assert legs.notice.startswith(f"Found by words alone: The disk of {place.generation}")
        assert "5 MB are free" in legs.notice
        assert "Free disk space" in legs.notice
    with place.searcher() as searcher:
        again = searcher.legs("levain", "levain", 5)
        assert (again.notice, [hit.path for hit in again.dense.scored][:1]) == ("", ["bread.md"])


@pytest.fixture
def small_disk(tmp_path: Path):
    """A disk of 200 MB, most of which an index takes there while it is made."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", disk], check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.usefixtures("costly")
def test_a_full_disk_ends_no_process_and_no_index(place, small_disk):
    """On a real disk: words are found, a rebuild says what is wrong, and with room all is as it was."""
    place.root = small_disk
    place.write("bread.md", "# Bread\n\nA levain rises overnight.\n")
    place.sync()
    generation = place.generation
    with (small_disk / "other.bin").open("wb") as file, suppress(OSError):
        while True:
            file.write(bytes(65536))
    assert place.found("levain") == ["bread.md"]
    with pytest.raises(StateUnwritable):
        place.sync(rebuild=True)
    with closing(place.manifest()) as manifest:
        assert list(manifest.notes()) == ["bread.md"]
    assert EmbeddingStore(place.embeddings).count() == 1
    (small_disk / "other.bin").unlink()
    place.sync()
    assert place.generation == generation
    assert place.found("levain") == ["bread.md"]


@pytest.mark.usefixtures("costly")
def test_a_read_only_disk_is_told(place, small_disk):
    """The engine cannot open an index there; that is said with a hint, and what is held can still be told."""
    place.root = small_disk
    place.write("bread.md", "# Bread\n\nA levain rises overnight.\n")
    place.sync()
    with watch_claimed(place.index):
        pass  # leaves its lock file behind
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    try:
        assert not is_watched(place.index)
        with pytest.raises(StateUnwritable) as raised:
            place.found("levain")
        assert "permissions" in raised.value.hint
        assert EmbeddingStore(place.embeddings).count() == 1
        with closing(place.manifest()) as manifest:
            assert list(manifest.notes()) == ["bread.md"]
    finally:
        subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)

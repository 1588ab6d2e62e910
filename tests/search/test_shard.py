"""The index's folder: generations, which one is in use, and what goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from infold.errors import IndexFault, StateUnwritable, VaultBusy
from infold.search.index.generations import Generations


def test_the_generation_that_was_published_is_the_one_in_use(tmp_path: Path):
    """There is none at first; the last one published counts, in whichever process one looks."""
    folder = Generations(tmp_path / "index")
    assert folder.current() is None
    assert folder.is_damaged
    assert folder.generations() == []
    first, second = folder.new_generation(), folder.new_generation()
    folder.publish(first)
    assert folder.current() == first
    folder.publish(second)
    assert Generations(tmp_path / "index").current() == second
    assert sorted(folder.generations()) == sorted([first, second])
    assert folder.manifest_of(first).parent == folder.folder_of(first)


@pytest.mark.parametrize("content", [b"", b"../../etc", b"0123456789abcdef", b"\xff\xfe", b"0" * 10_000])
def test_a_pointer_that_names_no_generation_is_none(tmp_path: Path, content: bytes):
    """Torn, foreign or leading elsewhere: then there is no index yet, and a sync makes one."""
    folder = Generations(tmp_path)
    folder.publish(folder.new_generation())
    (tmp_path / "current").write_bytes(content)
    assert folder.current() is None
    assert folder.is_damaged


@pytest.mark.parametrize("name", ["", "..", "a/b", "0123456789ABCDEF", "0123456789abcdef\n"])
def test_only_a_generations_id_names_a_folder(tmp_path: Path, name: str):
    """No other name leads anywhere."""
    with pytest.raises(IndexFault, match="no generation"):
        Generations(tmp_path).folder_of(name)


def test_damage_is_of_one_generation(tmp_path: Path):
    """What was found unusable stays so until another generation is published."""
    folder = Generations(tmp_path)
    folder.publish(folder.new_generation())
    assert not folder.is_damaged
    folder.mark_damaged()
    assert folder.is_damaged
    folder.publish(folder.new_generation())
    assert not folder.is_damaged


def test_a_sweep_leaves_the_generation_in_use_alone(tmp_path: Path):
    """Other generations, the rests of removed ones, and everything of the former layout go."""
    folder = Generations(tmp_path)
    current = folder.new_generation()
    folder.new_generation()
    folder.publish(current)
    (folder.folder_of(current) / "manifest.sqlite").write_text("kept")
    (tmp_path / "generations" / "0123456789abcdef.leaving" / "shard").mkdir(parents=True)
    for name in ("shard", "readers/copy-1"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("manifest.sqlite", "manifest.sqlite-wal", "owner.lock", "moving.lock", "readers/copy-1.lock"):
        (tmp_path / name).write_text("former")
    folder.sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["current", "generations"]
    assert [path.name for path in (tmp_path / "generations").iterdir()] == [current]
    assert (folder.folder_of(current) / "manifest.sqlite").read_text() == "kept"


def test_one_process_at_a_time_brings_the_index_up_to_date(tmp_path: Path):
    """A second one is told so after its wait, and may go when the first is done."""
    folder = Generations(tmp_path)
    with folder.syncing(), pytest.raises(VaultBusy, match="up to date"), Generations(tmp_path).syncing(0.05):
        pass
    with Generations(tmp_path).syncing(0):
        pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    """A file where the folder should be: the message says which."""
    (tmp_path / "index").write_text("a file")
    with pytest.raises(StateUnwritable, match="index"):
        Generations(tmp_path / "index").new_generation()
    with pytest.raises(StateUnwritable, match="index"), Generations(tmp_path / "index").syncing():
        pass

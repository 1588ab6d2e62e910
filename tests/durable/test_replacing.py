"""Attacked, 1: a save of somebody else's, at any moment of a change, survives."""

from __future__ import annotations

import itertools

import pytest

from infold.durable import exchange
from infold.durable.files import Disk
from infold.durable.replacing import Replacement
from tests.fakes.saving_editor import SAVES, at_every_call
from tests.fakes.stopping_disk import MOMENTS, Stopped, stopping_at

BEFORE, AFTER = b"# Head\n\none\n\ntwo\n", b"# Head\n\none\n\nours\n\ntwo\n"


@pytest.fixture(params=["exchange", "no exchange"])
def system(request, monkeypatch):
    """What the system can: each way must hold."""
    if request.param != "exchange":
        monkeypatch.setattr(exchange, "_system_rename", lambda: None)
    return request.param


def fresh(folder, number, data=BEFORE):
    file = folder / str(number) / "note.md"
    file.parent.mkdir()
    if data is not None:
        file.write_bytes(data)
    return file


@pytest.mark.parametrize("way", SAVES)
def test_a_save_at_any_call_of_a_change_survives(tmp_path, way, system):
    """What was saved stands in the note, or is kept where both cannot; the note is never torn; nothing lies beside it."""
    kept: list[bytes] = []

    def change(file):
        place = Replacement(Disk(), file)
        place.put(BEFORE, AFTER)
        kept[:] = place.kept

    count = 0
    for file in at_every_call(lambda n: fresh(tmp_path, n), change, lambda file: SAVES[way](file, "SAVED\n")):
        count += 1
        stands = file.read_bytes()
        assert b"SAVED" in stands or any(b"SAVED" in data for data in kept)
        assert b"# Head" in stands or any(b"# Head" in data for data in kept)
        assert [path.name for path in file.parent.iterdir()] == ["note.md"]
        assert system != "exchange" or not kept
    assert count > 8


def test_a_rename_at_any_call_of_a_change_is_kept(tmp_path, system):
    """A note that is renamed meanwhile has its text under the new name; the change was made in it, or not at all."""
    for file in at_every_call(
        lambda n: fresh(tmp_path, n),
        lambda file: Replacement(Disk(), file).put(BEFORE, AFTER),
        lambda file: file.rename(file.with_name("other.md")) if file.exists() else None,
    ):
        texts = {path.name: path.read_bytes() for path in file.parent.iterdir()}
        assert set(texts) <= {"other.md", "note.md"}
        assert set(texts.values()) <= {BEFORE, AFTER}
        assert texts


@pytest.mark.parametrize("way", SAVES)
def test_a_save_at_any_call_of_a_removal_survives(tmp_path, way, system):
    """A note that was saved meanwhile stays, or what was saved is kept."""
    kept: list[bytes] = []

    def remove(file):
        place = Replacement(Disk(), file)
        place.take_away(BEFORE)
        kept[:] = place.kept

    for file in at_every_call(lambda n: fresh(tmp_path, n), remove, lambda file: SAVES[way](file, "SAVED\n")):
        there = {path.name: path.read_bytes() for path in file.parent.iterdir()}
        assert set(there) <= {"note.md"}
        assert any(b"SAVED" in data for data in (*there.values(), *kept))


@pytest.mark.parametrize("way", SAVES)
def test_a_note_that_appears_while_it_is_made_is_not_overwritten(tmp_path, way, system):
    """A new note takes a free name only."""
    made: list[bool] = []
    for file in at_every_call(
        lambda n: fresh(tmp_path, n, None),
        lambda file: made.append(Replacement(Disk(), file).put(None, AFTER)),
        lambda file: SAVES[way](file, "SAVED\n"),
    ):
        assert b"SAVED" in file.read_bytes()
        assert [path.name for path in file.parent.iterdir()] == ["note.md"]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("saves", [(), ("append",), ("append", "replace"), ("overwrite", "append", "overwrite")])
def test_killed_anywhere_what_was_saved_comes_back(tmp_path, moment, saves, system):
    """Stopped at any effect, with saves before it: after tidying each save stands, and nothing lies beside the note."""
    for effect in itertools.count():
        file = fresh(tmp_path, effect)
        real = Disk.rename

        def saving(self, source, target, real=real, file=file):
            real(self, source, target)
            if target.name.endswith(".tmp"):  # after the last look at the note
                for number, way in enumerate(saves):
                    SAVES[way](file, f"SAVED {number}\n")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Disk, "rename", saving)
            try:
                with stopping_at(effect, moment):
                    Replacement(Disk(), file).put(BEFORE, AFTER)
                break
            except Stopped:
                pass
        place = Replacement(Disk(), file)
        place.tidy(BEFORE, AFTER)
        place.tidy(BEFORE, AFTER)
        assert [path.name for path in file.parent.iterdir()] == ["note.md"]
        assert not place.kept
        stands = file.read_bytes()
        assert stands in (BEFORE, AFTER) or all(f"SAVED {n}".encode() in stands for n in range(len(saves)))
    assert effect >= 3


def test_a_file_that_somebody_has_open_for_writing_is_waited_for(tmp_path, monkeypatch):
    """What is written through a handle that was opened before the exchange is not lost (Linux tells)."""
    file = fresh(tmp_path, 0)
    exchanged = Disk.exchange
    with file.open("a") as editor:

        def exchange_then_write(self, one, other):
            done = exchanged(self, one, other)
            editor.write("typed late\n")
            editor.flush()
            return done

        monkeypatch.setattr(Disk, "exchange", exchange_then_write)
        monkeypatch.setattr("infold.durable.replacing._OPEN_SECONDS", 0.05)
        assert not Replacement(Disk(), file).put(BEFORE, AFTER)
    assert file.read_bytes() == BEFORE + b"typed late\n" * 2

"""A first index of many notes, of which one is not any more what it was when the vault was looked at; a worker dies."""

from __future__ import annotations

import json
import os
from contextlib import closing

import pytest

from infold import workers
from infold.catalogue import reading
from tests.search import odd_worker
from tests.search.conftest import Place
from tests.search.first_index import write_notes

ODD = {
    f"part {number % 7}/note {number:04}.md": what
    for number, what in enumerate(("changed", "gone", "garbled", "away"), 300)
}
CHANGED, GONE, GARBLED, AWAY = ODD


@pytest.fixture
def many(tmp_path, static_embedder, monkeypatch) -> Place:
    """A vault of notes enough for workers, to which nothing happens yet."""
    monkeypatch.setattr(workers, "_COMMAND", odd_worker.COMMAND)
    monkeypatch.setattr(reading, "read_bytes", odd_worker.read_oddly)
    monkeypatch.setenv(odd_worker.SAYS, "{}")
    place = Place(tmp_path, static_embedder)
    write_notes(place.vault, workers.MANY + 20)
    return place


def catalogued(place: Place) -> dict[str, tuple[object, ...]]:
    """What the catalogue says of each note."""
    with closing(place.notes_feed().catalogue) as catalogue:
        targets = catalogue.targets()
        return {note.path: (note.sha256, note.title, targets.get(note.path)) for note in catalogue.notes()}


def is_as_made_anew(place: Place) -> bool:
    """Whether catalogue, points and vectors are those of a first index of the vault as it is now."""
    fresh = Place(place.root / "fresh", place.embedder)
    fresh.root.mkdir()
    found = place.contents(), catalogued(place)
    place.vault.rename(fresh.vault)
    fresh.sync()
    return found == (fresh.contents(), catalogued(fresh))


@pytest.mark.parametrize("processors", [1, 2], ids=["alone", "workers"])
def test_a_note_is_taken_as_it_is_when_it_is_read(many, monkeypatch, processors):
    """Changed, gone, garbled or away since the vault was looked at: indexed as read, or named; the next sync is whole."""
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setenv(odd_worker.SAYS, json.dumps(ODD))
    first = many.sync()
    assert [path for path, _ in first.skipped] == sorted((GONE, GARBLED, AWAY))
    assert {hit.path for hit, _ in many.contents().values()} == catalogued(many).keys()
    assert many.found("sourdough") == [CHANGED]
    assert catalogued(many)[CHANGED][1] == "Other"
    assert not catalogued(many).keys() & {GONE, GARBLED, AWAY}
    monkeypatch.setenv(odd_worker.SAYS, "{}")
    second = many.sync()
    assert ([path for path, _ in second.skipped], second.files_changed) == ([GARBLED], 1)
    assert AWAY in catalogued(many)
    assert is_as_made_anew(many)


def test_a_worker_that_is_killed_in_the_middle_is_not_missed(many, monkeypatch):
    """What it had not answered is read by the process that asked: nothing is lost, nothing is there twice."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setenv(odd_worker.SAYS, json.dumps(dict.fromkeys(ODD, "killed")))
    done = many.sync()
    assert (done.files_changed, done.skipped) == (workers.MANY + 20, ())
    monkeypatch.setenv(odd_worker.SAYS, "{}")
    assert is_as_made_anew(many)

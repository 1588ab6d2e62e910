"""Notes that are held while others are made of them."""

import pytest

from infold.catalogue import held_notes
from infold.catalogue.cutting import cutting_of
from infold.catalogue.held_notes import HeldNote, HeldNotes
from infold.catalogue.reading import read_notes
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.settings import Params

NOTE = """---
tags: [garden, "a\\ud800b"]
title: Levain
---
# Bread

A levain is fed at noon, [[oven|the oven]] is lit at three. (from outside, https://a.example, 2024-01-02)

## Flour

Rye and wheat.
"""


def note(text: str) -> HeldNote:
    """A note of this text."""
    return HeldNote("", text)


def test_the_longest_unused_go_first(monkeypatch):
    """No more than so many characters are held."""
    monkeypatch.setattr(held_notes, "MOST_CHARACTERS", 25)
    held = HeldNotes()
    for path in ("a", "b"):
        held.hold(path, note("0123456789"))
    assert held.get("a")
    held.hold("c", note("0123456789"))
    assert [path for path in "abc" if held.get(path)] == ["a", "c"]


def test_a_worker_keeps_the_first_that_it_read(monkeypatch):
    """Whoever asks for each once in the same order finds those that were held, where not all can be."""
    monkeypatch.setattr(held_notes, "MOST_CHARACTERS", 15)
    held = HeldNotes(is_first_kept=True)
    for path in ("a", "b", "c"):
        held.hold(path, note("0123456789"))
    assert [path for path in "abc" if held.get(path)] == ["a", "b"]
    held.clear()
    assert not held.get("a")


@pytest.mark.parametrize("is_worker", [False, True])
def test_a_held_note_is_the_one_that_the_catalogue_gives(tmp_path, monkeypatch, is_worker: bool):
    """Made of what was parsed, or of the rows and the text: points made of it are the same."""
    vault, params = tmp_path / "vault", Params()
    vault.mkdir()
    (vault / "bread.md").write_text(NOTE)
    fresh = Catalogue(tmp_path / "catalogue.sqlite", vault, params)
    sync_catalogue(fresh)
    if is_worker:
        monkeypatch.setattr(held_notes, "is_worker", lambda: True)
        monkeypatch.setattr(held_notes, "_of_worker", {})
        assert read_notes([("bread.md", None)], vault, cutting_of(params))[0].written is None
        fresh = Catalogue(tmp_path / "catalogue.sqlite", vault, params)
    held = fresh.written("bread.md", with_blocks=False)
    fresh.close()
    monkeypatch.setattr(held_notes, "is_worker", lambda: False)
    later = Catalogue(tmp_path / "catalogue.sqlite", vault, params)
    assert held == later.written("bread.md", with_blocks=False)
    assert later.written("bread.md").note.links
    later.close()

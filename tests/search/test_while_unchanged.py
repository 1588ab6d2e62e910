"""What a vault that is kept open knows of its notes without looking through it again."""

from __future__ import annotations

import pytest

import infold
from infold.operations.graph import KnowledgeGraphRequest, knowledge_graph
from infold.search.follow.moments import Moments
from infold.search.follow.while_unchanged import WhileUnchanged


@pytest.fixture
def kept_open(tmp_path):
    notes = tmp_path / "vault"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nSee [[b]].\n")
    (notes / "b.md").write_text("# B\n")
    with infold.open(notes, state=tmp_path / "state", changes=["search.embedding=none"]) as vault:
        vault.is_kept_open = True
        yield vault


def told(folder) -> bool:
    """Whether this system tells of changes in a folder."""
    moments = Moments(lambda: (folder,))
    try:
        return moments.now() is not None
    finally:
        moments.close()


def test_a_value_is_made_again_only_after_a_change(tmp_path):
    """Once while nothing happens, again after a change, after the time, and when it is forgotten; a fault is not kept."""
    if not told(tmp_path):
        pytest.skip("this system does not tell of changes in folders")
    made: list[int] = []

    def make() -> int:
        made.append(1)
        if len(made) == 2:
            raise OSError
        return len(made)

    moments = Moments(lambda: (tmp_path,))
    kept = WhileUnchanged(make, moments, most_seconds=60)
    assert [kept.get(), kept.get()] == [1, 1]
    (tmp_path / "new.md").write_text("x")
    with pytest.raises(OSError):
        kept.get()
    assert [kept.get(), kept.get()] == [3, 3]
    kept.forget()
    assert kept.get() == 4
    hurried = WhileUnchanged(make, moments, most_seconds=0)
    assert [hurried.get(), hurried.get()] == [5, 6]
    moments.close()


def test_notes_and_links_are_as_they_are_now(kept_open):
    """A note that another program writes is among the notes, and what it links to knows it, at the next question."""
    folder = kept_open.workspace.vault
    first = kept_open.scanned()
    assert [file.path for file in first.files] == ["a.md", "b.md"]
    if told(folder):
        assert kept_open.scanned() is first
    (folder / "c.md").write_text("# C\n\nSee [[b]] too.\n")
    assert len(kept_open.scanned().files) == 3
    asked = KnowledgeGraphRequest(view="backlinks", note="b.md")
    assert [note.path for note in knowledge_graph(kept_open, asked).notes] == ["a.md", "c.md"]
    (folder / "a.md").unlink()
    assert [note.path for note in knowledge_graph(kept_open, asked).notes] == ["c.md"]


def test_a_catalogue_that_is_taken_away_is_made_anew(kept_open):
    """Though no note changed: whoever deletes what is derived gets it back."""
    with kept_open.catalogued() as catalogue:
        assert catalogue.count() == 2
        catalogue.remove()
    with kept_open.catalogued() as catalogue:
        assert catalogue.count() == 2
    with kept_open.catalogued() as catalogue:
        assert catalogue.count() == 2

"""A search that is up to date: what changed is found, what is gone is not, and nothing but a missing index stops it."""

from __future__ import annotations

import os

import pytest

from infold.errors import IndexFault, StateUnwritable, VaultBusy
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.index.generations import Generations
from infold.search.query.fresh_search import LiveSearch
from infold.settings import Params
from infold.workspace import Workspace


@pytest.fixture
def space(place) -> Workspace:
    """The small vault, not yet indexed."""
    return Workspace(place.vault, place.root / "state", place.vault / "inbox.md", Params())


def paths(found) -> set[str]:
    return {result.path for result in found.results}


def test_a_first_search_makes_the_index(space, static_embedder):
    """Without an index the words are indexed first, with progress; that meaning is still to come is said."""
    stages = []
    with LiveSearch(space, static_embedder, progress=lambda *told: stages.append(told[0])) as live:
        found = live.search("levain")
    assert paths(found) == {"bread.md"}
    assert "keywords" in stages
    assert any("keyword only" in notice for notice in found.notices)


def test_changes_are_found_at_once(space, static_embedder, place):
    """New, changed, renamed and deleted notes: each answer is of the vault as it stands."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
        place.write("rye.md", "A levain of rye.\n")
        place.write("bread.md", "# Bread\n\nYeast, today.\n")
        assert paths(live.search("levain")) == {"rye.md"}
        (place.vault / "rye.md").rename(place.vault / "sour.md")
        assert paths(live.search("levain")) == {"sour.md"}
        (place.vault / "sour.md").unlink()
        assert paths(live.search("levain")) == set()


def test_what_the_files_no_longer_say_is_left_out(space, static_embedder, place):
    """Without a sync, deleted and rewritten text is not answered, and counted; text that only moved has its lines."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
        place.write("bread.md", "# Bread\n\n\n\n\nA levain rises overnight.\n\n## Oven\n\nNothing.\n")
        (place.vault / "garden/tomatoes.md").unlink()
        found = live.search("levain oven iron tomatoes stake", sync=False)
        assert paths(found) <= {"bread.md", "index.md"}
        assert found.left_out == 3


def test_moved_text_has_the_lines_it_stands_on_now(space, static_embedder, place):
    """A passage that is the same, further down, is shown where it is."""
    with LiveSearch(space, static_embedder) as live:
        live.search("stake")
        place.write("garden/tomatoes.md", "\n\n\nTomatoes want sun, a stake and water at the root.\n")
        result = live.search("stake", sync=False).results[0]
        assert (result.start_line, result.end_line) == (4, 4)


def test_another_process_at_work_does_not_stop_a_search(space, static_embedder, place):
    """While somebody else syncs, what is there is searched, and the answer says so."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
        place.write("rye.md", "A levain of rye.\n")
        with Generations(space.index).syncing():
            found = live.search("levain")
        assert paths(found) == {"bread.md"}
        assert any("Another process" in notice for notice in found.notices)


@pytest.mark.parametrize("fault", [StateUnwritable("The disk is full."), IndexFault("The shard broke.")])
def test_a_sync_that_fails_does_not_stop_a_search(space, static_embedder, monkeypatch, fault):
    """A full or read-only disk: what is there is searched, and the answer says why it may be old."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")

        def broken(*_: object, **__: object) -> None:
            raise fault

        monkeypatch.setattr("infold.search.index.sync.sync_index", broken)
        found = live.search("levain")
        assert paths(found) == {"bread.md"}
        assert str(fault) in found.notices[0]


def test_without_an_index_a_sync_that_fails_is_an_error(space, static_embedder, monkeypatch):
    """Nothing can be searched then, and the reason is said."""

    def busy(*_: object, **__: object) -> None:
        raise VaultBusy("Another process.")

    monkeypatch.setattr("infold.search.index.sync.sync_index", busy)
    with LiveSearch(space, static_embedder) as live, pytest.raises(VaultBusy):
        live.search("levain")


def test_a_vault_that_is_suddenly_empty_is_said(space, static_embedder, place):
    """An absent mount empties nothing; what was found there is left out as gone."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
        hidden = place.root / "elsewhere"
        place.vault.rename(hidden)
        place.vault.mkdir()
        found = live.search("levain")
        assert found.results == ()
        assert any("empty" in notice for notice in found.notices)
        place.vault.rmdir()
        hidden.rename(place.vault)
        assert paths(live.search("levain")) == {"bread.md"}


@pytest.mark.parametrize("emptied", ["**/tq_vectors/chunk_0.mmap", "**/vector_storage-*/**/*"])
def test_vectors_that_turn_out_to_be_lost_are_made_anew(space, static_embedder, emptied):
    """The engine opens without its vectors, and fails over each question: that mends itself, and is said."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
        live.fill()
    for file in space.index.glob(emptied):
        if file.is_file():
            file.write_bytes(b"")
    with LiveSearch(space, static_embedder) as live:
        found = live.search("levain")
        assert paths(found) == {"bread.md"}
        assert "The search index was damaged; it was made anew." in found.notices
        live.fill()
    with LiveSearch(space, static_embedder) as live:
        assert live.search("levain").notices == ()


def test_a_damaged_index_is_made_anew(space, static_embedder):
    """A person searches, and finds."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
    folder = Generations(space.index)
    (folder.manifest_of(folder.current())).write_bytes(b"no database" * 100)
    with LiveSearch(space, static_embedder) as live:
        assert paths(live.search("levain")) == {"bread.md"}


def test_words_that_turn_out_to_be_lost_are_made_anew(space, static_embedder):
    """The engine opens without a file, and fails over a question: that mends itself, and is said."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
    for file in space.index.glob("**/words/*.pos"):
        file.unlink()
    with LiveSearch(space, static_embedder) as live:
        found = live.search("levain")
    assert paths(found) == {"bread.md"}
    assert "The search index was damaged; it was made anew." in found.notices


def test_another_model_is_said(space, static_embedder, place):
    """An index made without vectors is searched by keyword, and the answer says so."""
    from infold.search.index.sync import sync_index

    sync_index(space.vault, space.index, space.embeddings, space.params, NO_EMBEDDER)
    with LiveSearch(space, static_embedder) as live:
        found = live.search("levain", sync=False)
    assert paths(found) == {"bread.md"}
    assert any("other embeddings" in notice for notice in found.notices)


def test_overlapping_passages_are_one_result(space, static_embedder, place):
    """A word in the overlap of two passages is one place; words far apart in one note are two."""
    lines = [f"Line {n} speaks of nothing that matters here at all, and goes on for a while." for n in range(60)]
    lines[20] = "The quokka stands where two windows meet."
    place.write("long.md", "\n".join(lines) + "\n")
    with LiveSearch(space, static_embedder) as live:
        found = [result for result in live.search("quokka", min_score=0).places if result.path == "long.md"]
        assert len(found) == 1
        assert found[0].start_line <= 21 <= found[0].end_line
        lines[55] = "Another quokka, far away."
        place.write("long.md", "\n".join(lines) + "\n")
        found = [result for result in live.search("quokka", min_score=0).places if result.path == "long.md"]
        assert len(found) == 2


def test_every_phrase_that_exists_is_found(space, static_embedder, place, monkeypatch):
    """However many notes hold the words apart and rank before it, the one that holds them together is found."""
    monkeypatch.setattr("infold.search.query.phrase_filter.FIRST_LOOK", 5)
    for n in range(30):
        place.write(f"many/{n}.md", "green house " * 3 + f"note {n}\n")
    far = "A " + "long way to go before one comes to the " * 30
    place.write("many/last.md", f"{far} house house green wall of it.\n")
    with LiveSearch(space, static_embedder) as live:
        ranked = [hit.path for hit in live._open().keyword("house house green", 20)] if live.search("x") else []
        assert "many/last.md" not in ranked[:5]
        assert paths(live.search('"house house green"')) == {"many/last.md"}


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions mean nothing to root")
def test_a_read_only_state_is_searched(space, static_embedder):
    """Where nothing can be written, what is there answers."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")
        space.index.chmod(0o500)
        try:
            assert paths(live.search("levain")) == {"bread.md"}
        finally:
            space.index.chmod(0o700)


def test_vectors_follow_after_the_answer(space, static_embedder):
    """A vault that is only ever searched is found by meaning too; then nothing is said of keywords."""
    with LiveSearch(space, static_embedder) as live:
        assert any("keyword only" in notice for notice in live.search("levain").notices)
        live.fill()
        assert live.search("levain").notices == ()
        assert live.search("watering vegetables", sync=False).timing.dense_ms > 0


@pytest.mark.parametrize(
    "fault", [StateUnwritable("The disk is full."), VaultBusy("Another."), OSError(), KeyboardInterrupt()]
)
def test_what_fails_after_the_answer_is_no_matter_of_who_asked(space, static_embedder, monkeypatch, fault):
    """A full disk, another process at work, Ctrl-C: the answer was given, and the next search goes on."""
    with LiveSearch(space, static_embedder) as live:
        live.search("levain")

        def broken(*_: object, **__: object) -> None:
            raise fault

        with monkeypatch.context() as patch:
            patch.setattr("infold.search.index.sync.sync_index", broken)
            live.fill()
        assert any("keyword only" in notice for notice in live.search("levain").notices)


def test_vectors_take_no_longer_than_they_may(space, static_embedder, place, monkeypatch):
    """When the time is over the rest is left for the next time, and what was done is kept."""
    monkeypatch.setattr("infold.search.index.writing.VECTOR_BATCH", 2)
    for n in range(9):
        place.write(f"{n}.md", f"Note number {n}.\n")
    with LiveSearch(space, static_embedder) as live:
        live.search("levain", sync=True)
        live.fill(0)
        first = live.search("levain").notices[0]
        live.fill(0)
        second = live.search("levain").notices[0]
        assert int(first.split()[0]) - int(second.split()[0]) == 2

"""Summaries: stale ones only, short notes their own, index notes after what they link to (spec 1, Phase 2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from infold.catalogue.summaries import SummaryStore
from infold.inbox.summarising import summarise_notes
from infold.inbox.summary_sources import SummarySource
from infold.settings import SummaryParams
from infold.text import content_hash
from tests.fakes.scripted import ScriptedLibrarian

LONG = "A sentence of exactly seven words here. " * 20


def source(path: str, text: str, links: tuple[str, ...] = (), *, is_index: bool = False) -> SummarySource:
    return SummarySource(path, path, content_hash(text), len(text.split()), is_index, links, lambda: text)


def silent(done: int, total: int) -> None:
    """No progress."""


def named(request) -> dict[str, str]:
    """A summary that says whose it is and what it was made from."""
    made_from = " ".join(summary.split()[0] for _, summary in request.linked or ())
    head = f"<{request.path}|{made_from}>"
    return {"summary": " ".join([head.replace(" ", "+")] + ["word"] * 74)}


@pytest.fixture
def store(tmp_path: Path) -> SummaryStore:
    return SummaryStore(tmp_path / "summaries")


async def summarise(sources, store, librarian=None):
    librarian = librarian or ScriptedLibrarian(look=dict, edit=dict, summarise_by=named)
    return await summarise_notes(sources, store, librarian, SummaryParams(), silent), librarian


async def test_only_a_changed_note_is_summarised_again(store):
    """Spec 1: regenerate when the content hash differs from the cached one; a rename costs nothing."""
    await summarise([source("a.md", LONG), source("b.md", LONG + "b")], store)
    result, librarian = await summarise([source("renamed.md", LONG), source("b.md", LONG + "changed")], store)
    assert [request.path for request in librarian.asked] == ["b.md"]
    assert (result.made, result.kept) == (1, 1)


async def test_a_note_under_the_minimum_is_its_own_summary(store):
    """DESIGN: notes shorter than 75 words are their own summary; nobody is asked."""
    result, librarian = await summarise([source("s.md", "Short\nand  sweet.")], store)
    assert result.by_path["s.md"] == "Short and sweet."
    assert librarian.asked == []


async def test_an_index_note_is_summarised_from_its_linked_notes_after_them(store):
    """Spec 1: index notes from the summaries of all notes linked from them; index notes of index notes last."""
    sources = [
        source("index.md", LONG, ("garden index.md",), is_index=True),
        source("garden index.md", LONG, ("a.md", "b.md"), is_index=True),
        source("a.md", LONG + "a"),
        source("b.md", LONG + "b"),
    ]
    result, _ = await summarise(sources, store)
    assert result.by_path["garden index.md"].startswith("<garden+index.md|<a.md|>+<b.md|>>")
    assert result.by_path["index.md"].startswith("<index.md|<garden+index.md")


async def test_an_index_note_is_stale_when_a_linked_summary_changed(store):
    """What an index note says depends on its notes: a change there reaches it, and nothing else."""
    index = source("index.md", LONG, ("a.md",), is_index=True)
    await summarise([index, source("a.md", LONG), source("b.md", LONG + "b")], store)
    other = ScriptedLibrarian(
        look=dict, edit=dict, summarise_by=lambda r: {"summary": "new " + named(r)["summary"][:-5]}
    )
    _, librarian = await summarise([index, source("a.md", LONG + "x"), source("b.md", LONG + "b")], store, other)
    assert [request.path for request in librarian.asked] == ["a.md", "index.md"]


async def test_a_circle_of_index_notes_rests(store):
    """Links in a circle use the last known summary, and the second pass asks nothing."""
    sources = [
        source("x index.md", LONG, ("y index.md", "a.md"), is_index=True),
        source("y index.md", LONG + "y", ("x index.md", "a.md"), is_index=True),
        source("a.md", LONG + "a"),
    ]
    await summarise(sources, store)
    result, librarian = await summarise(sources, store)
    assert librarian.asked == []
    assert set(result.by_path) == {"x index.md", "y index.md", "a.md"}


async def test_a_summary_that_cannot_be_had_is_stood_in_for_and_asked_again_next_time(store):
    """One bad answer stops nothing: the note is shown by its own sentences, named, and tried again."""
    bad = ScriptedLibrarian(look=dict, edit=dict, summarise_by=lambda r: {"summary": "too short"})
    result, _ = await summarise([source("a.md", LONG)], store, bad)
    assert result.by_path["a.md"]
    assert "a.md" in result.warnings[0]
    _, librarian = await summarise([source("a.md", LONG)], store)
    assert [request.path for request in librarian.asked] == ["a.md"]


async def test_what_was_paid_for_survives_a_crash_in_the_next_batch(store):
    """Part files are written as each batch ends."""
    sources = [source(f"{i}.md", LONG + str(i)) for i in range(4)]

    def dies_in_the_second_batch(request):
        if request.path == "2.md":
            raise MemoryError
        return named(request)

    dying = ScriptedLibrarian(look=dict, edit=dict, summarise_by=dies_in_the_second_batch)
    with pytest.raises(MemoryError):
        await summarise_notes(sources, store, dying, SummaryParams(batch_size=2), silent)
    _, librarian = await summarise(sources, store)
    assert [request.path for request in librarian.asked] == ["2.md", "3.md"]


async def test_ten_thousand_linked_index_notes_do_not_recurse(store):
    """A chain of index notes longer than the interpreter's stack is no trouble."""
    chain = [source(f"index {i}.md", f"{i}", (f"index {i + 1}.md",), is_index=True) for i in range(3000)]
    librarian = ScriptedLibrarian(look=dict, edit=dict)
    result = await summarise_notes(chain, store, librarian, SummaryParams(), silent)
    assert len(result.by_path) == 3000

"""Imports: chosen, read, dirty where they changed, summarised once, resumed, kept."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import infold
from infold.catalogue.embeddings import FILE_NAME
from infold.errors import AnswerInvalid, UsageError
from infold.navigator.proximity import VectorCache
from infold.navigator.store import NavigatorStore
from tests.fakes.scripted import ScriptedLibrarian


def dirty(vault) -> dict[str, int]:
    vault.refresh_nodes(at_once=True)
    return vault.navigator_store.dirty()


def test_a_folder_is_imported_with_all_its_nodes_and_summaries(vault):
    """Every note below becomes an article with sections and paragraphs; offline that costs nothing."""
    done = vault.import_notes(["garden"])
    assert (done.notes, done.usage.calls, done.warnings) == (2, 0, ())
    nodes = list(vault.navigator_store.every())
    assert {node.path for node in nodes} == {"garden/tomatoes.md", "garden/compost.md"}
    assert done.nodes == len(nodes) == done.summaries
    assert all(node.summary and not node.is_dirty for node in nodes)
    assert vault.import_notes(["garden"]).summaries == 0


def test_what_is_not_there_is_told_with_what_comes_near(vault):
    """A slip in a path imports nothing."""
    with pytest.raises(UsageError) as caught:
        vault.import_notes(["gardn"])
    assert "garden" in caught.value.hint
    assert vault.navigator_store.choices.imports() == {}


def test_one_changed_paragraph_makes_it_and_those_above_it_dirty(vault, folder):
    """Only the node and its ancestors wait; the others keep their summaries, ids and the moment of their change."""
    vault.import_notes(["."])
    before = {node.id: node for node in vault.navigator_store.of_article("garden/tomatoes.md")}
    file = folder / "garden" / "tomatoes.md"
    file.write_text(file.read_text().replace("at the roots", "at the roots, slowly"))
    assert dirty(vault) == {"garden/tomatoes.md": 4}
    after = vault.navigator_store.of_article("garden/tomatoes.md")
    waiting = [(node.type, node.title) for node in after if node.is_dirty]
    assert waiting == [("article", "Tomatoes"), ("section", "Tomatoes"), ("section", "Watering"), ("paragraph", "")]
    assert len({node.id for node in after} - set(before)) == 1
    unchanged = [node for node in after if not node.is_dirty]
    assert all(before[node.id].summary == node.summary for node in unchanged)


async def test_one_changed_paragraph_of_two_thousand_nodes(vault, folder):
    """It and the three above it are asked for and embedded anew; all other nodes stay as they were."""
    sections = "\n\n".join(
        f"## Part {n}\n\n" + "\n\n".join(f"Sentence {m} of part {n} is about subject {n * m}." for m in range(39))
        for n in range(50)
    )
    file = folder / "long.md"
    file.write_text(f"# Long\n\n{sections}\n")
    vault.import_notes(["long.md"])
    before = {node.id: node for node in vault.navigator_store.of_article("long.md")}
    assert len(before) == 2 + 50 * 40
    rows = vault.node_vectors()
    file.write_text(file.read_text().replace("Sentence 7 of part 9 is", "Sentence 7 of part 9 was"))
    assert dirty(vault) == {"long.md": 4}
    scripted = ScriptedLibrarian(look=dict, edit=dict)
    await vault.importer.summarise(["long.md"], scripted, lambda *_: None)
    (asked,) = scripted.asked
    assert [part.kind for part in asked.parts] == ["article", "section", "section", "paragraph"]
    after = {node.id: node for node in vault.navigator_store.of_article("long.md")}
    others = [node for node in after.values() if node.ordinal not in {part.number for part in asked.parts}]
    assert [node.summary for node in others] == [before[node.id].summary for node in others]
    told: list[int] = []
    again = vault.navigator_vectors().vectors(lambda _, done, total: told.append(total))
    assert told == [4]
    assert all((again.row_of(node.id) == rows.row_of(node.id)).all() for node in others[::50])


@pytest.mark.parametrize("is_kept", [False, True], ids=["bundled", "costly"])
def test_a_matrix_made_anew_computes_what_is_new(vault, folder, request, is_kept):
    """From the matrix before, or where vectors are kept from those; lost, only what is not kept is computed again."""
    if is_kept:
        request.getfixturevalue("costly")
    vault.import_notes(["garden"])
    rows = vault.node_vectors()
    assert (vault.workspace.embeddings / FILE_NAME).exists() == is_kept
    cache = vault.navigator_vectors()
    shutil.rmtree(cache._folder)

    def made() -> list[int]:
        told: list[int] = []
        opened = VectorCache(cache._store, cache._embeddings, cache._embedder, cache._folder)
        again = opened.vectors(lambda _, done, total: told.append(total))
        assert all(np.allclose(again.row_of(one), rows.row_of(one), atol=1e-3) for one in rows.ids)
        return told

    assert bool(made()) is not is_kept
    assert made() == []
    vault.import_notes(["work/database.md"])
    total = len(list(vault.navigator_store.every()))
    (new,) = set(made())
    assert 0 < new <= total - len(rows.ids)


async def test_only_what_is_dirty_is_asked_for(vault, folder):
    """A librarian is asked about the changed node and those above it, and about nothing else."""
    vault.import_notes(["."])
    file = folder / "work" / "database.md"
    file.write_text(file.read_text().replace("every write", "each write"))
    dirty(vault)
    scripted = ScriptedLibrarian(look=dict, edit=dict)
    done = await vault.importer.summarise(["work/database.md", "index.md"], scripted, lambda *_: None)
    (asked,) = scripted.asked
    assert asked.path == "work/database.md"
    assert done.made == len(asked.parts)
    assert dirty(vault) == {}


async def test_a_fault_leaves_the_article_as_it_was_and_the_others_done(vault):
    """One bad answer never stops the others, and is named; the next import asks for just that."""
    vault.navigator_store.choices.choose(vault.importer.chosen(["."]))
    vault.refresh_nodes(at_once=True)

    class Failing(ScriptedLibrarian):
        async def summarise_article(self, request):
            if request.path == "index.md":
                raise AnswerInvalid("no answer of use")
            return await super().summarise_article(request)

    paths = sorted(vault.navigator_store.choices.imports())
    done = await vault.importer.summarise(paths, Failing(look=dict, edit=dict), lambda *_: None)
    assert done.warnings == ("index.md keeps what it had: no answer of use",)
    assert set(dirty(vault)) == {"index.md"}


def test_deleted_nodes_come_back_without_a_question(vault, folder, tmp_path):
    """Nodes are derived: without their file everything is there again, with the kept summaries."""
    vault.import_notes(["."])
    before = {node.id: node.summary for node in vault.navigator_store.every()}
    vault.close()
    for file in vault.workspace.navigator_nodes.parent.glob("navigator*.sqlite*"):
        file.unlink()
    with infold.open(folder, state=tmp_path / "state") as again:
        assert dirty(again) == {}
        assert {node.id: node.summary for node in again.navigator_store.every()} == before


def test_a_renamed_note_costs_nothing(vault, folder):
    """Summaries belong to content: the note at its new place has them at once."""
    vault.import_notes(["garden"])
    (folder / "garden" / "compost.md").rename(folder / "garden" / "heap.md")
    vault.navigator_store.choices.choose(["garden/heap.md"])
    assert dirty(vault) == {}
    assert "garden/compost.md" not in vault.navigator_store.articles()


def test_a_vault_that_is_suddenly_empty_deletes_nothing(vault, folder):
    """An absent mount is not a deletion."""
    vault.import_notes(["."])
    folder.rename(folder.with_name("away"))
    folder.mkdir()
    seen = vault.refresh_nodes(at_once=True)
    assert seen.skipped
    assert len(vault.navigator_store.articles()) == 5


def test_browse_shows_tokens_and_states(vault, folder):
    """Folders with all below them counted; each note not imported, fresh or dirty."""
    vault.import_notes(["garden"])
    file = folder / "garden" / "compost.md"
    file.write_text(file.read_text() + "\nMore.\n")
    vault.refresh_nodes(at_once=True)
    folders, notes = vault.browse()
    assert [(each.path, each.notes, each.imported, each.dirty) for each in folders] == [
        ("garden", 2, 2, 1),
        ("work", 2, 0, 0),
    ]
    assert [(note.path, note.state) for note in notes] == [("index.md", "not imported")]
    _, inside = vault.browse("garden")
    assert {note.path: note.state for note in inside} == {"garden/compost.md": "dirty", "garden/tomatoes.md": "fresh"}
    assert inside[1].tags == ("garden",)
    _, work = vault.browse("work")
    assert [(note.title, note.day, note.tags) for note in work[1:]] == [("Release", "2026-01-10", ("work/infra",))]
    with pytest.raises(UsageError):
        vault.browse("nowhere")


def test_choices_survive_a_reopening(tmp_path, vault):
    """What was imported, lenses and places are kept apart from what is derived."""
    vault.import_notes(["garden"])
    vault.close()
    with NavigatorStore(tmp_path / "new.sqlite", vault.workspace.navigator) as store:
        assert list(store.choices.imports()) == ["garden/compost.md", "garden/tomatoes.md"]

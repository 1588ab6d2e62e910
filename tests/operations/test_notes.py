"""Notes made, renamed, moved, deleted and looked at, as callers ask for it."""

from __future__ import annotations

import random
import unicodedata

import pytest

import infold
from infold.durable.changes import Changes
from infold.errors import NoteExists, NoteNotFound, PathRefused, RunNotFound, UsageError
from infold.knowledge.note_changes import NoteChanges, NoteDraft
from infold.operations.contract import Nothing
from infold.operations.graph import KnowledgeGraphRequest, VaultLintRequest, knowledge_graph, knowledge_lint
from infold.operations.knowledge import KnowledgeSuggestRequest, knowledge_suggest
from infold.operations.memory import MemorySearchRequest, memory_search
from infold.operations.notes import (
    KnowledgeCreateRequest,
    KnowledgeDeleteRequest,
    KnowledgeRenameRequest,
    knowledge_create,
    knowledge_delete,
    knowledge_rename,
    near,
)
from infold.operations.restoring import KnowledgeRestoreRequest, knowledge_restore
from infold.vault.note import parse

NOTES = {
    "index.md": "# Home\n\nSee [[Heat pump]] and [[Garden|the garden]] and [[nowhere]].\n",
    "house/Heat pump.md": "---\naliases: [Boiler]\n---\n# Heat pump\n\nThe heat pump in the cellar draws 9 kW on cold days. It replaced the gas boiler of the old house last spring and has run well.\n",
    "Garden.md": "# Garden\n\nTomatoes stand beside the wall, and the [[Boiler]] warms it.\n",
    "alone.md": "# Alone\n\nThe heat pump in the cellar draws 11 kW on cold days.\n",
    "heat-pump!.md": "",
}


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "vault"
    for path, text in NOTES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.fixture
def vault(folder, tmp_path):
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=none"]) as vault:
        yield vault


def test_create_has_the_specification_s_names_and_defaults():
    """Spec 4: title, content, tags, related_notes, category inbox."""
    request = KnowledgeCreateRequest(title="x", content="y")
    assert list(KnowledgeCreateRequest.model_fields)[:5] == ["title", "content", "tags", "related_notes", "category"]
    assert (list(request.tags), list(request.related_notes), request.category) == ([], [], "inbox")


def test_a_new_note_has_front_matter_tags_and_links_that_resolve(vault, folder):
    """The shortest links that lead back, in both directions where asked; one undo takes all of it away."""
    before = {path: (folder / path).read_bytes() for path in NOTES}
    request = KnowledgeCreateRequest(
        title="What is R/290?",
        content="A refrigerant, used in pumps.",
        tags=["house work", "#gas"],
        related_notes=["Boiler", "[[Garden]]"],
        category="projects",
        link_back=True,
    )
    plan = knowledge_create(vault, request.model_copy(update={"dry_run": True}))
    assert plan.change is None
    assert set(plan.diffs) == {"projects/What is R-290.md", "house/Heat pump.md", "Garden.md"}
    assert {path: (folder / path).read_bytes() for path in NOTES} == before
    made = knowledge_create(vault, request)
    note = parse(made.path, (folder / made.path).read_text())
    assert made.path == "projects/What is R-290.md"
    assert (note.title, note.tags) == ("What is R/290?", ("house-work", "gas"))
    assert [link.target for link in note.links] == ["Heat pump", "Garden"]
    assert made.linked == ("house/Heat pump.md", "Garden.md")
    assert "[[What is R-290]]" in (folder / "Garden.md").read_text()
    vault.undo(made.change)
    assert {path: (folder / path).read_bytes() for path in NOTES} == before
    assert not (folder / "projects").exists()


@pytest.mark.parametrize("title", ["heat pump", "HEAT-PUMP", "Boiler", "Heat  Pump!", "Ｈｅａｔ ｐｕｍｐ"])
def test_twins_by_name_are_refused_and_named(vault, title):
    """Case, spaces, punctuation, Unicode form and aliases do not make another name."""
    with pytest.raises(NoteExists, match=r"(?i)heat.pump"):
        knowledge_create(vault, KnowledgeCreateRequest(title=title, content="Something else."))


def test_what_cannot_be_is_refused_with_the_next_step(vault):
    """A related note that is not there, front matter of its own, a title without letters, the folder always loaded."""
    with pytest.raises(NoteNotFound) as raised:
        knowledge_create(vault, KnowledgeCreateRequest(title="n", content="x", related_notes=["Gardn"]))
    assert "Garden.md" in raised.value.hint
    with pytest.raises(UsageError, match="front matter"):
        knowledge_create(vault, KnowledgeCreateRequest(title="n", content="---\na: 1\n---\nx"))
    with pytest.raises(UsageError):
        knowledge_create(vault, KnowledgeCreateRequest(title="?/", content="x"))


def test_no_category_puts_text_where_it_is_always_loaded_unless_told(folder, tmp_path):
    """By default, and where a setting would have it so; `always_load` is the only way in."""
    with infold.open(
        folder, state=tmp_path / "s", changes=["search.embedding=none", "knowledge.reference_folder=reference/x"]
    ) as vault:
        with pytest.raises(PathRefused, match="always loaded"):
            knowledge_create(vault, KnowledgeCreateRequest(title="n", content="secret sauce", category="reference"))
        made = knowledge_create(vault, KnowledgeCreateRequest(title="n", content="secret sauce", always_load=True))
        assert made.path == "reference/n.md"
        assert "secret sauce" in vault.context().text
    with infold.open(folder, state=tmp_path / "s", changes=["search.embedding=none"]) as vault:
        for category in ("inbox", "projects", "reference", "archive"):
            path = knowledge_create(
                vault,
                KnowledgeCreateRequest(title=f"of {category}", content=f"about {category} only", category=category),
            ).path
            assert path not in {file.path for file in vault.context().files}


WORDS = [
    "river",
    "stone",
    "lamp",
    "winter",
    "copper",
    "market",
    "bridge",
    "letter",
    "garden",
    "window",
    "harvest",
    "signal",
    "basket",
    "island",
    "candle",
    "thunder",
]


def _texts(count: int, seed: int) -> list[str]:
    random_ = random.Random(seed)
    return [" ".join(f"{random_.choice(WORDS)}{random_.randrange(60)}" for _ in range(60)) + "." for _ in range(count)]


def _twin(text: str, number: int) -> tuple[str, str]:
    """Title and content of a twin: by name, or by what it says, in the ways that people and agents make them."""
    words = text.split()
    kind = number % 5
    if kind == 0:
        return unicodedata.normalize("NFD", f"NOTE, number-{number}"), "Something quite different altogether here."
    if kind == 1:
        return f"Copy {number}", text.upper()
    if kind == 2:
        return f"Copy {number}", "\n\n".join(" ".join(words[at : at + 9]) for at in range(0, 60, 9))
    if kind == 3:
        return f"Copy {number}", f"# Copy\n\n{text}\n\nOne more sentence."
    return f"Copy {number}", " ".join([*words[:30], "really", *words[31:]])


@pytest.mark.slow
def test_two_hundred_twins_are_refused_and_two_hundred_others_are_not(tmp_path):
    """Renamed, reformatted, lengthened and lightly changed copies all; notes of the same words in another order none."""
    root = tmp_path / "vault"
    root.mkdir()
    texts = _texts(200, 1)
    for number, text in enumerate(texts):
        (root / f"Note number {number}.md").write_text(f"# Note number {number}\n\n{text}\n")
    with infold.open(
        root, state=tmp_path / "state", changes=["search.embedding=none", "search.sync_on_search=false"]
    ) as vault:
        vault.sync_index()
        with vault.catalogued() as catalogue:
            changes = NoteChanges(vault.workspace, catalogue)
            for number, text in enumerate(texts):
                title, content = _twin(text, number)
                with pytest.raises(NoteExists, match=f"Note number {number}.md"):
                    changes.plan_create(NoteDraft(title, content, "inbox"), lambda said: near(vault, said))
            for number, text in enumerate(_texts(200, 2)):
                changes.plan_create(NoteDraft(f"Other {number}", text, "inbox"), lambda said: near(vault, said))


def test_rename_keeps_every_link_and_is_undone_at_once(vault, folder):
    """Links by name and by alias, one change, one undo; a dry run changes nothing."""
    before = {path: (folder / path).read_bytes() for path in NOTES}
    dry = knowledge_rename(vault, KnowledgeRenameRequest(note="Boiler", new="Pump", dry_run=True))
    assert dry.path == "house/Pump.md"
    assert (folder / "index.md").read_bytes() == before["index.md"]
    done = knowledge_rename(vault, KnowledgeRenameRequest(note="house/Heat pump", new="Pump"))
    assert [(link.path, link.before, link.after) for link in done.rewritten] == [("index.md", "Heat pump", "Pump")]
    assert "[[Pump]]" in (folder / "index.md").read_text()
    assert not (folder / "house/Heat pump.md").exists()
    assert knowledge_graph(vault, KnowledgeGraphRequest(view="backlinks", note="Pump")).total == 2
    vault.undo(done.change)
    assert {path: (folder / path).read_bytes() for path in NOTES} == before


def test_moving_to_a_folder_and_what_would_be_caught(vault, folder):
    """A folder ends with /; a link that led nowhere and would lead to the note now is told."""
    done = knowledge_rename(vault, KnowledgeRenameRequest(note="alone", new="deep/er/"))
    assert done.path == "deep/er/alone.md"
    caught = knowledge_rename(vault, KnowledgeRenameRequest(note="alone", new="nowhere", dry_run=True)).caught
    assert [(link.path, link.note) for link in caught] == [("index.md", "deep/er/nowhere.md")]
    for new in ("Garden", "a#b", "../out", "alone"):
        with pytest.raises((NoteExists, PathRefused, UsageError)):
            knowledge_rename(
                vault, KnowledgeRenameRequest(note="deep/er/alone", new=new if new != "Garden" else "/Garden")
            )


def test_delete_says_which_links_break_and_can_be_undone(vault, folder):
    """The bytes come back as they were; the note is found no more in between."""
    before = (folder / "Garden.md").read_bytes()
    done = knowledge_delete(vault, KnowledgeDeleteRequest(note="Garden"))
    assert [(link.path, link.line) for link in done.breaks] == [("index.md", 3)]
    assert not (folder / "Garden.md").exists()
    assert not any(memory_search(vault, MemorySearchRequest(query="tomatoes")).results.values())
    vault.undo(done.change)
    assert (folder / "Garden.md").read_bytes() == before


def test_a_deleted_note_is_brought_back_also_when_its_name_is_taken(vault, folder):
    """Under its own name or another, byte for byte; a note that is there now is replaced only when that is said."""
    before = (folder / "Garden.md").read_bytes()
    gone = knowledge_delete(vault, KnowledgeDeleteRequest(note="Garden")).change
    (folder / "Garden.md").write_text("another\n")
    with pytest.raises(NoteExists, match=r"Garden\.md"):
        knowledge_restore(vault, KnowledgeRestoreRequest(change=gone))
    assert knowledge_restore(vault, KnowledgeRestoreRequest(change=gone, to="old/Garden", dry_run=True)).diffs
    assert not (folder / "old").exists()
    back = knowledge_restore(vault, KnowledgeRestoreRequest(change=gone, note="Garden", to="old/Garden"))
    assert (back.path, (folder / "old/Garden.md").read_bytes()) == ("old/Garden.md", before)
    replaced = knowledge_restore(vault, KnowledgeRestoreRequest(change=gone, replace=True))
    assert (folder / "Garden.md").read_bytes() == before
    vault.undo(replaced.change)
    assert (folder / "Garden.md").read_text() == "another\n"


def test_a_note_made_in_the_same_moment_is_not_replaced(vault, folder, monkeypatch):
    """Whether the place is free is told by the bytes that the plan was made for, not by an earlier look."""
    gone = knowledge_delete(vault, KnowledgeDeleteRequest(note="Garden")).change
    plan_restore = Changes.plan_restore

    def late(*given):
        (folder / "Garden.md").write_text("another\n")
        return plan_restore(*given)

    monkeypatch.setattr(Changes, "plan_restore", late)
    with pytest.raises(NoteExists):
        knowledge_restore(vault, KnowledgeRestoreRequest(change=gone))
    assert (folder / "Garden.md").read_text() == "another\n"


def test_what_a_change_does_not_have_is_not_brought_back(vault):
    """A note it did not touch, one of several without a name, a path out of the vault: each refused by name."""
    gone = knowledge_delete(vault, KnowledgeDeleteRequest(note="Garden")).change
    moved = knowledge_rename(vault, KnowledgeRenameRequest(note="Boiler", new="Pump")).change
    for change, note, to, error in (
        (gone, "index", None, NoteNotFound),
        (moved, None, None, UsageError),
        (gone, None, "../out", PathRefused),
        ("20000101-000000", None, None, RunNotFound),
    ):
        with pytest.raises(error):
            knowledge_restore(vault, KnowledgeRestoreRequest(change=change, note=note, to=to))


def test_the_views_of_the_graph(vault):
    """Backlinks with their line, forward links, neighbours, paths, orphans, dead ends, dangling, hubs, numbers."""

    def view(name: str, **more):
        return knowledge_graph(vault, KnowledgeGraphRequest(view=name, **more))

    back = view("backlinks", note="Boiler").notes
    assert [(link.path, link.line) for link in back] == [("Garden.md", 3), ("index.md", 3)]
    assert "the [[Boiler]] warms it" in back[0].context
    assert [note.path for note in view("links", note="index").notes] == ["house/Heat pump.md", "Garden.md", "nowhere"]
    assert {note.path: note.distance for note in view("neighbours", note="Garden", hops=1).notes} == {
        "house/Heat pump.md": 1,
        "index.md": 1,
    }
    assert [note.path for note in view("path", note="Garden", to="index").notes] == ["Garden.md", "index.md"]
    assert [note.path for note in view("orphans").notes] == ["alone.md", "heat-pump!.md"]
    assert [note.path for note in view("dead_ends").notes] == ["house/Heat pump.md"]
    assert view("dangling").dangling[0].sources == ("index.md",)
    assert view("hubs").notes[0].path == "house/Heat pump.md"
    assert view("communities").communities[0] == ("Garden.md", "house/Heat pump.md", "index.md")
    assert view("statistics").numbers.notes == 5
    around = view("map", note="Garden")
    assert (around.notes[0].path, around.notes[0].distance) == ("Garden.md", 0)
    named = {frozenset(around.notes[place].path for place in pair) for pair in around.joined}
    assert frozenset(("Garden.md", "index.md")) in named
    assert len(named) == len(around.joined)
    assert view("map", limit=1).joined == ()
    assert view("map").notes[0].path == "house/Heat pump.md"
    with pytest.raises(UsageError):
        view("backlinks")


def test_lint_finds_what_is_not_well(vault):
    """Broken links, orphans, twins, empty notes and contradictions, each with where it stands."""
    found = knowledge_lint(vault, VaultLintRequest())
    assert found.counts == {"dangling": 1, "orphans": 2, "twins": 1, "empty": 1, "contradictions": 1}
    assert found.twins == (("heat-pump!.md", "house/Heat pump.md"),)
    (pair,) = found.contradictions
    assert {pair.newer.path, pair.older.path} == {"alone.md", "house/Heat pump.md"}
    assert not knowledge_lint(vault, VaultLintRequest(contradictions=False)).contradictions


def test_suggest_names_notes_with_why_and_where(vault):
    """Spec 4: content and limit 5; the note that is mentioned comes first, with the line it is named on."""
    assert KnowledgeSuggestRequest(content="x").limit == 5
    found = knowledge_suggest(
        vault, KnowledgeSuggestRequest(content="Plans for spring.\n\nThe boiler needs care, tomatoes too.", limit=2)
    )
    assert found.notes[0] == "house/Heat pump.md"
    first = found.suggestions[0]
    assert (first.link, first.mention, first.line) == ("[[Heat pump]]", "boiler", 3)
    assert "Garden.md" in found.notes


def test_a_name_that_is_a_common_word_is_hardly_meant(tmp_path):
    """Of two names in a text, the one that the vault makes a link wherever it stands comes before one it never links."""
    root = tmp_path / "v"
    root.mkdir()
    (root / "Time.md").write_text("# Time\n\nTime and time again.\n")
    (root / "Pump.md").write_text("# Pump\n\nIt stands in the cellar of the old house and makes heat.\n")
    for n in range(6):
        (root / f"day {n}.md").write_text(f"# Day {n}\n\nThere was time for {n} walks.\n")
    (root / "plan.md").write_text("# Plan\n\nThe [[Pump]] needs oil.\n")
    with infold.open(root, state=tmp_path / "s") as vault:
        found = knowledge_suggest(
            vault, KnowledgeSuggestRequest(content="This time, and time again, the pump is loud.")
        )
    assert found.notes.index("Pump.md") < found.notes.index("Time.md")


def test_nothing_is_said_of_an_empty_vault(tmp_path):
    """No note, no fault."""
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "a.md").write_text("")
    with infold.open(tmp_path / "v", state=tmp_path / "s", changes=["search.embedding=none"]) as vault:
        assert knowledge_graph(vault, KnowledgeGraphRequest()).numbers.notes == 1
        assert knowledge_suggest(vault, KnowledgeSuggestRequest(content="words")).notes == ()
    assert Nothing().as_json() == {}

"""Memory nodes in the search index (spec 2, Vector Database), in a real index in a temporary folder."""

from __future__ import annotations

import json
import shutil

import pytest

from infold.catalogue.embeddings import EmbeddingStore
from infold.docmem import maintenance, outbox
from infold.docmem.chats import import_transcript
from infold.docmem.memory import open_docmem
from infold.docmem.node import Context, expected_hashes
from infold.docmem.place import child_of
from infold.docmem.points import MemoryTexts, node_id_of, path_of
from infold.docmem.tags import names_of, tags_in
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.index.contract import Filter, PointGroup
from infold.search.index.sync import sync_index
from infold.search.query.searcher import Searcher
from tests.docmem.conftest import MEMORY, ROOT, SUMMARY, index_memory, is_indexed

ONLY = Filter(groups=(PointGroup.MEMORY,))


def hits(space, embedder, text, where=ONLY):
    """The ids of the nodes that a search finds."""
    with Searcher(space.index, space.params.search, embedder) as searcher:
        return [node_id_of(hit) for hit in searcher.hybrid(text, 10, where)]


def held(space, where=ONLY):
    with Searcher(space.index, space.params.search, NO_EMBEDDER) as searcher:
        return searcher.count(where)


@pytest.fixture
def garden(space, shared):
    """A tree with a user, three memories, and the index in step with it."""
    memory = shared
    memory.create_root("The kitchen garden", ROOT, root_id="garden")
    user = memory.append("garden", "", Context("user", "name", "Anna"))
    for text in ("The bed by the wall gets sun until noon.", "Snails ate the lettuce.", "Rain fills the barrel."):
        memory.append(user.id, text, MEMORY)
    return memory


def test_what_is_written_is_found_by_words_and_by_meaning(space, garden, embedder):
    """Embedding Requirements: all nodes, memories and summaries, are embedded and stored; nothing waits after."""
    done = index_memory(garden, space, embedder)
    assert (done.sent, done.pending) == (5, 0)
    assert held(space) == 5
    snails = next(node for node, _ in garden.subtree("garden") if "Snails" in node.text)
    assert hits(space, embedder, "lettuce")[0] == snails.id
    with Searcher(space.index, space.params.search, embedder) as searcher:
        assert node_id_of(searcher.dense("slugs ate the salad", 3, ONLY)[0]) == snails.id
    assert is_indexed(garden, space)
    assert index_memory(garden, space, embedder).sent == 0


def test_a_hit_says_where_it_is_from(space, garden, embedder):
    """Query Pattern: a hit has its tree as path, its parent's id, the words above it, and where it is from."""
    outside = garden.create_root("Crawled", ROOT, root_id="web")
    garden.mark(outside.id, "trust", "external")
    garden.append("web", "Copper tape keeps snails away.", MEMORY)
    index_memory(garden, space, embedder)
    with Searcher(space.index, space.params.search, embedder) as searcher:
        found = {hit.path: hit for hit in searcher.keyword("snails", 5, ONLY)}
        own, other = found[path_of("garden")], found[path_of("web")]
        texts = MemoryTexts(garden)
        assert texts.stretch(own).text == "Snails ate the lettuce."
        assert texts.stretch(own).heading == str(garden.get(node_id_of(own)))
    assert (own.title, own.trail, own.trust, own.level) == ("The kitchen garden", ("Anna",), "memory", "node")
    assert own.parent == garden.get(node_id_of(own)).parent_id
    assert other.trust == "external"


def test_deleted_moved_and_changed(space, garden, embedder):
    """Delete: embeddings are removed for deleted nodes. Update Content: the new text is found, the old is not."""
    index_memory(garden, space, embedder)
    nodes = {node.text: node for node, _ in garden.subtree("garden")}
    snails = nodes["Snails ate the lettuce."]
    garden.update_content(snails.id, "Frost took the beans.", snails.hash)
    garden.delete(nodes["Rain fills the barrel."].id)
    done = index_memory(garden, space, embedder)
    assert (done.sent, done.removed, held(space)) == (1, 1, 4)
    assert hits(space, embedder, "beans") == [snails.id]
    assert hits(space, embedder, "barrel") == []


def test_a_summary_made_again_has_another_vector(space, garden, embedder):
    """Embedding Requirements: when a summary is regenerated its embedding is updated; children know their parent."""
    user = garden.children("garden")[0]
    summary = garden.summarise(expected_hashes(garden.children(user.id)), "Light and water.", SUMMARY)
    index_memory(garden, space, embedder)
    assert held(space, Filter(groups=(PointGroup.MEMORY,), levels=("summary",))) == 1
    garden.update_content(summary.id, "A greenhouse of glass.", summary.hash)
    index_memory(garden, space, embedder)
    assert hits(space, embedder, "greenhouse")[0] == summary.id
    assert summary.id not in hits(space, embedder, "Light")
    with Searcher(space.index, space.params.search, embedder) as searcher:
        assert {hit.parent for hit in searcher.keyword("snails", 5, ONLY)} == {summary.id}


@pytest.mark.usefixtures("costly")
def test_no_vector_is_computed_twice(space, garden, embedder):
    """Embedding Requirements: a vector belongs to a text; copies, moves and a new index compute none."""
    first = index_memory(garden, space, embedder)
    kept = EmbeddingStore(space.embeddings).count()
    garden.copy(garden.children("garden")[0].id, child_of("garden"))
    assert index_memory(garden, space, embedder).computed == 0
    sync_index(space.vault, space.index, space.embeddings, space.params, embedder, rebuild=True)
    again = index_memory(garden, space, embedder)
    assert (again.anew, again.sent, again.computed) == (True, 9, 0)  # a user without text has no vector
    assert (first.computed, kept) == (4, 4)
    assert EmbeddingStore(space.embeddings).count() == 5  # and that of the note, which the new index was made of


def test_a_restored_store_leaves_nothing_of_the_other_behind(space, garden, embedder, tmp_path):
    """Persistence: after a restore the index has what the backup had; trees made since are not found."""
    maintenance.backup(garden.store, tmp_path / "backup.sqlite")
    garden.create_root("Submarines", ROOT, root_id="sea")
    index_memory(garden, space, embedder)
    maintenance.restore(garden.store, tmp_path / "backup.sqlite")
    assert not is_indexed(garden, space)
    index_memory(garden, space, embedder)
    assert hits(space, embedder, "Submarines") == []
    assert held(space) == 5


def test_notes_and_memory_share_an_index(space, garden, embedder):
    """Vector Database: a sync of the notes keeps memory nodes, finds no passage too many and makes nothing anew."""
    index_memory(garden, space, embedder)
    (space.vault / "new.md").write_text("# New\n\nA note about gravel.\n")
    done = sync_index(space.vault, space.index, space.embeddings, space.params, embedder)
    assert (done.files_changed, done.rebuilt) == (1, False)
    assert held(space) == 5
    assert is_indexed(garden, space)


def test_words_now_and_vectors_with_the_next_sync(space, garden, embedder):
    """Embedding Requirements: without vectors nodes are found by their words; the next sync of the notes embeds them."""
    done = index_memory(garden, space, embedder, vectors=False)
    assert (done.computed, done.pending) == (0, 4)
    assert len(hits(space, embedder, "lettuce")) == 1
    index_memory(garden, space, embedder)
    with Searcher(space.index, space.params.search, embedder) as searcher:
        assert searcher.pending_vectors == 0
        assert len(searcher.dense("salad", 9, ONLY)) == 4


@pytest.mark.usefixtures("costly")
def test_words_above_a_node_follow_their_change(space, garden, embedder):
    """Query Pattern: a node is found by the words of what it stands under, also when these change later."""
    index_memory(garden, space, embedder)
    root = garden.get("garden")
    garden.update_content(root.id, "The allotment", root.hash)
    done = index_memory(garden, space, embedder)
    assert done.sent == 5
    assert done.computed == 1
    assert len(hits(space, embedder, "allotment")) == 5


def test_interrupted_between_index_and_outbox(space, garden, embedder, monkeypatch):
    """Persistence: ended after the index was written and before that was noted, the next time does it again."""
    monkeypatch.setattr(outbox, "done", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        index_memory(garden, space, embedder)
    monkeypatch.undo()
    assert not is_indexed(garden, space)
    assert index_memory(garden, space, embedder).sent == 5
    assert held(space) == 5


def test_a_session_is_not_found_twice(space, shared, embedder):
    """Bridges: of a tree that shows a transcript only what the transcript has not is indexed; when it is gone, all."""
    file = space.sessions / "talk.jsonl"
    file.parent.mkdir(parents=True)
    turns = [{"role": "user", "content": "Where is the gravel?"}, {"role": "assistant", "content": "In the shed."}]
    file.write_text("\n".join(json.dumps(turn) for turn in turns))
    tree = import_transcript(shared, space, file)
    messages = shared.children(tree.root.id)
    shared.summarise(expected_hashes(messages), "Gravel lies in the shed.", SUMMARY)
    index_memory(shared, space, embedder)
    assert held(space) == 1
    shutil.rmtree(file.parent)
    with shared.store.writing() as rows:
        outbox.everything_stale(rows)
    index_memory(shared, space, embedder)
    assert held(space) == 4


@pytest.mark.parametrize(
    "text, tags",
    [
        ("Ask @Anna and @work/urgent, then @Anna.", ("anna", "work/urgent")),
        ("mail me@example.org", ()),
        ("(@x-ray) @v1.2 @1st @", ("x-ray", "v1.2")),
        ("@árvore、@東京", ("árvore", "東京")),
    ],
)
def test_tags_are_read_from_content(text, tags):
    """Linking: relationships are carried in content by @ tags; an address of mail is none."""
    assert tags_in(text) == tags


def test_what_a_node_may_be_called(tmp_path):
    """Linking: a tree by its id, a node by its context's value; line numbers name nothing."""
    memory = open_docmem(tmp_path / "names.sqlite")
    root = memory.create_root("", ROOT, root_id="Garden")
    assert names_of(root) == ("garden",)
    assert names_of(memory.append("Garden", "", Context("user", "name", "Anna Berg"))) == ("anna-berg",)
    assert names_of(memory.append("Garden", "", Context("memory", "paragraph", "L3-14"))) == ()
    memory.close()

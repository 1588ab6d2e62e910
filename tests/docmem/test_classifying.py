"""Ingest classification for incoming threads and documents (spec 2, Additional Features)."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from infold.docmem.classifying import propose, request_for
from infold.docmem.import_routing import Document, import_document, read_document
from infold.docmem.node import Context
from infold.environment import Environment
from infold.errors import ImportRefused
from infold.librarian.decisions import DecisionStore
from infold.librarian.model import ModelLibrarian
from infold.librarian.offline import OfflineLibrarian
from infold.librarian.trees import Home, HomeRequest, PartCard, TreeCard
from infold.search.query.searcher import Searcher
from infold.settings import EditingParams, LibrarianParams
from tests.docmem.conftest import MEMORY, ROOT, index_memory
from tests.fakes.openai_server import answer, serving

SNAILS = "The snails came back to the lettuce last night. Copper tape round the bed keeps slugs away for a while."
TAXES = "The revenue office wants the return by Friday; the depreciation of the van is still missing."
CARD = TreeCard("garden", "The garden", "beds, snails", (PartCard("p1", "Lettuce", "salad"),))


@pytest.fixture
def trees(space, shared, embedder):
    """A garden with two parts, and a boat; indexed."""
    shared.create_root("The kitchen garden", ROOT, root_id="garden")
    beds = shared.append("garden", "", Context("user", "subject", "Beds"))
    people = shared.append("garden", "", Context("user", "subject", "Neighbours"))
    for text in (
        "Snails ate the lettuce by the wall.",
        "Slugs hide under the boards of the bed.",
        "Copper tape helped.",
    ):
        shared.append(beds.id, text, MEMORY)
    shared.append(people.id, "Mr Holm complains about smoke.", MEMORY)
    shared.create_root("The boat", ROOT, root_id="boat")
    for text in ("The mast is stepped in April.", "Antifouling goes on before launch.", "The mooring chain is worn."):
        shared.append("boat", text, MEMORY)
    index_memory(shared, space, embedder)
    with Searcher(space.index, space.params.search, embedder) as searcher:
        yield shared, searcher, {"beds": beds, "people": people}


async def test_by_evidence_without_a_model(trees):
    """Ingest classification: which tree and user node a document belongs in, with a score and a reason; or none."""
    memory, searcher, nodes = trees
    offline = OfflineLibrarian()
    found = await propose(memory, offline, searcher, "snails.txt", SNAILS)
    assert found.target.id == nodes["beds"].id
    assert found.home.score > 0.5
    assert "snails" in found.home.reason
    boat = await propose(memory, offline, searcher, "boat.txt", "The mooring chain must be replaced before launch.")
    assert boat.target.id == "boat"
    taxes = await propose(memory, offline, searcher, "taxes.txt", TAXES)
    assert taxes.target is None
    assert taxes.home.is_none


async def test_by_a_model_that_is_corrected(trees, tmp_path):
    """Ingest classification: a tree that does not exist fails validation, and the model is told; paid once."""
    memory, searcher, _ = trees
    with serving() as server:
        server.script("Home", answer({"tree": "attic", "part": "", "score": 0.9, "reason": "It is up there."}))
        librarian = ModelLibrarian(
            LibrarianParams(kind="model", model="fake"),
            EditingParams(),
            Environment(OPENAI_BASE_URL=server.url, OPENAI_API_KEY="sk-x"),
            DecisionStore(tmp_path / "decisions"),
            2,
        )
        found = await propose(memory, librarian, searcher, "snails.txt", SNAILS)
        again = await propose(memory, librarian, searcher, "snails.txt", SNAILS)
        await librarian.close()
        assert found == again
        assert found.target.id == "garden"
        assert server.counts["Home"] == 2
        assert "there is no tree 'attic'" in str(server.asked[-1].messages)
        assert "<<<document" in str(server.asked[0].messages)


@pytest.mark.parametrize(
    "given",
    [
        {"tree": "attic", "score": 1, "reason": "x"},
        {"tree": "garden", "part": "p2", "score": 1, "reason": "x"},
        {"tree": "none", "part": "p1", "score": 1, "reason": "x"},
        {"tree": "garden", "score": 1.1, "reason": "x"},
        {"tree": "garden", "score": 1, "reason": ""},
    ],
)
def test_answers_that_fail(given):
    """Ingest classification: only trees and parts that were shown can be named, with a score and a reason."""
    request = HomeRequest("a.txt", "text", (CARD,))
    with pytest.raises(ValidationError):
        Home.model_validate(given, context={"request": request})


def test_views_of_sessions_are_no_homes(trees):
    """Bridges: a tree that shows a session is none to put a document into."""
    memory, searcher, _ = trees
    memory.mark("boat", "session", "sessions/boat.jsonl")
    assert [card.id for card in request_for(memory, searcher, "a.txt", SNAILS).trees] == ["garden"]


def test_imported_where_it_was_proposed(trees, space, tmp_path):
    """Import: documents and threads go below the node that was proposed, readonly; or become trees of their own."""
    memory, _, nodes = trees
    file = tmp_path / "snails.md"
    file.write_text(f"# Snails\n\n{SNAILS}\n")
    node = import_document(memory, space, read_document(file), nodes["beds"])
    assert (node.parent_id, node.readonly) == (nodes["beds"].id, 1)
    assert import_document(memory, space, read_document(file), nodes["beds"]) == node
    assert memory.get_root(import_document(memory, space, Document("stdin", SNAILS), None).id).parent_id is None
    thread = tmp_path / "talk.jsonl"
    thread.write_text(json.dumps({"role": "user", "content": "Where do the snails hide?"}))
    below = import_document(memory, space, read_document(thread), nodes["beds"])
    assert [(message.text, str(message.context)) for message in memory.children(below.id)] == [
        ("Where do the snails hide?", "message:role:user")
    ]
    alone = import_document(memory, space, read_document(thread), None)
    assert memory.marks_of(alone.id)["session"].startswith("sessions/")


def test_what_cannot_be_read(tmp_path):
    """Import: a document that is not there, is no text or says nothing is refused by name."""
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe\x00")
    for name in ("empty.md", "bytes.md", "absent.md"):
        with pytest.raises(ImportRefused, match=name):
            read_document(tmp_path / name)

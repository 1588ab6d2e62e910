"""A store of memory trees, and a small tree in it."""

from __future__ import annotations

import shutil
from typing import NamedTuple

import pytest

from infold.docmem.feed import memory_feed
from infold.docmem.memory import Docmem, open_docmem
from infold.docmem.node import Context
from infold.librarian.offline import OfflineLibrarian
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.generations import Generations
from infold.search.index.sync import sync_index
from infold.settings import Params
from infold.workspace import Workspace

ROOT = Context("root", "purpose", "document")
MEMORY = Context("memory", "source", "walk")
SUMMARY = Context("summary", "by", "hand")


class Indexed(NamedTuple):
    """What a sync of memory did."""

    sent: int
    removed: int
    computed: int
    pending: int
    anew: bool


def index_memory(memory, space, embedder, *, vectors=True) -> Indexed:
    """Brings the index up to date with the trees, and with nothing else."""
    feed = memory_feed(memory, space)
    before = feed.heard()
    done = sync_index(
        space.vault, space.index, space.embeddings, space.params, embedder, feeds=(feed,), vectors=vectors
    )
    return Indexed(
        done.chunks_created, done.files_removed, done.embeddings_computed, done.pending, before != feed.heard()
    )


def is_indexed(memory, space) -> bool:
    """Whether the index in use has heard of every node."""
    feed = memory_feed(memory, space)
    return feed.heard() == Generations(space.index).current() and not feed.waiting()


@pytest.fixture
def memory(tmp_path):
    opened = open_docmem(tmp_path / "docmem.sqlite")
    yield opened
    opened.close()


@pytest.fixture
async def offline():
    librarian = OfflineLibrarian()
    yield librarian
    await librarian.close()


@pytest.fixture
def tree(memory):
    """A tree by the texts of its nodes: root (a (a1 a2) b c (c1 (c11)))."""
    nodes = {"root": memory.create_root("", ROOT, root_id="garden")}
    for name, parent in (
        ("a", "root"),
        ("b", "root"),
        ("c", "root"),
        ("a1", "a"),
        ("a2", "a"),
        ("c1", "c"),
        ("c11", "c1"),
    ):
        nodes[name] = memory.append(nodes[parent].id, name, MEMORY)
    return nodes


@pytest.fixture(scope="session")
def embedder():
    """One static model for all tests: loading it takes a sixth of a second."""
    return StaticEmbedder()


@pytest.fixture(scope="session")
def indexed(tmp_path_factory, embedder):
    """A folder with a vault of one note and its index, to be copied: making one waits for the disk many times."""
    folder = tmp_path_factory.mktemp("indexed")
    place = _at(folder)
    place.vault.mkdir()
    (place.vault / "index.md").write_text("# Home\n\nA note about bread.\n")
    sync_index(place.vault, place.index, place.embeddings, place.params, embedder)
    return folder


def _at(folder) -> Workspace:
    return Workspace(folder / "vault", folder / "state", folder / "vault" / "inbox.md", Params())


@pytest.fixture
def space(tmp_path, indexed, monkeypatch):
    """A vault of one note with its index."""
    monkeypatch.delenv("INFOLD_SESSIONS", raising=False)
    shutil.copytree(indexed, tmp_path, dirs_exist_ok=True)
    return _at(tmp_path)


@pytest.fixture
def shared(space):
    """The memory trees of that place."""
    opened = open_docmem(space.docmem)
    yield opened
    opened.close()


@pytest.fixture
def texts(memory):
    """The texts of the children of a node."""
    return lambda node_id: [node.text for node in memory.children(node_id)]


@pytest.fixture
def writer_connection(memory) -> object:
    """The connection itself, to look at tables or to break them."""
    with memory.store.alone() as connection:
        return connection


def fresh(memory: Docmem, node_id: str) -> str:
    """The present hash of a node."""
    return memory.get(node_id).hash


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    """An empty vault, without an index; its trees are those of `memory`."""
    monkeypatch.delenv("INFOLD_SESSIONS", raising=False)
    (tmp_path / "vault").mkdir()
    params = Params.model_validate({"search": {"embedding": "none"}})
    return Workspace(tmp_path / "vault", tmp_path / "state", tmp_path / "vault" / "inbox.md", params)

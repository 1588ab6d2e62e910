"""The steps in this process: what happens when a part of the way there fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infold.app import open_steps
from infold.errors import EndpointFault, KeyRejected
from infold.inbox.steps import DirectSteps
from infold.search.embed.embedder import EmbedderTraits
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.settings import Params
from infold.workspace import Workspace
from tests.fakes.scripted import ScriptedLibrarian

NOTE = "# Bread\n\nRye is done at ninety-eight degrees, and cools for a day.\n"


class BrokenService:
    """Embeddings that cannot be had."""

    name = "broken"
    size = 8
    traits = EmbedderTraits()

    def __init__(self, error: Exception) -> None:
        self.error = error

    def embed(self, texts):
        """Always fails."""
        raise self.error

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A vault of one note."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "bread.md").write_text(NOTE)
    params = Params.model_validate({"search": {"embedding": "none"}})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


def steps_of(workspace: Workspace, embedder=NO_EMBEDDER) -> DirectSteps:
    return DirectSteps(workspace, ScriptedLibrarian(look=dict, edit=dict), embedder=embedder)


async def test_a_damaged_index_is_made_anew_when_it_is_opened(workspace):
    """Damage of a derived file is no fault that a person has to mend."""
    await steps_of(workspace).prepare()
    for file in sorted(workspace.index.rglob("*")):
        if file.is_file() and file.stat().st_size and "lock" not in file.name and file.suffix != ".sqlite":
            file.write_bytes(b"damaged")
    steps = steps_of(workspace)
    assert steps.searcher.candidates("rye bread", 3) == ["bread.md"]
    steps.close()


async def test_an_embedding_service_that_is_down_leaves_the_keywords(workspace):
    """The run goes on with keyword search, and says so."""
    steps = steps_of(workspace, BrokenService(EndpointFault("The service answered 503.")))
    prepared = await steps.prepare()
    assert any("keywords alone" in warning for warning in prepared.warnings)
    assert [hit.path for hit in steps.searcher.keyword("rye", 3)] == ["bread.md"]
    steps.close()


async def test_an_embedding_key_that_is_refused_ends_the_run(workspace):
    """What the person has to set right is not passed over in silence."""
    with pytest.raises(KeyRejected):
        await steps_of(workspace, BrokenService(KeyRejected("The key was refused."))).prepare()


async def test_without_a_root_note_the_person_is_told_how_to_set_it(workspace):
    """Root note missing: search candidates carry on, with a warning that names the setting."""
    prepared = await steps_of(workspace).prepare()
    assert prepared.snapshot.root is None
    assert any("vault.root_file" in warning for warning in prepared.warnings)


async def test_a_root_is_found_as_init_would(workspace):
    """Where one note leads to the others it is taken as the root, and the person is told."""
    (workspace.vault / "garden.md").write_text("[[bread]]\n")
    prepared = await steps_of(workspace).prepare()
    assert prepared.snapshot.root == "garden.md"
    assert any("garden.md is taken" in warning for warning in prepared.warnings)


async def test_an_index_made_anew_by_a_run_keeps_the_sessions(workspace):
    """Whoever opens the steps says what is searched; a rebuild on the way to a run then loses no transcript."""
    workspace.sessions.mkdir(parents=True)
    said = {"role": "user", "content": "The sourdough likes warmth.", "timestamp": "2026-02-24T10:00:00Z"}
    (workspace.sessions / "2026-02-24.jsonl").write_text(json.dumps(said) + "\n")
    async with open_steps(workspace) as steps:
        steps.sync_index(rebuild=True)
        found = {hit.path for hit in steps.searcher.keyword("sourdough warmth rye", 5)}
    assert found == {"bread.md", "sessions/2026-02-24.jsonl"}

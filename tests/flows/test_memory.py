"""The flow of memory trees: indexed and summarised by the hour, under a cap."""

from __future__ import annotations

import logging
from contextlib import closing

import pytest

from infold.docmem.memory import open_docmem
from infold.docmem.node import Context
from infold.settings import Params
from infold.workspace import Workspace
from tests.docmem.conftest import is_indexed
from tests.fakes.openai_server import serving

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]

FEW = {"summarise_after": 4, "summarise_run": 2, "keep_recent": 2}
LONG = "the gardener wrote down what the light did on the wall, when the snails came and how the barrel filled. " * 4


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    """A vault with one note."""
    monkeypatch.delenv("INFOLD_SESSIONS", raising=False)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "index.md").write_text("# Index\n\nOne note.\n")
    params = Params.model_validate({"search": {"embedding": "none"}, "docmem": FEW})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


@pytest.fixture
def log(workspace) -> None:
    """A tree of six memories in the store of the vault, which nobody has open."""
    with closing(open_docmem(workspace.docmem)) as memory:
        memory.create_root("A log", Context("root", "purpose", "log"), root_id="log")
        for number in range(6):
            memory.append("log", f"On walk {number} {LONG}", Context("memory", "source", "walk"))


async def test_nothing_to_do_without_trees(prefect_api, workspace):
    """No store is made where there is none, and no index."""
    from flows.memory import memory as flow

    assert await flow(workspace.vault, workspace.state, workspace.params) == "There are no memory trees."
    assert not workspace.state.exists()


async def test_indexed_and_summarised_once(prefect_api, workspace, log, caplog):
    """What changed is in the index, summaries too, with an index made where there was none; twice is once; it is said."""
    from flows.memory import memory as flow

    with caplog.at_level(logging.INFO):
        said = await flow(workspace.vault, workspace.state, workspace.params)
    # The root and six memories; then two summaries, and the four memories that stand elsewhere by now.
    assert said == "13 nodes sent to the index, 0 taken away; 2 summaries made, 0 renewed."
    assert said in caplog.text
    with closing(open_docmem(workspace.docmem)) as memory:
        assert [node.is_summary for node in memory.children("log")] == [True, True, False, False]
        assert is_indexed(memory, workspace)
    again = await flow(workspace.vault, workspace.state, workspace.params)
    assert again == "0 nodes sent to the index, 0 taken away; 0 summaries made, 0 renewed."


async def test_a_model_summarises_under_the_cap(prefect_api, workspace, log, monkeypatch):
    """One cap for all trees; what it does not reach is named and left to the next time."""
    from flows.memory import memory as flow

    with open_docmem(workspace.docmem) as memory:
        for number in range(6, 8):
            memory.append("log", f"On walk {number} {LONG}", Context("memory", "source", "walk"))
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        model = {"kind": "model", "model": "fake", "max_answer_tokens": 300}
        params = {"search": {"embedding": "none"}, "docmem": FEW, "librarian": {**model, "max_tokens": 1200}}
        poor = await flow(workspace.vault, workspace.state, Params.model_validate(params))
        assert "1 summaries made, 0 renewed, 2 left to the next time, the first at " in poor
        assert server.counts["Summary"] == 1
        params["librarian"] = model
        done = await flow(workspace.vault, workspace.state, Params.model_validate(params))
        assert "2 summaries made" in done
        assert server.counts["Summary"] == 3

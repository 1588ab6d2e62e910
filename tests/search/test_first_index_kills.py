"""A first index of many notes, with its worker processes, that is killed: the next goes on, and nothing is lost."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import infold
from tests.search.first_index import begun, catalogue_of, held, write_notes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def index(vault: Path, state: Path, *victim: str) -> int:
    """Runs the command, killed where it is said."""
    return begun(vault, state, *victim).wait(120)


@pytest.fixture(scope="module")
def vault(tmp_path_factory) -> Path:
    """Notes enough for workers."""
    return write_notes(tmp_path_factory.mktemp("many") / "vault")


@pytest.fixture(scope="module")
def unkilled(vault, tmp_path_factory) -> dict[str, object]:
    """What an index holds that one process made in one go."""
    state = tmp_path_factory.mktemp("many") / "state"
    with pytest.MonkeyPatch.context() as patch, infold.open(vault, state=state) as opened:
        patch.setattr(os, "cpu_count", lambda: 1)
        opened.sync()
    return held(state)


def answers(vault: Path, state: Path) -> list[str]:
    """The notes that a search finds, of what is there."""
    with infold.open(vault, state=state) as opened:
        found = opened.search("levain", limit=20, sync=False)
    return [hit.path for hits in found.groups.values() for hit in hits]


def same(found: Mapping[str, object], expected: Mapping[str, object]) -> None:
    """Part by part, so that a failure names the part."""
    assert [part for part in found if found[part] != expected[part]] == []


@pytest.mark.parametrize("victim, call", [("EdgeIndex.put", "2"), ("SummaryStore.append", "1")])
def test_a_first_index_that_is_killed_is_gone_on_with(vault, unkilled, tmp_path, victim, call):
    """Killed while vectors are written, or summaries: a search answers, and the next index is as if it was not."""
    state = tmp_path / "state"
    assert index(vault, state, victim, call) == -signal.SIGKILL
    assert answers(vault, state)
    assert index(vault, state) == 0
    same(held(state), unkilled)


def test_an_index_killed_again_and_again_loses_nothing_that_was_written(vault, unkilled, tmp_path):
    """Each begins where the last was killed, by workers that open the catalogue beside the process that wrote it."""
    state = tmp_path / "state"
    assert index(vault, state, "CatalogueSync._write", "1") == -signal.SIGKILL
    assert len(catalogue_of(state)["files"]) == 200
    assert index(vault, state, "WordWriter.commit", "1") == -signal.SIGKILL
    assert answers(vault, state)
    assert index(vault, state, "NoteVectors.replace", "2") == -signal.SIGKILL
    assert answers(vault, state)
    same(catalogue_of(state), unkilled)
    assert index(vault, state) == 0
    same(held(state), unkilled)

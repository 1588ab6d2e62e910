"""How often an integration looks at a note: the files, the bytes and the parser are counted."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import infold
from infold.vault import note

DEMO = Path(__file__).parents[2] / "data" / "vault"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEMO, tmp_path / "vault"))


@pytest.fixture
def reads(monkeypatch) -> Counter[str]:
    """How often each note is opened."""
    counts: Counter[str] = Counter()
    real = os.open

    def counted(path, *rest, **more):
        if str(path).endswith(".md"):
            counts[str(path)] += 1
        return real(path, *rest, **more)

    monkeypatch.setattr("os.open", counted)
    return counts


@pytest.fixture
def parses(monkeypatch) -> Callable[[], Counter[str]]:
    """How often each note has been parsed, whoever asked."""
    counts: Counter[str] = Counter()
    real = note.parse

    def counted(path, text, **more):
        counts[path] += 1
        return real(path, text, **more)

    with_parser = [module for module in list(sys.modules.values()) if getattr(module, "parse", None) is real]
    for module in with_parser:
        monkeypatch.setattr(module, "parse", counted)
    return lambda: counts


def walks_of(monkeypatch, vault: Path) -> list[str]:
    """Fills with the listings of the vault's own folder: one is a walk."""
    listed: list[str] = []
    real = os.scandir

    def counted(place="."):
        if os.path.samefile(place, vault):  # noqa: PTH121 - a folder may be named by its descriptor
            listed.append(str(place))
        return real(place)

    monkeypatch.setattr("os.scandir", counted)
    return listed


def test_an_integration_reads_and_parses_each_note_once(vault, tmp_path, reads, parses, monkeypatch):
    """Catalogue, summaries, index and evidence share one reading; a note that is edited is looked at once more."""
    with infold.open(vault, state=tmp_path / "state") as opened:
        opened.sync()  # so that every module is loaded whose parser is to be counted
    shutil.rmtree(tmp_path / "state")
    reads.clear()
    parses().clear()
    walks = walks_of(monkeypatch, vault)
    with infold.open(vault, state=tmp_path / "state") as opened:
        run = opened.integrate(dry_run=True)
    assert len(walks) == 1
    notes = {file.relative_to(vault).as_posix() for file in vault.rglob("*.md")} - {"inbox.md"}
    touched = {change.path for change in run.changes}
    assert len(notes) > 60
    assert touched
    assert {path: parses()[path] for path in notes - touched if parses()[path] != 1} == {}
    assert {parses()[path] for path in touched & notes} <= {1, 2}  # the report reads the text as it is to be
    counts = {path: reads[str(vault / path)] for path in notes}
    assert {path for path, count in counts.items() if count == 1} >= notes - touched - set(opened_notes(run))
    assert max(counts.values()) <= 2


def opened_notes(run) -> list[str]:
    """The notes that were opened to be edited."""
    return [path for chunk in run.chunks for path in chunk.checked_out]

"""Every command-line test runs in an empty folder with a state home of its own."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from infold.cli.app import app
from infold.inbox.run import ChunkRecord, EditRecord, NoteChange, ParagraphRecord, Run, RunStatus, SkippedFile
from infold.librarian.spend import Usage


@pytest.fixture(autouse=True)
def _in_an_empty_folder(nowhere) -> None:
    """All of them."""


@pytest.fixture
def infold():
    """Calls the command line in this process."""
    runner = CliRunner()
    return lambda *words: runner.invoke(app, [str(word) for word in words])


@pytest.fixture
def vault(tmp_path, monkeypatch):
    """An empty vault that the environment names."""
    folder = tmp_path / "vault"
    folder.mkdir()
    monkeypatch.setenv("INFOLD_VAULT", str(folder))
    monkeypatch.delenv("INFOLD_SESSIONS", raising=False)
    return folder


@pytest.fixture
def a_run() -> Run:
    """A run with one of everything: an edit, a duplicate, a paragraph in a chunk that stays, one in no chunk."""
    found = "Radiators are bled in October."
    return Run(
        id="20260102-030405-abcd",
        status=RunStatus.PARTIAL,
        vault="/vault",
        inbox="inbox.md",
        created_at="2026-01-02T03:04:05+00:00",
        librarian="offline/1",
        paragraphs=(
            ParagraphRecord(n=1, text="The pump hums.", outcome="integrated", chunk=1, file="house/boiler.md"),
            ParagraphRecord(n=2, text=found, outcome="duplicate", chunk=1, file="house/boiler.md", quote=found),
            ParagraphRecord(n=3, text="General average.", outcome="left", chunk=2, reason="nothing is near it"),
            ParagraphRecord(n=4, text="Lost.", outcome="left", reason="in no chunk"),
        ),
        chunks=(
            ChunkRecord(
                id=1,
                paragraphs=(1, 2),
                viewed=("index.md", "house/boiler.md"),
                checked_out=("house/boiler.md",),
                edits=(
                    EditRecord(
                        file="house/boiler.md",
                        kind="edit",
                        find="## Noises",
                        replace="## Noises\n\nThe pump hums.",
                        paragraphs=(1,),
                        applied=True,
                    ),
                    EditRecord(file="house/boiler.md", kind="duplicate", find=found, replace=None, paragraphs=(2,)),
                ),
            ),
            ChunkRecord(id=2, paragraphs=(3,), viewed=("index.md",), reason="nothing is near it"),
        ),
        changes=(
            NoteChange(path="house/boiler.md", before="a", after="b"),
            NoteChange(path="inbox.md", before="c", after="d"),
        ),
        skipped=(SkippedFile(path="old.md", reason="not UTF-8"),),
        warnings=("There is no root note index.md.",),
        usage=Usage(calls=3, prompt_tokens=12000, completion_tokens=800, usd=0.0123),
        seconds=1.25,
    )

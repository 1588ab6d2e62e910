"""A small vault about two subjects, opened, with all of it imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import infold
from infold.app import OpenVault

NOTES = {
    "garden/tomatoes.md": "---\ntags: [garden]\ndate: 2025-05-01\n---\n# Tomatoes\n\nTomatoes want sun and water.\n\n"
    "## Watering\n\nWater the tomato plants in the morning, at the roots.\n\nNever wet the leaves of a tomato plant.\n\n"
    "## Pests\n\nAphids sit below the leaves; see [[compost#Heat]].\n",
    "garden/compost.md": "---\ntags: [garden]\ndate: 2024-03-01\n---\n# Compost\n\nCompost feeds the garden soil.\n\n"
    "## Heat\n\nA hot heap of compost kills the seeds of weeds.\n",
    "work/release.md": "---\ntags: [work/infra]\ndate: 2026-01-10\n---\n# Release\n\nThe server is deployed by a script.\n\n"
    "## Rollback\n\nRoll the deployment of the server back with the script.\n",
    "work/database.md": "# Database\n\nThe database server keeps a log of every write. See [[release]].\n",
    "index.md": "# Home\n\n[[tomatoes]] and [[release]]\n",
}


def made(at: Path) -> Path:
    """The notes, written to a folder."""
    for path, text in NOTES.items():
        file = at / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return at


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenVault]:
    """For tests that change no note; each that needs a place of its own has a caller of its own."""
    place = tmp_path_factory.mktemp("asked")
    with infold.open(made(place / "vault"), state=place / "state", changes=["search.embedding=static"]) as opened:
        opened.import_notes(["."])
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path / "vault")


@pytest.fixture
def own(folder: Path, tmp_path: Path) -> Iterator[OpenVault]:
    """For tests that write; nothing is imported."""
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as opened:
        yield opened

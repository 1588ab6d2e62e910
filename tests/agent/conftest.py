"""A small vault about two subjects, opened, with all of it imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import infold
from infold.app import OpenVault
from tests.small_vaults import TWO_SUBJECTS, written


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenVault]:
    """For tests that change no note; each that needs a place of its own has a caller of its own."""
    place = tmp_path_factory.mktemp("asked")
    with infold.open(
        written(TWO_SUBJECTS, place / "vault"), state=place / "state", changes=["search.embedding=static"]
    ) as opened:
        opened.import_notes(["."])
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(TWO_SUBJECTS, tmp_path / "vault")


@pytest.fixture
def own(folder: Path, tmp_path: Path) -> Iterator[OpenVault]:
    """For tests that write; nothing is imported."""
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as opened:
        yield opened

"""A small vault about two subjects, opened, with its navigator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import infold
from infold.app import OpenVault
from tests.small_vaults import TWO_SUBJECTS, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(TWO_SUBJECTS, tmp_path / "vault")


@pytest.fixture
def vault(folder: Path, tmp_path: Path) -> Iterator[OpenVault]:
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as opened:
        yield opened


@pytest.fixture
def imported(vault: OpenVault) -> OpenVault:
    """The vault, all of it imported."""
    vault.import_notes(["."])
    return vault

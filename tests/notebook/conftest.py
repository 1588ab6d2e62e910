"""A vault, its state, and a clock."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from infold.settings import Params
from infold.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch) -> Workspace:
    """An empty vault."""
    monkeypatch.delenv("INFOLD_SESSIONS", raising=False)
    (tmp_path / "vault").mkdir()
    vault = tmp_path / "vault"
    params = Params.model_validate({"search": {"embedding": "none"}})
    return Workspace(vault, tmp_path / "state", vault / "inbox.md", params)


@pytest.fixture
def put(workspace):
    """Writes a file of the vault, as it is."""

    def write(path: str, content: str | bytes) -> Path:
        file = workspace.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


@pytest.fixture
def text(workspace):
    """Reads a file of the vault, as it is."""
    return lambda path: (workspace.vault / path).read_bytes().decode()


@pytest.fixture
def at():
    """A local moment of 24 February 2026, the day of the specification's example."""
    return lambda hour, minute, second=0, day=24: datetime(2026, 2, day, hour, minute, second).astimezone()

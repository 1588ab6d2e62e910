"""A small vault, opened, and a client of its server in the same process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import Client

import infold
from infold.app import OpenVault
from infold.mcp.server import build_server
from infold.mcp.warm_up import WarmUp
from infold.operations.tool_choice import ToolChoice
from tests.small_vaults import HOUSE, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(HOUSE, tmp_path / "vault")


@pytest.fixture
def vault(folder: Path, tmp_path: Path):
    changes = ["search.embedding=static"]
    with infold.open(folder, state=tmp_path / "state", changes=changes) as opened:
        yield opened


@pytest.fixture
def connected(vault: OpenVault) -> Callable[..., object]:
    @asynccontextmanager
    async def connect(choice: ToolChoice | None = None, warm_up: WarmUp | None = None) -> AsyncIterator[Client]:
        async with Client(build_server(vault, choice or ToolChoice(), warm_up)) as client:
            yield client

    return connect

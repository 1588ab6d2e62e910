"""A small vault behind the HTTP face, asked in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

import infold
from infold.app import OpenVault
from infold.web.app import create_app
from tests.small_vaults import HOUSE, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(HOUSE, tmp_path / "vault")


@pytest.fixture
def vault(folder: Path, tmp_path: Path) -> Iterator[OpenVault]:
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as opened:
        yield opened


@pytest.fixture
def client(vault: OpenVault) -> Callable[..., httpx2.AsyncClient]:
    """A client of the application; `token`, `host` as `create_app` takes them."""

    def made(base: str = "http://127.0.0.1:4321", **options: str) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(create_app(vault, **options))
        return httpx2.AsyncClient(transport=transport, base_url=base)

    return made

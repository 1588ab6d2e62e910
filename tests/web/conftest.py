"""A small vault behind the HTTP face, asked in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

import infold
from infold.app import OpenVault
from infold.web.app import create_app


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    (vault / "house").mkdir(parents=True)
    (vault / "index.md").write_text("# Home\n\n[[house/boiler]]\n")
    (vault / "house" / "boiler.md").write_text(
        "# Boiler\n\nThe pressure of the boiler is 1.4 bar.\n\n## Valve\n\nBrass.\n"
    )
    return vault


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

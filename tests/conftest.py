"""Fixtures that every test may use."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.openai_server import FakeOpenAI, serving
from tests.fakes.prefect_server import end_workers, prefect_api

__all__ = ["prefect_api"]

REPOSITORY = Path(__file__).resolve().parents[1]
_THIRD_PARTIES = {"prefect", "dvc", "browser"}
_SHARING_A_MACHINE = {"agent", "cli", "flows", "mcp", "web"}
_MEASURED = {
    "vault",
    "inbox",
    "librarian",
    "notebook",
    "durable",
    "catalogue",
}  # by `--cov`, as pyproject.toml has them

PERSONAL_VARIABLES = (
    "INFOLD_VAULT",
    "INFOLD_STATE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "PREFECT_API_URL",
    "FORCE_COLOR",
    "INFOLD_QDRANT_URL",
    "INFOLD_QDRANT_API_KEY",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Warnings are errors, but where whole programs of others run in this process: what those warn of is theirs.

    Where real servers, browsers and terminals share two cores, a test that fails has a second chance, which the summary
    names (`rerun`); where text could be lost (`chaos`), and everywhere else, it has none.
    """
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        folder = item.path.relative_to(REPOSITORY / "tests").parts[0]
        if "chaos" not in marks and (folder in _SHARING_A_MACHINE or _THIRD_PARTIES & marks):
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=2))
        if _THIRD_PARTIES & marks:
            item.add_marker(
                pytest.mark.filterwarnings("default", "error::pytest.PytestUnraisableExceptionWarning"), append=False
            )


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Coverage is measured where unit tests are, fixtures included.

    Tracing the others would cost CI half as much again, for lines that they run by the way.
    """
    measuring = getattr(item.config.pluginmanager.getplugin("_cov"), "cov_controller", None)
    if measuring is None or item.path.relative_to(REPOSITORY / "tests").parts[0] in _MEASURED:
        yield
        return
    measuring.pause()
    yield
    measuring.resume()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Prefect's threads end with the last of its tests: what they do is seen in no other."""
    last = nextitem is not None and "prefect" in item.keywords and "prefect" not in nextitem.keywords
    if last and "prefect.main" in sys.modules:
        end_workers()


@pytest.fixture(autouse=True, scope="session")
def _no_models_of_ones_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests find no embedding model, nor anything else, that whoever runs them keeps in their state home.

    Nor do they leave processes behind that serve searches; those that are about them say so.
    """
    os.environ["INFOLD_RESIDENT"] = "0"
    os.environ["INFOLD_STATE_HOME"] = str(tmp_path_factory.mktemp("state-home"))


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person who runs the tests is found, and nothing of theirs is touched."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("INFOLD_STATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    for name in PERSONAL_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled model as one that takes long: its vectors come after the words, and are kept."""
    from infold.search.embed.embedder import STATIC_WEIGHT, EmbedderTraits
    from infold.search.embed.static_embedder import StaticEmbedder

    monkeypatch.setattr(StaticEmbedder, "traits", EmbedderTraits(weight=STATIC_WEIGHT, min_similarity=0.40))


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    """A model's endpoint, which the environment names."""
    with serving() as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
        yield fake


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public vaults and hard inputs beside the checkout; skips where it is absent."""
    folder = Path(os.environ.get("INFOLD_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set INFOLD_SHARED_DATA")
    return folder

"""One settings door: every variable is in one table, read in one place, in one way."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

from infold.environment import VARIABLES, Environment
from infold.locate import WorkspaceRequest, locate_workspace
from infold.search.index.engines import open_engine
from tests.conftest import REPOSITORY

SOURCES = [
    *(REPOSITORY / "src").rglob("*.py"),
    *(REPOSITORY / "flows").glob("*.py"),
    *(REPOSITORY / "tasks").glob("*.py"),
]
NAME = re.compile(r"INFOLD_[A-Z_]+[A-Z]")


def test_every_variable_that_is_named_is_in_the_table():
    """In the code and in the documentation; and the page of operations says what each of ours does."""
    named = {name for file in SOURCES for name in NAME.findall(file.read_text(encoding="utf-8"))}
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")]
    documented = {name for page in pages for name in NAME.findall(page.read_text(encoding="utf-8"))}
    assert named | documented - {"INFOLD_CHAOS_SHARE"} <= set(VARIABLES)
    table = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
    assert not [name for name, what in VARIABLES.items() if f"| `{name}` | {what} |" not in table]


def test_nothing_else_reads_the_environment():
    """Apart from handing all of it on to a process of one's own, and setting what Prefect reads."""
    found = []
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in {"os.environ.get", "os.getenv"}:
                continue
            if ast.unparse(node.args[0]) != "'PYTHONPATH'":  # which is handed on, with a folder more
                found.append(f"{file.name}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize("name", ["INFOLD_QDRANT_URL", "infold_qdrant_url", "Infold_Qdrant_Url"])
def test_capitals_do_not_matter_to_anybody(monkeypatch, tmp_path, name):
    """The engine that is opened is the one that `doctor` asks."""
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert Environment().qdrant_url == "http://127.0.0.1:9"
    assert type(open_engine(tmp_path)).__name__ == "ServerEngine"


def test_the_name_in_capitals_counts_first(monkeypatch):
    """Where both are set, there is no doubt."""
    monkeypatch.setenv("infold_fetch_hosts", "small")
    monkeypatch.setenv("INFOLD_FETCH_HOSTS", "capital")
    assert Environment().fetch_hosts == "capital"
    assert Environment(infold_fetch_hosts="given").fetch_hosts == "given"


def test_a_vault_named_by_the_environment_is_found_in_every_way(monkeypatch, tmp_path):
    """By a command and by the library alike, and it is said where it came from."""
    monkeypatch.setenv("infold_vault", str(tmp_path))
    monkeypatch.setenv("INFOLD_STATE", str(tmp_path.parent / "state"))
    found = locate_workspace(WorkspaceRequest())
    assert (found.vault, found.vault_from) == (tmp_path.resolve(), "INFOLD_VAULT")
    assert found.state == (tmp_path.parent / "state").resolve()
    assert locate_workspace(WorkspaceRequest(vault=Path(os.curdir))).vault_from == "--vault"


def test_keys_are_shown_nowhere(monkeypatch):
    """Neither by the record nor by the value."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in f"{Environment()!r} {Environment().api_key!r}"


def test_what_is_not_in_the_table_cannot_be_asked_for():
    """A new variable is written down first."""
    with pytest.raises(KeyError):
        Environment().get("INFOLD_NEW")

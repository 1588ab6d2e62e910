"""The place that a client of a search takes is the one that the program takes, or it does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from infold.locate import WorkspaceRequest, locate_workspace
from infold.place import Unclear, place_of, vault_named_in
from infold.places import name_vault, remember
from tests.conftest import REPOSITORY

VALUES = ["notes", "~/notes", "../my notes", "a/b-c_d.e", "'quoted'", '"x"', "1", "true", "null", "2020-01-01", "a: b"]
VALUES += [
    "# none",
    "x # said",
    "[a]",
    "{a: b}",
    "&x y",
    "*x",
    "",
    "|",
    "1e3",
    "-",
    "- a",
    "yes",
    "~",
    ".5",
    "a,b",
    "0x1f",
]
LINES = [f"  path: {value}" for value in VALUES] + [
    "vault:", "  path: notes", "  inbox_file: in.md", "search:", "  max_results: 5", "# a comment", "", "  # another",
    "vault: {path: x}", "    more", "   path: odd", '"vault":', "---", "a:\tb", "  other:", "    path: deeper", "vault: x",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=6))
def test_what_is_read_of_settings_without_yaml_is_what_yaml_reads(lines: list[str]):
    """Any text of the kind: the same vault, none, or no claim."""
    text = "\n".join(lines) + "\n"
    try:
        found = vault_named_in(text)
    except Unclear:
        return
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return  # nobody has such settings
    section = content.get("vault") if isinstance(content, dict) else None
    named = section.get("path") if isinstance(section, dict) else None
    assert found == (named if isinstance(named, str) else None)


def test_the_settings_of_this_repository_are_clear():
    """Those that everybody starts from."""
    assert vault_named_in((REPOSITORY / "params.yaml").read_text(encoding="utf-8")) == "data/vault"


@pytest.fixture
def vault(tmp_path: Path, nowhere) -> Path:
    """Two vaults, one by another name too."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("one")
    return tmp_path / "one"


CASES = {
    "named": lambda at: {"vault": str(at / "one")},
    "by a link": lambda at: {"vault": str(at / "link")},
    "relative": lambda at: {"vault": "../one"},
    "with its state": lambda at: {"vault": str(at / "one"), "state": "../kept"},
    "with settings": lambda at: {"vault": str(at / "one"), "params": str(at / "mine.yaml")},
    "remembered": lambda at: [remember(at / "two", at / "elsewhere"), {}][1],
    "remembered state": lambda at: [remember(at / "one", at / "elsewhere"), {"vault": str(at / "one")}][1],
    "by a name of its own": lambda at: [name_vault("mine", at / "two"), {"vault": "mine"}][1],
    "of this folder": lambda at: [Path("params.yaml").write_text("vault:\n  path: ../two\n"), {}][1],
    "of this folder, with a state": lambda at: [
        Path("params.yaml").write_text("search:\n  max_results: 3\nvault:\n  path: ../two\n"),
        {"state": str(at / "kept")},
    ][1],
    "another tool's settings": lambda at: [Path("params.yaml").write_text("train:\n  rate: 1\n"), {"vault": "../one"}][
        1
    ],
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_where_the_program_works(vault: Path, tmp_path: Path, case):
    """Vault, state folder and settings, however they were named."""
    (tmp_path / "mine.yaml").write_text("search:\n  max_results: 2\n")
    named = case(tmp_path)
    place = place_of(named.get("vault"), named.get("state"), named.get("params"))
    found = locate_workspace(WorkspaceRequest(**{name: Path(value) for name, value in named.items()}))  # type: ignore[arg-type]
    params = str(found.named_params.resolve()) if found.named_params else ""
    assert place == (str(found.folder), str(found.state), params)


def test_the_environment_names_it_too(vault: Path, tmp_path: Path, monkeypatch):
    """INFOLD_VAULT and INFOLD_STATE, where no option does."""
    monkeypatch.setenv("INFOLD_VAULT", str(vault))
    monkeypatch.setenv("INFOLD_STATE", str(tmp_path / "kept"))
    found = locate_workspace(WorkspaceRequest())
    assert place_of(None, None, None) == (str(found.folder), str(found.state), "")
    assert place_of(str(tmp_path / "two"), None, None)[0] == str(tmp_path / "two")

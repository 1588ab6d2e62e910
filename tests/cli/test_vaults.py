"""Several vaults by name."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def vaults(tmp_path):
    """Two vaults."""
    for name in ("work notes", "private"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# {name}\n")
    return tmp_path / "work notes", tmp_path / "private"


def test_a_name_stands_where_a_folder_may(infold, vaults, monkeypatch):
    """After --vault and in INFOLD_VAULT, from any folder; commands to type next keep it."""
    work, private = vaults
    assert infold("vaults", "add", "work", work).exit_code == 0
    assert infold("vaults", "add", "home", private).exit_code == 0
    assert json.loads(infold("status", "--json", "--vault", "work").stdout)["vault"] == str(work)
    monkeypatch.setenv("INFOLD_VAULT", "home")
    status = json.loads(infold("status", "--json").stdout)
    assert (status["vault"], status["vaultFrom"]) == (str(private), "INFOLD_VAULT home")


def test_a_name_that_is_a_folder_too_is_not_guessed_at(infold, vaults, tmp_path, monkeypatch):
    """Another folder of that name lies here: both are told, and the whole path always does."""
    work, private = vaults
    infold("vaults", "add", "private", work)
    assert json.loads(infold("status", "--json", "--vault", "private").stdout)["vault"] == str(work)
    monkeypatch.chdir(tmp_path)
    unclear = infold("status", "--vault", "private")
    assert unclear.exit_code == 2
    assert str(work) in unclear.stderr
    assert json.loads(infold("status", "--json", "--vault", private).stdout)["vault"] == str(private)


def test_one_of_them_is_used_where_none_is_named(infold, vaults):
    """`use` says which; the list shows it; a state folder that `init` was given is still that of its vault."""
    work, private = vaults
    infold("init", "--vault", private, "--state", private.parent / "kept")
    infold("vaults", "add", "home")
    infold("vaults", "add", "work", work)
    assert infold("vaults", "use", "work").exit_code == 0
    assert json.loads(infold("status", "--json").stdout)["vault"] == str(work)
    assert [line.split()[:2] for line in infold("vaults").stdout.splitlines()] == [
        ["home", str(private)],
        ["*", "work"],
    ]
    assert infold("vaults", "use", "home").exit_code == 0
    assert json.loads(infold("status", "--json").stdout)["state"] == str(private.parent / "kept")


def test_a_name_that_is_none_is_told_with_those_that_there_are(infold, vaults):
    """Also where it stands as a vault; what cannot be a name is refused; a name can be given anew and forgotten."""
    work, private = vaults
    infold("vaults", "add", "work", work)
    assert "There are work" in infold("vaults", "use", "wrok").stderr
    assert "or one of work" in infold("status", "--vault", "wrok").stderr
    assert infold("vaults", "add", "a/b", work).exit_code == 2
    assert infold("vaults", "add", "x", work / "gone").exit_code == 2
    assert f"which was {work}" in infold("vaults", "add", "work", private).stdout
    assert infold("vaults", "forget", "work").exit_code == 0
    assert json.loads(infold("vaults", "--json").stdout)["vaults"] == []
    assert (private / "private.md").exists()

"""The commands over notes as knowledge."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from infold.cli.app import app


@pytest.fixture
def run(tmp_path):
    root = tmp_path / "vault"
    root.mkdir()
    (root / "pump.md").write_text("# Pump\n\nThe heat pump in the cellar draws 9 kW on cold days.\n")
    (root / "garden.md").write_text(
        "# Garden\n\nWarmed by the [[pump]].\n\nThe heat pump in the cellar draws 11 kW on cold days.\n"
    )

    def call(*arguments: str) -> tuple[int, str]:
        options = ["--vault", str(root), "--state", str(tmp_path / "state"), "--set", "search.embedding=none"]
        done = CliRunner().invoke(app, [*arguments, *options])
        return done.exit_code, done.stdout

    return call


def test_a_note_is_made_renamed_and_deleted_with_its_undo_named(run, tmp_path):
    """Each says what it did and which command takes it back; a dry run prints the diff."""
    code, said = run("new", "Solar roof", "Panels on the roof feed the pump.", "--related", "pump", "--dry-run")
    assert code == 0
    assert "+- [[pump]]" in said
    code, said = run("new", "Solar roof", "Panels on the roof feed the pump.", "--related", "pump")
    assert "inbox/Solar roof.md was made" in said
    assert "infold undo 20" in said
    code, said = run("rename", "pump", "Heater")
    assert "The note is Heater.md now; 2 links follow." in said
    assert "[[Heater]]" in (tmp_path / "vault" / "garden.md").read_text()
    code, said = run("delete", "Heater")
    assert "garden.md:3" in said
    assert not (tmp_path / "vault" / "Heater.md").exists()


def test_the_graph_lint_and_suggestions_are_shown(run, tmp_path):
    """Numbers, backlinks with their line, a picture, a contradiction with both quotes, and why a link is suggested."""
    assert "dead ends" in run("graph")[1]
    assert "garden.md:3  Warmed by the [[pump]]." in run("graph", "pump")[1]
    picture = tmp_path / "pump.svg"
    assert run("graph", "pump", "--picture", str(picture))[0] == 0
    assert picture.read_text().startswith("<svg")
    code, said = run("lint")
    assert code == 1
    assert "draws 11 kW" in said
    assert "draws 9 kW" in said
    assert "[[pump]]  line 1: named 'pump'" in run("suggest", "The pump is loud.")[1]


def test_context_and_sources_are_asked_for(run):
    """The XML on stdout, JSON where it is asked for, 1 where nothing was found."""
    code, said = run("query", "what does the pump draw", "--max-tokens", "400")
    assert code == 0
    assert said.startswith("<context question=")
    assert json.loads(run("query", "pump", "--json")[1])["tokens"] > 0
    assert run("query", "zeppelin")[0] == 1
    assert "Nothing was brought in yet" in run("sources")[1]
    code, said = run("research", "zeppelin", "file:///etc/passwd")
    assert code == 1


def test_research_takes_a_folder_beside_addresses(run, tmp_path):
    """What is packed is answered from, and listed; `sources add` packs it too; a hidden one is refused with the rule."""
    folder = tmp_path / "manual"
    folder.mkdir()
    (folder / "gasket.md").write_text("The gasket is greased in autumn.\n")
    code, said = run("research", "gasket grease", str(folder))
    assert code == 0
    assert "greased in autumn" in said
    assert "folder:manual#" in run("sources")[1]
    assert "unchanged" in run("sources", "add", str(folder))[1]
    (tmp_path / ".keys").mkdir()
    assert run("research", "gasket", str(tmp_path / ".keys"))[0] == 1

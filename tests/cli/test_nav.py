"""`infold nav` at the prompt: import, explore, step by step, themes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from infold.cli.app import app


@pytest.fixture
def nav(tmp_path):
    vault = tmp_path / "vault"
    (vault / "garden").mkdir(parents=True)
    (vault / "garden" / "tomatoes.md").write_text(
        "# Tomatoes\n\nTomatoes want sun.\n\n## Watering\n\nIn the morning.\n"
    )
    (vault / "release.md").write_text("# Release\n\nThe server is deployed by a script.\n")

    def run(*words: str):
        return CliRunner().invoke(app, ["nav", *words, "--vault", str(vault), "--state", str(tmp_path / "state")])

    return run


def test_a_walk(nav):
    """Import, explore, go in by an id's beginning, out, back; each step says where one is."""
    assert "not imported" in nav("browse", "garden").stdout
    assert "2 notes imported" in nav("import", ".").stdout
    found = nav("explore", "tomatoes", "sun")
    assert "garden/tomatoes.md:1" in found.stdout
    first = json.loads(nav("explore", "tomatoes", "--json").stdout)["nodes"][0]
    inside = nav("in", first["id"][:8])
    assert inside.exit_code == 0
    assert "Tomatoes" in inside.stdout
    assert nav("out").exit_code == 0
    assert nav("back").exit_code == 0
    assert nav("in", "zzzz").exit_code == 2
    assert "notes" in nav("themes").stdout
    assert "comes first" in nav("lens", "technical").stdout
    assert "through technical" in nav("explore", "server").stdout
    assert "as it is" in nav("lens").stdout

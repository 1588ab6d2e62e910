"""`infold nav` at the prompt: each of its commands as a person gives it, and what they read at 80 columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from infold.cli.app import app
from infold.cli.commands import COMMANDS, CommandGroup


@pytest.fixture
def nav(tmp_path):
    vault = tmp_path / "vault"
    (vault / "garden").mkdir(parents=True)
    (vault / "garden" / "tomatoes.md").write_text(
        "# Tomatoes\n\nTomatoes want sun.\n\n## Watering\n\nIn the morning.\n"
    )
    (vault / "release.md").write_text(
        "---\ntags: [work]\ndate: 2026-01-10\n---\n# Release\n\nThe server is deployed by a script. See [[tomatoes]].\n"
    )
    (vault / "web.md").write_text("---\norigin: https://example.org/a\n---\n# Zinnias\n\nZinnias bloom in July.\n")

    def run(*words: str):
        return CliRunner().invoke(app, ["nav", *words, "--vault", str(vault), "--state", str(tmp_path / "state")])

    return run


def test_a_walk(nav):
    """Import, explore, go in by an id's beginning, out, back; each step says where one is."""
    assert "not imported" in nav("browse", "garden").stdout
    assert "3 notes imported" in nav("import", ".").stdout
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
    assert "Carried by server " in " ".join(nav("lens", "server").stdout.split())
    assert "comes first" in nav("lens", "technical").stdout
    assert "through technical" in nav("explore", "server").stdout
    assert "as it is" in nav("lens").stdout


@pytest.fixture
def walked(nav):
    """All imported, and the centre the section about watering."""
    nav("import", ".")
    nav("explore", "watering", "in", "the", "morning")
    return nav


def ids(nav, *words: str) -> list[str]:
    return [node["id"] for node in json.loads(nav(*words, "--json").stdout)["nodes"]]


def test_browse_is_to_choose_by(nav):
    """Tokens, state, title, day and tags of notes that nobody imported yet; folders with all below them."""
    said = nav("browse").stdout
    assert "garden/  1 note, " in said
    assert "release.md  " in said
    assert "Release  2026-01-10  #work" in said
    nav("import", "garden")
    assert "fresh" in nav("browse", "garden").stdout
    assert nav("browse", "nowhere").exit_code == 2


def test_move_shows_what_is_near(walked):
    """At the centre's own level, or at all of them; so many at most; and from a node that is named."""
    here = json.loads(walked("move", "--json").stdout)
    assert {node["type"] for node in here["nodes"]} == {here["centre"]["type"]}
    assert len(ids(walked, "move", "--limit", "1")) == 1
    assert len(ids(walked, "move", "--across")) > len(ids(walked, "move"))
    (named,) = ids(walked, "explore", "zinnias", "bloom", "--limit", "1")
    assert json.loads(walked("move", named[:8], "--json").stdout)["centre"]["id"] == named


def test_follow_shows_links_with_their_lines(walked):
    """What leads here by a link, with its line; and what holds it."""
    (found,) = ids(walked, "explore", "tomatoes", "--folder", "garden", "--limit", "1")
    while (above := json.loads(walked("out", found, "--json").stdout)["centre"])["type"] != "article":
        found = above["id"]
    article = above["id"]
    assert "See [[tomatoes]]." in walked("follow", article[:8]).stdout
    held = walked("follow", "--type", "containment", article[:8]).stdout
    assert "section  Tomatoes" in held
    assert walked("follow", "--type", "friendship").exit_code == 2


def test_explore_looks_only_where_it_is_told(walked):
    """A folder, a tag, a day, a radius, a number, and from here."""
    for words, path in ((("--tag", "work"), "release.md"), (("--since", "2026-01-01"), "release.md")):
        said = json.loads(walked("explore", "anything", "--radius", "2", *words, "--json").stdout)
        assert {node["path"] for node in said["nodes"]} == {path}
    assert ids(walked, "explore", "tomatoes", "--until", "1999-01-01") == []
    assert ids(walked, "explore", "garden", "--here", "--folder", "garden")
    assert walked("explore", "tomatoes", "--since", "soon").exit_code == 2
    assert walked("move", "--since", "soon").exit_code == 2
    here = json.loads(walked("move", "--across", "--since", "2026-01-01", "--until", "2026-02-01", "--json").stdout)
    assert {node["path"] for node in here["nodes"]} == {"release.md"}


def test_what_is_from_outside_says_so(walked):
    """Beside the place of each node."""
    assert "(from external)" in walked("explore", "zinnias", "bloom").stdout
    assert "(from external)" not in walked("explore", "tomatoes", "--folder", "garden").stdout


def test_summarise_says_what_nodes_say_together(walked):
    """From a perspective, with the places it is from."""
    first, *_ = ids(walked, "explore", "in", "the", "morning", "--folder", "garden")
    done = walked("summarise", first[:8], "--from", "when to do it")
    assert done.exit_code == 0
    assert "morning" in done.stdout
    assert "from garden/tomatoes.md:" in done.stdout
    assert walked("summarise", "zzzz").exit_code == 2


def test_themes_are_named(walked):
    """Without a model at once and for nothing; the names are shown from then on, with notes and what is near."""
    named = walked("name-themes", "--level", "2")
    assert named.exit_code == 0
    assert "named now" in named.stdout
    shown = walked("themes", "--level", "2")
    assert "(3 notes" in shown.stdout
    assert "  garden/tomatoes.md" in shown.stdout
    assert json.loads(walked("themes", "--folder", "garden", "--json").stdout)["themes"][0]["notes"] == 1
    assert walked("themes", "--level", "9").exit_code == 2


def test_the_trail_becomes_a_note(walked, tmp_path):
    """Looked at first, then written, with how to take it back."""
    walked("explore", "zinnias")
    shown = walked("save-trail", "--dry-run")
    assert "+1. [[tomatoes" in shown.stdout
    assert not list((tmp_path / "vault").rglob("Where I went*.md"))
    done = walked("save-trail", "Where", "I", "went")
    assert done.exit_code == 0
    (file,) = (tmp_path / "vault").rglob("Where I went.md")
    assert "[[web" in file.read_text()
    assert "infold undo" in done.stdout


def test_with_a_model_prices_come_first(walked, monkeypatch):
    """Import, summaries and names of themes say what they would take, and how to agree."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    model = ("--set", "librarian.kind=model", "--set", "librarian.model=some-model")
    for words in (("name-themes",), ("summarise", *ids(walked, "explore", "tomatoes")[:2])):
        said = walked(*words, *model)
        assert "Nothing was spent. Add --token" in said.stdout, said.output
    said = walked("import", "inbox", *model)
    assert said.exit_code == 2


@pytest.mark.parametrize("command", ["browse", "explore tomatoes", "in", "out", "move", "follow", "themes"])
def test_texts_are_wrapped_to_the_terminal(walked, tmp_path, command, monkeypatch):
    """At 80 columns no line of a note's text runs over, and each keeps its margin."""
    monkeypatch.setenv("COLUMNS", "80")
    long = tmp_path / "vault" / "garden" / "long.md"
    long.write_text("# Long\n\n" + "Tomatoes want a long sentence about the sun. " * 20 + "\n")
    walked("import", ".")
    said = walked(*command.split()).stdout
    assert said
    assert all(len(line) <= 80 for line in said.splitlines())


def test_every_command_of_nav_is_tried_here():
    """A new command does not pass unseen."""
    (nav,) = (group for group in COMMANDS if isinstance(group, CommandGroup) and group.name == "nav")
    commands = [entry.name for entry in nav.entries]
    tried = Path(__file__).read_text()
    assert commands
    assert [name for name in commands if f'"{name}"' not in tried and f'("{name}' not in tried] == []

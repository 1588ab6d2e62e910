"""`infold review | open | watch --integrate`, as a person types them."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path

import pytest

import infold as package
from infold.cli.watch_inbox import following_inbox, notify
from infold.errors import UsageError

NOTES = {
    "index.md": "# Index\n\n- [[Bread]]\n- [[Tyres]]\n",
    "Bread.md": "# Bread\n\nRye bread is done at ninety-eight degrees.\n",
    "Tyres.md": "# Tyres\n\nThe tyres of the bicycle want sealant.\n",
    "inbox.md": "Rye bread needs a core of ninety-eight degrees.\n\nSealant in bicycle tyres dries out.\n\nDentist.\n",
}
SETTINGS = ("--set", "integrate.quiet_seconds=0", "--set", "search.embedding=none")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for path, text in NOTES.items():
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def planned(infold, vault):
    infold("integrate", "--vault", vault, *SETTINGS, "--dry-run", "--runner", "direct")
    return vault


def answering(monkeypatch, *lines: str) -> None:
    """What the person types; then the end of the input."""
    given = iter(lines)
    monkeypatch.setattr("infold.cli.review._line_of_input", lambda: next(given, None))


def test_hunks_are_decided_one_by_one_and_just_that_is_applied(infold, planned, monkeypatch):
    """What stays is shown first with the nearest notes; the skipped hunk is not written."""
    answering(monkeypatch, "k", "s", "a", "y")
    done = infold("review", "--vault", planned, *SETTINGS)
    assert done.exit_code == 1  # something stays
    assert done.stdout.index("Dentist.") < done.stdout.index("1 of 2  Bread.md › Bread")
    assert "a note of its own would be called: Dentist" in done.stdout
    assert (planned / "Bread.md").read_text() == NOTES["Bread.md"]
    assert "dries out" in (planned / "Tyres.md").read_text()
    assert "Rye bread needs" in (planned / "inbox.md").read_text()


@pytest.mark.parametrize("lines", [("k", "q"), ("k", "a", "a", "n"), ()])
def test_leaving_writes_nothing(infold, planned, monkeypatch, lines):
    """Quit, a no at the end, or the end of the input: the vault is as it was and the plan still there."""
    answering(monkeypatch, *lines)
    done = infold("review", "--vault", planned, *SETTINGS)
    assert done.exit_code == 0
    assert "Nothing was written" in done.stdout
    assert {path: (planned / path).read_text() for path in NOTES} == NOTES


def test_a_hunk_is_moved_and_another_edited(infold, planned, monkeypatch):
    """To a note by its name, under a heading; and with the text that the editor gave back."""
    monkeypatch.setattr("click.edit", lambda text, **_: text.replace("dries out", "is dry by May") + "\n")
    answering(monkeypatch, "m", "Bread", "bread", "m", "nowhere", "m", "Tyres", "", "e", "")
    done = infold("review", "--vault", planned, *SETTINGS)
    assert "There is no note nowhere." in done.stderr
    assert "Dentist." in (planned / "Bread.md").read_text()
    assert "Rye bread needs" in (planned / "Tyres.md").read_text()
    assert "is dry by May" in (planned / "Tyres.md").read_text()
    assert (planned / "inbox.md").read_text().strip() == ""
    assert done.exit_code == 0


def test_the_plan_as_json_asks_nothing(infold, planned):
    """For programs: hunks with numbers, what stays with the nearest notes."""
    value = json.loads(infold("review", "--vault", planned, *SETTINGS, "--json").stdout)
    assert [hunk["number"] for hunk in value["hunks"]] == [1, 2]
    assert value["left"][0]["newNote"] == "Dentist"


def test_apply_takes_single_hunks(infold, planned):
    """`--except` leaves one out, which stays in the inbox."""
    done = infold("apply", "last", "--vault", planned, *SETTINGS, "--except", "1")
    assert done.exit_code == 1
    assert (planned / "Bread.md").read_text() == NOTES["Bread.md"]
    assert "dries out" in (planned / "Tyres.md").read_text()


def test_a_hunk_has_one_number_wherever_it_is_shown(infold, vault):
    """In the plan, in the report, in the review and for `apply --only`, in the order of the inbox."""
    paragraphs = (vault / "inbox.md").read_text().split("\n\n")
    (vault / "inbox.md").write_text("\n\n".join([paragraphs[1], paragraphs[0]]) + "\n")
    plan = infold("integrate", "--vault", vault, *SETTINGS, "--dry-run", "--runner", "direct").stdout
    assert plan.index("1  Tyres.md") < plan.index("2  Bread.md")
    shown = json.loads(infold("review", "--vault", vault, *SETTINGS, "--json").stdout)
    assert [(hunk["number"], hunk["file"]) for hunk in shown["hunks"]] == [(1, "Tyres.md"), (2, "Bread.md")]
    infold("apply", "last", "--vault", vault, *SETTINGS, "--only", "1")
    assert "dries out" in (vault / "Tyres.md").read_text()
    assert (vault / "Bread.md").read_text() == NOTES["Bread.md"]


def test_open_prints_the_address(infold, vault):
    """The file's, or Obsidian's where the vault is one of its own."""
    plain = infold("open", "Bread", "--vault", vault, "--link")
    assert plain.stdout.strip() == (vault / "Bread.md").as_uri()
    (vault / ".obsidian").mkdir()
    assert infold("open", "Bread", "--vault", vault, "--link").stdout.startswith("obsidian://open?path=%2F")
    missing = infold("open", "Brad", "--vault", vault)
    assert (missing.exit_code, "Near it: Bread.md" in missing.stderr) == (2, True)


def test_open_calls_the_editor_at_the_line(infold, vault, monkeypatch, tmp_path):
    """$EDITOR, with its own way of saying where."""
    said = tmp_path / "said"
    editor = tmp_path / "nano"
    editor.write_text(f'#!/bin/sh\necho "$@" > {said}\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    assert infold("open", "Bread.md:3", "--vault", vault, "--with", "editor").exit_code == 0
    assert said.read_text().split() == ["+3", str(vault / "Bread.md")]


@pytest.mark.parametrize("what, said", [("plan", "Planned: 2 of 3"), ("apply", "Folded in: 2 of 3")])
def test_an_inbox_that_rests_is_planned_or_folded_in_once(vault, tmp_path, what, said):
    """Not while it is being written; once a content; by the setting."""
    changes = ["integrate.quiet_seconds=0", "search.embedding=none", f"watch.integrate={what}"]
    heard: list[str] = []
    came = threading.Event()

    def tell(sentence: str) -> None:
        heard.append(sentence)
        came.set()

    opened = package.open(vault, state=tmp_path / "state", changes=[*changes, "watch.inbox_rest_seconds=0.2"])
    with opened, following_inbox(opened, tell):
        assert came.wait(60)
        time.sleep(0.6)
    assert len(heard) == 1
    assert said in heard[0]
    assert ("dries out" in (vault / "Tyres.md").read_text()) == (what == "apply")


def test_a_model_is_not_paid_by_a_watch_without_a_cap(vault, tmp_path):
    """Nobody is there to be asked."""
    opened = package.open(vault, state=tmp_path / "state", changes=["librarian.kind=model"])
    with opened, pytest.raises(UsageError, match="without a cap"), following_inbox(opened, print):
        pass


def test_a_notification_needs_no_desktop(monkeypatch):
    """Where nothing shows one, nothing happens."""
    monkeypatch.setenv("PATH", "")
    notify("infold", "done")


def test_what_is_too_unlikely_names_the_likeliest_note(infold, tmp_path, monkeypatch):
    """The plan, its report in both forms, and the review say the note, its chance and the setting."""
    folder = tmp_path / "seasons"
    folder.mkdir()
    for season in (f"season{n}" for n in range(12)):
        (folder / f"{season}.md").write_text(f"# {season}\n\nWhat to plant in {season}, and what to prune.\n")
    (folder / "inbox.md").write_text("What to plant, and what to prune?\n")
    said = re.compile(
        r"the likeliest note that speaks of this text is season\d+\.md with \d+%, "
        r"below editing\.min_confidence \(20%\)"
    )
    plan = infold("integrate", "--vault", folder, *SETTINGS, "--dry-run", "--runner", "direct")
    answering(monkeypatch, "k", "q")
    review = infold("review", "--vault", folder, *SETTINGS)
    (page,), (text,) = (list(tmp_path.rglob(f"runs/*/report.{form}")) for form in ("html", "md"))
    for shown in (plan.stdout, review.stdout, page.read_text(), text.read_text()):
        assert said.search(" ".join(shown.split())), shown

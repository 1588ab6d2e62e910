"""The main job from the command line, with a librarian that answers by script."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.fakes.scripted import ScriptedLibrarian

ROOT = "# Index\n\n- [[boiler]]\n- [[bread]]\n"
BOILER = "# Boiler\r\n\r\nIt clicks when it starts.\r\n\r\nRadiators are bled in October.\r\n"
BREAD = "# Bread\n\nThe rye is baked for an hour.\n"
INBOX = "# Inbox\n\nThe boiler hums.\n\nRadiators are bled in October.\n\nGeneral average is shared.\n"


def _look(request):
    text = request.chunk.text
    if "average" in text:
        return {"action": "checkout", "files": [], "reason": "nothing in the vault is near it"}
    viewed = [card.path for card in request.viewed]
    if "boiler.md" in viewed:
        return {"action": "checkout", "files": ["boiler.md"]}
    return {"action": "view", "files": ["boiler.md"]}


def _edit(request):
    text = request.chunk.text
    if text in request.notes[0].text:
        return {"edits": [{"file": "boiler.md", "find": text, "is_duplicate": True}]}
    anchor = "It clicks when it starts."
    return {"edits": [{"file": "boiler.md", "find": anchor, "replace": f"{anchor}\n\n{text}"}]}


@pytest.fixture
def scripted(monkeypatch) -> ScriptedLibrarian:
    """Takes the place of every librarian."""
    librarian = ScriptedLibrarian(look=_look, edit=_edit)
    opened = (librarian, lambda searcher: None)
    monkeypatch.setattr("infold.vault_steps.VaultSteps._open_librarian", lambda *place: opened)
    return librarian


@pytest.fixture
def vault(tmp_path, scripted) -> Path:
    """Three notes and an inbox of three paragraphs: one to place, one that is there already, one that fits nowhere."""
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, text in (("index", ROOT), ("boiler", BOILER), ("bread", BREAD), ("inbox", INBOX)):
        (folder / f"{name}.md").write_bytes(text.encode())
    return folder


@pytest.fixture
def integrate(infold, vault):
    """`infold integrate` of the vault, without waiting for notes that were just written."""
    return lambda *words: infold("integrate", "--vault", vault, "--set", "integrate.quiet_seconds=0", *words)


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_contract(integrate, vault):
    """One object on stdout, the promised names, every paragraph's outcome, code 1 because one stays."""
    done = integrate("--json")
    value = json.loads(done.stdout)
    assert done.exit_code == 1
    assert list(value)[:6] == ["run", "status", "paragraphs", "chunks", "usage", "seconds"]
    assert value["status"] == "partial"
    assert [(p["n"], p["outcome"]) for p in value["paragraphs"]] == [(1, "integrated"), (2, "duplicate"), (3, "left")]
    assert value["paragraphs"][2]["reason"] == "nothing in the vault is near it"
    assert value["chunks"][0]["edits"] == [{"file": "boiler.md", "kind": "edit", "applied": True}]
    assert value["chunks"][0]["viewed"] == ["index.md", "boiler.md"]
    assert value["usage"] == {
        "calls": 0,
        "promptTokens": 0,
        "completionTokens": 0,
        "usd": 0.0,
        "reused": 0,
        "failed": 0,
    }
    assert (vault / "inbox.md").read_text() == "# Inbox\n\nGeneral average is shared.\n"
    assert b"It clicks when it starts.\r\n\r\nThe boiler hums.\r\n" in (vault / "boiler.md").read_bytes()


def test_a_person_sees_what_was_done_and_how_to_take_it_back(integrate, infold, vault):
    """The edit, the quote, the reason, the report; and the undo command works as printed."""
    before = files(vault)
    text = integrate().stdout
    for part in ("+ The boiler hums.", "boiler.md has it already", "nothing in the vault is near it", "report.html"):
        assert part in text
    (report,) = (line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith("report"))
    assert Path(report).is_file()
    (undo,) = (line.split(" undo ", 1)[1] for line in text.splitlines() if line.startswith("undo"))
    assert infold("undo", *shlex.split(undo)).exit_code == 0
    assert files(vault) == before


def test_a_dry_run_writes_nothing_and_is_applied_later(integrate, infold, vault):
    """Review first: the plan, its diff, then the same plan applied."""
    before = files(vault)
    value = json.loads(integrate("--dry-run", "--json").stdout)
    assert (value["status"], files(vault)) == ("planned", before)
    diff = infold("diff", "last", "--vault", vault).stdout_bytes
    subprocess.run(["patch", "-p1", "--silent", "--binary", "-d", str(vault)], input=diff, check=True)
    patched = files(vault)
    for name, data in before.items():
        (vault / name).write_bytes(data)
    applied = infold("apply", value["run"][:12], "--vault", vault, "--set", "integrate.quiet_seconds=0", "--json")
    assert json.loads(applied.stdout)["status"] == "partial"
    assert files(vault) == patched


def test_a_second_apply_is_refused_with_the_reason(integrate, infold, vault):
    """A run is applied once."""
    integrate()
    done = infold("apply", "last", "--vault", vault)
    assert done.exit_code == 2
    assert "not a plan any more" in done.stderr


@pytest.mark.parametrize("text", [None, "", "# Inbox\n\n"])
def test_nothing_to_do_is_done(integrate, infold, vault, text):
    """An inbox that is missing, empty or holds no paragraph: said so, code 0, nothing touched, no run."""
    (vault / "inbox.md").unlink()
    if text is not None:
        (vault / "inbox.md").write_text(text)
    before = files(vault)
    done = integrate("--json")
    value = json.loads(done.stdout)
    assert (done.exit_code, value["run"], value["status"]) == (0, None, "nothing-to-do")
    assert files(vault) == before
    assert "Nothing to do." in integrate().stdout
    assert json.loads(infold("runs", "--vault", vault, "--json").stdout) == {"runs": []}


def test_an_inbox_outside_the_vault(integrate, tmp_path, vault):
    """Any file can be the inbox; what is placed leaves it."""
    drop = tmp_path / "drop.md"
    drop.write_text("The boiler hums.\n")
    done = integrate("--inbox", drop, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["status"] == "applied"
    assert drop.read_text().strip() == ""
    assert (vault / "inbox.md").read_text() == INBOX


def test_runs_are_listed_and_shown(integrate, infold, vault):
    """A table for people, records for programs; RUN may be `last` or a unique beginning."""
    run = json.loads(integrate("--json").stdout)["run"]
    listed = json.loads(infold("runs", "--vault", vault, "--json").stdout)["runs"]
    assert [(r["run"], r["status"], r["integrated"], r["duplicate"], r["left"]) for r in listed] == [
        (run, "partial", 1, 1, 1)
    ]
    assert run in infold("runs", "--vault", vault).stdout
    assert "The boiler hums." in infold("show", "last", "--vault", vault).stdout
    assert json.loads(infold("show", run[:15], "--vault", vault, "--json").stdout)["run"]["id"] == run


def test_a_run_that_is_not_there_and_one_that_is_ambiguous(integrate, infold, vault):
    """Both are wrong use, and say how to go on."""
    integrate("--dry-run")
    integrate("--dry-run")
    for name, words in (("nope", "no run"), ("2", "begin with")):
        done = infold("show", name, "--vault", vault)
        assert done.exit_code == 2
        assert words in done.stderr
        assert "infold runs" in done.stderr


def test_what_cannot_be_taken_back_is_said_exactly(integrate, infold, vault):
    """A line that a person rewrote since stays, and is shown; everything else is taken back; code 1."""
    integrate()
    note = vault / "boiler.md"
    note.write_bytes(note.read_bytes().replace(b"The boiler hums.", b"The boiler hums loudly at night."))
    done = infold("undo", "last", "--vault", vault)
    assert done.exit_code == 1
    assert "restored inbox.md" in done.stdout
    assert "boiler.md: this was changed since" in done.stdout
    assert "the run had written: The boiler hums." in done.stdout
    assert b"The boiler hums loudly at night." in note.read_bytes()
    assert (vault / "inbox.md").read_text() == INBOX


def test_a_missing_key_is_said_before_anything_is_done(infold, vault, monkeypatch):
    """One sentence, what to set, code 3, and not a byte changed."""
    monkeypatch.undo()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    before = files(vault)
    state = vault.parent / "state"
    done = infold("integrate", "--vault", vault, "--state", state, "--librarian", "model")
    assert done.exit_code == 3
    assert "OPENAI_API_KEY" in done.stderr
    assert files(vault) == before
    assert not state.exists()


def test_an_interruption_says_how_things_are(integrate, vault, scripted):
    """Ctrl-C while it plans: nothing was written, code 130."""

    def interrupted(request):
        raise KeyboardInterrupt

    scripted.look = interrupted
    before = files(vault)
    done = integrate()
    assert done.exit_code == 130
    assert "Nothing was written to the vault" in done.stderr
    assert files(vault) == before


def test_index_prints_the_sync_result(infold, vault):
    """The six names of the specification, each a number, beside what is infold's own; a second time nothing is left."""
    first = json.loads(infold("index", "--vault", vault, "--json").stdout)
    names = ["filesScanned", "filesChanged", "chunksCreated", "embeddingsComputed", "embeddingsCached", "durationMs"]
    assert [type(first.get(name)) for name in names] == [int] * len(names)
    assert (first["status"], first["notes"], first["added"]) == ("done", 4, 4)
    assert not any("_" in name for name in first)
    assert (first["filesScanned"], first["filesChanged"]) == (3, 3)  # the inbox is no note
    assert json.loads(infold("index", "--vault", vault, "--json").stdout)["filesChanged"] == 0


def test_status_counts_what_waits(infold, vault):
    """Before and without any run."""
    value = json.loads(infold("status", "--vault", vault, "--json").stdout)
    assert (value["waiting"], value["runs"], value["lastRun"]) == (3, 0, None)
    assert "3 paragraphs waiting" in infold("status", "--vault", vault).stdout
    (vault / "inbox.md").unlink()
    assert "missing" in infold("status", "--vault", vault).stdout


def test_the_settings_in_force_can_be_kept_as_a_params_file(infold, vault, tmp_path):
    """What `status --settings` prints is a valid params.yaml that gives the same settings."""
    shown = infold("status", "--vault", vault, "--settings", "--set", "exploration.max_files_checked_out=2").stdout
    (tmp_path / "p.yaml").write_text(shown)
    again = infold("status", "--vault", vault, "--settings", "--params", tmp_path / "p.yaml").stdout
    assert "max_files_checked_out: 2" in shown
    assert again == shown


def test_a_run_knows_its_inbox(integrate, infold, tmp_path, vault):
    """A plan from another inbox is applied to that inbox and taken back from it, without naming it again."""
    drop = tmp_path / "drop.md"
    drop.write_text("The boiler hums.\n")
    before = files(vault)
    integrate("--inbox", drop, "--dry-run")
    assert infold("apply", "last", "--vault", vault, "--set", "integrate.quiet_seconds=0").exit_code == 0
    assert drop.read_text().strip() == ""
    drop.write_text("A later thought.\n")
    assert infold("undo", "last", "--vault", vault).exit_code == 0
    assert drop.read_text() == "A later thought.\n\nThe boiler hums.\n"
    assert files(vault) == before

"""init and doctor: what a newcomer meets first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from infold.places import default_state


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def vault(tmp_path) -> Path:
    """Five notes: a start note without a telling name, a dangling link, an orphan, bad front matter, a bad file."""
    folder = tmp_path / "Garden"
    (folder / "notes").mkdir(parents=True)
    texts = {
        "Start here.md": "# Start\n\n[[Peas]] [[Beans]] [[Cold frame]]\n",
        "notes/Peas.md": "---\ntags: [a\n---\n\nPeas.\n",
        "notes/Beans.md": "See [[Peas]].\n",
        "notes/Alone.md": "Nobody links here.\n",
        "00 Inbox.md": "One thought.\n\nAnother.\n",
    }
    for path, text in texts.items():
        (folder / path).write_text(text)
    (folder / "notes/Old.md").write_bytes(b"caf\xe9\n")
    return folder


@pytest.fixture
def settings_file(vault) -> Path:
    """Where init writes."""
    return default_state(vault) / "params.yaml"


def test_init_finds_root_and_inbox_and_remembers_the_vault(infold, vault, settings_file):
    """Afterwards no command needs --vault; not a byte of the vault has changed."""
    before = files(vault)
    done = infold("init", "--vault", vault)
    assert done.exit_code == 0
    assert yaml.safe_load(settings_file.read_text()) == {
        "vault": {"root_file": "Start here.md", "inbox_file": "00 Inbox.md"}
    }
    for part in ("Start here.md (it reaches the most notes", "00 Inbox.md", str(settings_file)):
        assert part in done.stdout
    assert files(vault) == before
    status = json.loads(infold("status", "--json").stdout)
    assert (status["vault"], status["waiting"]) == (str(vault), 2)


def test_init_without_vault_takes_the_folder_of_notes_it_stands_in(infold, vault, monkeypatch):
    """And refuses a folder that holds no note, rather than reading all of it."""
    assert infold("init").exit_code == 2
    monkeypatch.chdir(vault)
    assert json.loads(infold("init", "--json").stdout)["vault"] == str(vault)


def test_init_keeps_settings_that_are_there(infold, vault, settings_file):
    """What a person changed is written over only with --force."""
    infold("init", "--vault", vault)
    settings_file.write_text("vault: {root_file: notes/Peas.md}\n")
    assert "kept as it was" in infold("init", "--vault", vault).stdout
    assert settings_file.read_text() == "vault: {root_file: notes/Peas.md}\n"
    infold("init", "--vault", vault, "--root", "notes/Beans.md", "--force")
    assert yaml.safe_load(settings_file.read_text())["vault"]["root_file"] == "notes/Beans.md"


def test_an_inbox_is_created_only_when_asked(infold, vault):
    """Without one, init says what to do."""
    (vault / "00 Inbox.md").unlink()
    assert "--create-inbox" in infold("init", "--vault", vault).stdout
    assert not (vault / "inbox.md").exists()
    infold("init", "--vault", vault, "--create-inbox")
    assert (vault / "inbox.md").read_bytes() == b""


def test_a_root_that_is_not_there_is_wrong_use(infold, vault):
    """A typing mistake does not become a setting."""
    done = infold("init", "--vault", vault, "--root", "Strat.md")
    assert done.exit_code == 2
    assert "Strat.md" in done.stderr


def test_init_leaves_the_repository_alone(infold, vault):
    """Where ./params.yaml names the vault there is nothing to set up."""
    Path("params.yaml").write_text(f"vault: {{path: {vault}}}\n")
    done = infold("init")
    assert done.exit_code == 2
    assert "params.yaml" in done.stderr


def test_doctor_says_what_is_what_and_what_to_do(infold, vault):
    """Reach, orphans, dangling links, unreadable files and front matter; none of it keeps the job from working."""
    infold("init", "--vault", vault)
    done = infold("doctor", "--json")
    found = {f["topic"]: f for f in json.loads(done.stdout)["findings"]}
    assert done.exit_code == 0
    assert found["vault"]["text"].startswith("4 notes")
    assert "reaches 2 of the other 3 notes" in found["root"]["text"]
    assert "2 paragraphs waiting in 00 Inbox.md" in found["inbox"]["text"]
    assert "notes/Alone.md" in found["orphans"]["text"]
    assert "[[Cold frame]]" in found["dangling"]["text"]
    assert "notes/Old.md" in found["skipped"]["text"]
    assert "notes/Peas.md" in found["metadata"]["text"]
    assert found["index"]["text"] == "not built yet"
    assert all(f["todo"] for f in found.values() if f["level"] != "ok")


def test_doctor_never_shows_the_key(infold, vault, monkeypatch):
    """Whether one is set is all that is said."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    done = infold("doctor", "--vault", vault, "--set", "librarian.kind=model", "--debug")
    assert "OPENAI_API_KEY is set" in done.output
    assert "secret" not in done.output


def test_doctor_exits_1_where_the_job_would_not_work(infold, vault):
    """A model without a key: said with what to do."""
    done = infold("doctor", "--vault", vault, "--set", "librarian.kind=model")
    assert done.exit_code == 1
    assert "OPENAI_API_KEY is not set" in done.stdout
    assert "--librarian offline" in " ".join(done.stdout.split())


def test_doctor_tells_an_empty_vault_from_one_that_became_empty(infold, vault):
    """An unmounted disk is no vault without notes: what was known is kept."""
    infold("init", "--vault", vault)
    for file in vault.rglob("*.md"):
        file.unlink()
    done = infold("doctor", "--vault", vault)
    assert done.exit_code == 1
    assert "not mounted" in " ".join(done.stdout.split())

"""Where a command works: the vault, its state and its settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infold.errors import SettingInvalid, UsageError, VaultNotFound
from infold.locate import WorkspaceRequest, locate_workspace
from infold.places import default_state, remember
from infold.settings import load_params

pytestmark = pytest.mark.usefixtures("nowhere")


@pytest.fixture
def vault(tmp_path) -> Path:
    """A folder to be a vault."""
    folder = tmp_path / "My notes"
    folder.mkdir()
    return folder


def test_without_any_vault_the_error_says_what_to_do():
    """Nothing named, nothing remembered: wrong use, with the two ways to name one."""
    with pytest.raises(UsageError) as raised:
        locate_workspace(WorkspaceRequest())
    assert raised.value.exit_code == 2
    assert "--vault DIR" in raised.value.hint
    assert "infold init" in raised.value.hint


def test_a_missing_vault_and_a_file_as_vault_are_told_apart(tmp_path):
    """The message says whether there is nothing at the path or no folder."""
    with pytest.raises(VaultNotFound, match="no folder"):
        locate_workspace(WorkspaceRequest(vault=tmp_path / "gone"))
    (tmp_path / "note.md").write_text("x")
    with pytest.raises(VaultNotFound, match="is a file"):
        locate_workspace(WorkspaceRequest(vault=tmp_path / "note.md"))


def test_the_state_lies_outside_the_vault_in_a_folder_of_its_own(tmp_path, vault):
    """Two vaults of one name do not share their state."""
    twin = tmp_path / "other" / "My notes"
    twin.mkdir(parents=True)
    states = {locate_workspace(WorkspaceRequest(vault=folder)).state for folder in (vault, twin)}
    assert len(states) == 2
    assert all(state.name.startswith("My-notes-") and state.is_relative_to(tmp_path / "home") for state in states)


def test_finding_a_place_writes_nothing(tmp_path, vault):
    """Only a command that has something to keep makes a state folder."""
    locate_workspace(WorkspaceRequest(vault=vault))
    assert not (tmp_path / "home").exists()


def test_a_params_file_here_that_names_a_vault_is_the_repository(tmp_path, vault):
    """`vault.path` counts from that file, the state is data/state beside it, its settings are in force."""
    here = Path.cwd()
    (here / "params.yaml").write_text("vault: {path: ../My notes, root_file: start.md}\n")
    place = locate_workspace(WorkspaceRequest())
    assert (place.vault, place.state) == (vault, here / "data" / "state")
    assert place.params.vault.root_file == "start.md"


def test_the_params_file_of_another_tool_is_none_of_ours(tmp_path, vault):
    """A ./params.yaml without `vault.path` is left alone, whatever it holds."""
    Path("params.yaml").write_text("train: {lr: 0.1}\n")
    with pytest.raises(UsageError, match="No vault"):
        locate_workspace(WorkspaceRequest())
    remember(vault, default_state(vault))
    assert locate_workspace(WorkspaceRequest()).vault == vault


def test_a_vault_named_by_hand_outweighs_the_repository(tmp_path, vault):
    """With --vault the ./params.yaml here has no say."""
    Path("params.yaml").write_text("vault: {path: ., root_file: start.md}\n")
    place = locate_workspace(WorkspaceRequest(vault=vault))
    assert place.vault == vault
    assert place.params.vault.root_file == "index.md"


def test_the_remembered_vault_comes_with_the_state_it_was_given(tmp_path, vault):
    """`init --state` is remembered for that vault, also when another vault becomes the default."""
    remember(vault, tmp_path / "elsewhere")
    assert locate_workspace(WorkspaceRequest()).state == tmp_path / "elsewhere"
    other = tmp_path / "other"
    other.mkdir()
    remember(other, default_state(other))
    assert locate_workspace(WorkspaceRequest()).vault == other
    assert locate_workspace(WorkspaceRequest(vault=vault)).state == tmp_path / "elsewhere"


def test_what_is_remembered_but_cannot_be_read_counts_as_nothing(tmp_path):
    """A damaged file of places does not stop a command that names its vault."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "places.json").write_text("{")
    with pytest.raises(UsageError, match="No vault"):
        locate_workspace(WorkspaceRequest())


def test_settings_come_from_the_nearest_file_with_single_changes_on_top(tmp_path, vault):
    """--params outweighs the state folder's params.yaml; --set outweighs both; a misspelt name is an error."""
    state = default_state(vault)
    state.mkdir(parents=True)
    (state / "params.yaml").write_text("vault: {root_file: A.md, inbox_file: In.md}\n")
    assert locate_workspace(WorkspaceRequest(vault=vault)).params.vault.root_file == "A.md"
    (tmp_path / "p.yaml").write_text("vault: {root_file: B.md}\n")
    place = locate_workspace(WorkspaceRequest(vault, None, tmp_path / "p.yaml", ("vault.inbox_file=Drop.md",)))
    assert (place.params.vault.root_file, place.workspace.inbox) == ("B.md", vault / "Drop.md")
    with pytest.raises(SettingInvalid, match=r"vault\.root_fil"):
        locate_workspace(WorkspaceRequest(vault, changes=("vault.root_fil=x",)))


@pytest.mark.parametrize(
    "given, message, hint",
    [
        ("search.embeding=none", "There is no setting search.embeding (--set).", "Did you mean search.embedding?"),
        ("serch.language=auto", "There is no setting serch (--set).", "Did you mean search?"),
        ("search.zzzz=1", "There is no setting search.zzzz (--set).", "status --settings"),
        ("search.max_results=0", "Setting search.max_results (--set): Input should be greater", "status --settings"),
    ],
)
def test_a_misspelt_setting_is_named_with_the_one_that_was_meant(given, message, hint):
    """Where it stands, in words, and the name that comes near."""
    with pytest.raises(SettingInvalid) as raised:
        load_params(None, [given])
    assert str(raised.value).startswith(message)
    assert hint in raised.value.hint


@pytest.mark.parametrize("name", ["state", "sub/state"])
def test_a_state_folder_among_the_notes_is_refused(vault, name):
    """Reports among the notes would be taken for notes."""
    with pytest.raises(SettingInvalid, match="among the notes"):
        locate_workspace(WorkspaceRequest(vault=vault, state=vault / name))


def test_a_hidden_state_folder_in_the_vault_must_be_asked_for_by_name(vault, monkeypatch):
    """The default never lies inside the vault; --state vault/.infold is taken at its word."""
    monkeypatch.setenv("INFOLD_STATE_HOME", str(vault / ".infold"))
    with pytest.raises(SettingInvalid, match="would lie inside"):
        locate_workspace(WorkspaceRequest(vault=vault))
    assert locate_workspace(WorkspaceRequest(vault=vault, state=vault / ".infold")).state == vault / ".infold"


def test_an_inbox_is_looked_for_here_and_then_in_the_vault(tmp_path, vault):
    """`--inbox FILE` means a file of the current folder, else one of the vault."""
    (vault / "drop.md").write_text("x")
    assert locate_workspace(WorkspaceRequest(vault=vault), inbox=Path("drop.md")).workspace.inbox == vault / "drop.md"
    Path("drop.md").write_text("x")
    assert (
        locate_workspace(WorkspaceRequest(vault=vault), inbox=Path("drop.md")).workspace.inbox == Path.cwd() / "drop.md"
    )


def test_options_become_settings_whatever_their_text():
    """A model's name with a colon or a leading number stays the name it is."""
    changed = WorkspaceRequest().with_changes(librarian__model="llama3.2:1b", librarian__max_usd=None)
    assert [json.loads(change.partition("=")[2]) for change in changed.changes] == ["llama3.2:1b"]


def test_the_notes_may_lie_in_a_folder_of_the_vault_with_the_inbox_above(tmp_path):
    """Spec 1's `notes_directory`: notes in ./notes, the inbox beside that folder."""
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    (vault / "inbox.md").write_text("text\n")
    place = locate_workspace(WorkspaceRequest(vault=vault, changes=("vault.notes_directory=./notes",)))
    assert place.vault == vault / "notes"
    assert place.workspace.inbox == vault / "inbox.md"


@pytest.mark.parametrize("folder,error", [("../elsewhere", SettingInvalid), ("gone", VaultNotFound)])
def test_a_notes_folder_outside_the_vault_or_absent_is_refused(tmp_path, folder, error):
    """Nothing outside the vault is read or written."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "vault").mkdir()
    with pytest.raises(error):
        locate_workspace(WorkspaceRequest(vault=tmp_path / "vault", changes=(f"vault.notes_directory={folder}",)))


def test_an_inbox_named_among_the_notes_is_not_taken_for_a_note(tmp_path):
    """--inbox capture.md: that file is the inbox of this run, so that its text is not found in itself."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "capture.md").write_text("text\n")
    place = locate_workspace(WorkspaceRequest(vault=vault), inbox=vault / "capture.md")
    assert place.params.vault.inbox_file == "capture.md"


def test_root_and_inbox_are_found_without_init(tmp_path):
    """A vault that was never looked at has the root and the inbox that `infold init` would find by their names."""
    vault = tmp_path / "notes"
    vault.mkdir()
    (vault / "Home.md").write_text("[[Peas]]\n")
    (vault / "00 Inbox.md").write_text("- peas\n")
    (vault / "Peas.md").write_text("Peas climb.\n")
    place = locate_workspace(WorkspaceRequest(vault=vault))
    assert (place.params.vault.root_file, place.workspace.inbox_path) == ("Home.md", "00 Inbox.md")
    assert place.params.vault.inbox_file == "00 Inbox.md"


def test_what_is_set_or_there_is_not_looked_for(tmp_path):
    """A named root stays, there or not; so does the usual one."""
    vault = tmp_path / "notes"
    vault.mkdir()
    (vault / "Home.md").write_text("[[Peas]]\n")
    named = locate_workspace(WorkspaceRequest(vault=vault, changes=("vault.root_file=Peas.md",)))
    assert named.params.vault.root_file == "Peas.md"
    (vault / "index.md").write_text("[[Peas]]\n")
    assert locate_workspace(WorkspaceRequest(vault=vault)).params.vault.root_file == "index.md"


@pytest.mark.parametrize("name, said", [("nope.md", "There is no inbox nope.md"), (".", "is a folder")])
def test_an_inbox_that_is_named_must_be_a_file(tmp_path, name, said):
    """A slip of the pen is told, and not taken for an empty inbox."""
    vault = tmp_path / "notes"
    vault.mkdir()
    with pytest.raises(UsageError, match=said):
        locate_workspace(WorkspaceRequest(vault=vault), inbox=Path(name))


def test_an_override_that_is_no_yaml_is_text():
    """A schedule may begin with a star, which YAML takes for something else."""
    assert load_params(None, ["schedules.research=* * * * *"]).schedules.research == "* * * * *"

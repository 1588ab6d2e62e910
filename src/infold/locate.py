"""Where a command works: which vault, which state folder, which settings.

The first that is there counts:

- vault: `--vault`, INFOLD_VAULT, `vault.path` of ./params.yaml, the vault that `infold init` remembered; the first two
  may also say the name of a vault (`infold.places`);
- state: `--state`, INFOLD_STATE, `data/state` beside that ./params.yaml, the folder that `infold init` was given for
  the vault, a folder of the vault's own in the user's data folder;
- settings: `--params`, that ./params.yaml, params.yaml of the state's DVC project or in the state folder, the defaults;
  `--set` on top.

The state lies outside the vault because vaults are often synced, and an index must not be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infold.discovery import find_inbox, find_root
from infold.environment import Environment
from infold.errors import SettingInvalid, UsageError, VaultNotFound
from infold.place import PARAMS_FILE, read_places, settings_files, state_of
from infold.places import known_vaults

if TYPE_CHECKING:
    from infold.settings import Params
    from infold.workspace import Workspace


class WorkspaceRequest(NamedTuple):
    """What the command line says about the place."""

    vault: Path | None = None
    state: Path | None = None
    params: Path | None = None
    changes: tuple[str, ...] = ()

    def with_changes(self, **settings: object) -> WorkspaceRequest:
        """The same, with settings such as `librarian__max_usd=2` on top; None is left out."""
        more = (
            f"{name.replace('__', '.')}={json.dumps(value)}" for name, value in settings.items() if value is not None
        )
        return WorkspaceRequest(self.vault, self.state, self.params, (*self.changes, *more))


class LocatedWorkspace(NamedTuple):
    """A workspace and where each part of the answer came from.

    `folder` is the vault as it was named, which `vault.notes_directory` may narrow; `named_params` is the file of
    settings that counts whatever else there is.
    """

    workspace: Workspace
    vault_from: str
    params_file: Path | None
    folder: Path
    named_params: Path | None = None
    is_changed: bool = False  # single settings were given on top

    @property
    def vault(self) -> Path:
        """The vault, absolute."""
        return self.workspace.vault

    @property
    def state(self) -> Path:
        """The state folder, absolute."""
        return self.workspace.state

    @property
    def params(self) -> Params:
        """The settings in force."""
        return self.workspace.params


def locate_workspace(
    wanted: WorkspaceRequest,
    *,
    inbox: Path | None = None,
    read: Callable[[Path, Path | None], Params] | None = None,
) -> LocatedWorkspace:
    """The place to work in. Raises UsageError with what to do where there is none.

    `read` gives the settings of a state folder and its file in another way than by checking that file.
    """
    from infold.workspace import Workspace

    environment = Environment()
    vault_from = "--vault" if wanted.vault is not None else "INFOLD_VAULT"
    wanted = wanted._replace(vault=wanted.vault or environment.vault, state=wanted.state or environment.state)
    repository = _repository_params() if wanted.vault is None else None
    remembered = read_places()
    vault, vault_from = _vault(wanted, vault_from, repository, remembered)
    state = _state(wanted, vault, repository, remembered)
    named_params = wanted.params or (repository[0] if repository else None)
    params_file = named_params or next(
        (Path(file) for file in settings_files(str(state)) if Path(file).is_file()), None
    )
    params = checked_settings(params_file, wanted.changes) if read is None else read(state, params_file)
    notes = _notes_folder(vault, params)
    params = _with_names_found(params, vault, notes)
    workspace = Workspace(vault=notes, state=state, inbox=_inbox(vault, notes, params, inbox), params=params)
    space = _with_inbox_told_apart(workspace)
    return LocatedWorkspace(
        space, vault_from, params_file, vault, named_params, bool(wanted.changes) or inbox is not None
    )


def checked_settings(file: Path | None, changes: Sequence[str] = ()) -> Params:
    """The settings that `file` says, with `changes` on top. Raises SettingInvalid."""
    from infold.settings import load_params

    return load_params(file, list(changes))


def _repository_params() -> tuple[Path, Mapping[str, Any]] | None:
    """The ./params.yaml that names a vault, and its vault section; another tool's params.yaml is none of ours."""
    file = Path.cwd() / PARAMS_FILE
    if not file.is_file():
        return None
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None
    section = content.get("vault") if isinstance(content, dict) else None
    return (file, section) if isinstance(section, dict) and isinstance(section.get("path"), str) else None


def _vault(
    wanted: WorkspaceRequest,
    named_by: str,
    repository: tuple[Path, Mapping[str, Any]] | None,
    remembered: Mapping[str, Any],
) -> tuple[Path, str]:
    if wanted.vault is not None:
        folder, origin = wanted.vault, named_by
    elif repository is not None:
        folder, origin = repository[0].parent / repository[1]["path"], f"vault.path in {repository[0]}"
    elif remembered.get("default"):
        folder, origin = Path(remembered["default"]), "remembered by `infold init`"
    else:
        raise UsageError(
            "No vault is named.",
            hint="Add --vault DIR with your folder of notes, or run `infold init --vault DIR` once. "
            "`infold demo` shows it on a vault of its own.",
        )
    named = known_vaults()
    if (name := str(folder)) in named:
        if folder.is_dir() and folder.resolve() != named[name]:
            raise UsageError(
                f"{name} is the name of the vault {named[name]}, and a folder here.",
                hint="Give the whole path of the one you mean.",
            )
        folder, origin = named[name], f"{origin} {name}"
    folder = folder.expanduser()
    if not folder.exists():
        others = f", or one of {', '.join(named)}" if named else ""
        raise VaultNotFound(
            f"There is no folder {folder} ({origin}).", hint=f"Name the folder that holds your notes{others}."
        )
    if not folder.is_dir():
        raise VaultNotFound(
            f"{folder} is a file, not a folder ({origin}).", hint="Name the folder that holds your notes."
        )
    return folder.resolve(), origin


def _state(
    wanted: WorkspaceRequest,
    vault: Path,
    repository: tuple[Path, Mapping[str, Any]] | None,
    remembered: Mapping[str, Any],
) -> Path:
    if wanted.state is not None:
        state = _real(wanted.state)
        _refuse_reports_among_notes(vault, state)
    else:
        state = Path(state_of(str(vault), str(repository[0]) if repository else None, remembered))
        if state.is_relative_to(vault):
            raise SettingInvalid(
                f"The state folder {state} would lie inside the vault {vault}.",
                hint="Name another with --state DIR, or set INFOLD_STATE_HOME.",
            )
    if state.exists() and not state.is_dir():
        raise SettingInvalid(f"{state} is a file, not a folder.", hint="Name a folder with --state DIR.")
    return state


def _refuse_reports_among_notes(vault: Path, state: Path) -> None:
    """A state folder in the vault, asked for by name, must be one that is never read as notes."""
    if state.is_relative_to(vault) and not any(part.startswith(".") for part in state.relative_to(vault).parts):
        raise SettingInvalid(
            f"The state folder {state} lies among the notes, and its reports would be taken for notes.",
            hint="Inside a vault its name must start with a dot, such as .infold; better, put it elsewhere.",
        )


def _notes_folder(vault: Path, params: Params) -> Path:
    """The folder that holds the notes: the vault itself unless `vault.notes_directory` names one in it."""
    notes = (vault / params.vault.notes_directory).resolve()
    if not notes.is_relative_to(vault):
        raise SettingInvalid(
            f"vault.notes_directory {params.vault.notes_directory!r} leads out of the vault {vault}.",
            hint="Name a folder inside the vault, or name that folder with --vault.",
        )
    if not notes.is_dir():
        raise VaultNotFound(
            f"There is no folder {notes} (vault.notes_directory).", hint="Correct or remove the setting."
        )
    return notes


def _with_names_found(params: Params, vault: Path, notes: Path) -> Params:
    """With the root note and the inbox that bear a usual name, where none is set and the default is not there.

    As `infold init` finds them, so that a vault needs no settings to be worked on.
    """
    section = params.vault
    is_open = {
        name: name not in section.model_fields_set and not any((place / file).is_file() for place in (notes, vault))
        for name, file in (("root_file", section.root_file), ("inbox_file", section.inbox_file))
    }
    if not any(is_open.values()):
        return params
    names = _names_at_the_top(notes)
    found: dict[str, str] = {}
    inbox = find_inbox(names)
    if is_open["inbox_file"] and inbox is not None:
        found["inbox_file"] = inbox.path
    others = [name for name in names if inbox is None or name != inbox.path]
    if is_open["root_file"] and (root := find_root(others, vault.name, {})) is not None:
        found["root_file"] = root.path
    return params.model_copy(update={"vault": section.model_copy(update=found)}) if found else params


def _names_at_the_top(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".md") and entry.is_file())
    except OSError:
        return []


def _inbox(vault: Path, notes: Path, params: Params, named: Path | None) -> Path:
    """The inbox: as named, from here or from the vault; else `vault.inbox_file`, beside the notes or above them."""
    if named is None:
        beside, above = notes / params.vault.inbox_file, vault / params.vault.inbox_file
        return above if above.exists() and not beside.exists() else beside
    here, in_vault = named.expanduser().absolute(), vault / named
    chosen = in_vault if in_vault.exists() and not here.exists() else here
    if chosen.is_dir():
        raise UsageError(f"The inbox {chosen} is a folder.", hint="Name the file that holds the text to fold in.")
    if not chosen.exists():
        raise UsageError(
            f"There is no inbox {named}, neither here nor in {vault}.", hint="Name a file that is there with --inbox."
        )
    return chosen.parent.resolve() / chosen.name


def _with_inbox_told_apart(workspace: Workspace) -> Workspace:
    """With the inbox in use as `vault.inbox_file` where it lies among the notes, so that it is never taken for one."""
    if not workspace.inbox.is_relative_to(workspace.vault):
        return workspace
    vault = workspace.params.vault.model_copy(update={"inbox_file": workspace.inbox_path})
    return replace(workspace, params=workspace.params.model_copy(update={"vault": vault}))


def _real(folder: Path) -> Path:
    return folder.expanduser().resolve()

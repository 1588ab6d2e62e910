"""`infold vaults`: several vaults, each with a name that `--vault` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infold.cli import suggestions
from infold.cli.options import Call, placeless_command
from infold.errors import VaultNotFound
from infold.locate import WorkspaceRequest, locate_workspace
from infold.place import read_places
from infold.places import forget_vault, known_vaults, name_vault, remember, vault_named

VaultNameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="The name of a vault.", autocompletion=suggestions.vaults)
]


@placeless_command
def list_(call: Call) -> int:
    """List the vaults that have a name. The one with a star is that of every command that names none."""
    known, default = known_vaults(), read_places().get("default")
    if call.terminal.is_json:
        listed = [
            {"name": name, "vault": str(folder), "isDefault": str(folder) == default, "isThere": folder.is_dir()}
            for name, folder in known.items()
        ]
        call.terminal.emit({"vaults": listed, "default": default})
        return 0
    width = max(map(len, known), default=0)
    for name, folder in known.items():
        gone = "" if folder.is_dir() else "  (gone)"
        call.terminal.say(f"{'*' if str(folder) == default else ' '} {name:{width}}  {folder}{gone}")
    if not known:
        call.terminal.say("No vault has a name yet: `infold vaults add NAME DIR`.")
    if default and default not in map(str, known.values()):
        call.terminal.say(f"*{'':{width + 2}} {default}  (no name; remembered by `infold init`)")
    return 0


@placeless_command
def add(
    call: Call,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name to give it.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="The folder of notes. Else the vault in use.")
    ] = None,
) -> int:
    """Give a vault a name, so that `--vault NAME` means it in every command."""
    vault = _folder(folder)
    before = name_vault(name, vault)
    if call.terminal.is_json:
        call.terminal.emit({"name": name, "vault": str(vault), "before": str(before) if before else None})
        return 0
    was = f", which was {before}" if before not in (None, vault) else ""
    call.terminal.say(f"{name} is {vault}{was}.")
    return 0


def _folder(named: Path | None) -> Path:
    if named is None:
        return locate_workspace(WorkspaceRequest()).vault
    folder = named.expanduser().resolve()
    if not folder.is_dir():
        raise VaultNotFound(f"There is no folder {folder}.", hint="Name the folder that holds your notes.")
    return folder


@placeless_command
def use(call: Call, *, name: VaultNameArgument) -> int:
    """Make a vault that of every command that names none."""
    vault = vault_named(name)
    remember(vault, locate_workspace(WorkspaceRequest(vault=vault)).state)
    if call.terminal.is_json:
        call.terminal.emit({"name": name, "vault": str(vault)})
        return 0
    call.terminal.say(f"{name} ({vault}) is now the vault of every command that names none.")
    return 0


@placeless_command
def forget(call: Call, *, name: VaultNameArgument) -> int:
    """Take a name from its vault. The notes and what infold keeps of them stay as they are."""
    folder = forget_vault(name)
    if call.terminal.is_json:
        call.terminal.emit({"name": name, "vault": str(folder)})
        return 0
    call.terminal.say(f"{name} is no name any more; {folder} stays as it is.")
    return 0

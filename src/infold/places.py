"""What infold remembers of vaults, in `places.json` of the user's data folder: the default one, names, state folders.

A name of a vault stands wherever its folder may be named. Where a folder of that name is too, neither is guessed at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from infold import place
from infold.durable.files import Disk, make_private
from infold.errors import StateUnwritable, UsageError
from infold.home import state_home

_NAME: Final = re.compile(r"\w[\w.-]*")


def default_state(vault: Path) -> Path:
    """The state folder of a vault for which none was named: two vaults of one name do not share it."""
    return Path(place.default_state(str(vault)))


def remember(vault: Path, state: Path) -> Path:
    """Makes `vault` the default and keeps where its state is; gives the file that says so."""
    places = place.read_places()
    states = {**places.get("states", {}), str(vault): str(state)}
    if state == default_state(vault):
        del states[str(vault)]
    return _write({**places, "default": str(vault), "states": states})


def known_vaults() -> dict[str, Path]:
    """The folders of the vaults that have a name, by name."""
    names = place.read_places().get("names", {})
    return {name: Path(names[name]) for name in sorted(names)} if isinstance(names, Mapping) else {}


def name_vault(name: str, vault: Path) -> Path | None:
    """Gives a vault a name; gives the folder that had it before. Raises UsageError for what cannot be a name."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a vault.",
            hint="Begin with a letter or digit; letters, digits, dots, dashes and underscores may follow.",
        )
    known = known_vaults()
    _write_names({**known, name: vault})
    return known.get(name)


def forget_vault(name: str) -> Path:
    """Takes a name from its vault, of which nothing else changes; gives the folder. Raises UsageError."""
    known = known_vaults()
    folder = vault_named(name)
    _write_names({each: path for each, path in known.items() if each != name})
    return folder


def vault_named(name: str) -> Path:
    """The folder of that name. Raises UsageError, with the names that there are."""
    known = known_vaults()
    if name not in known:
        there = f"There are {', '.join(known)}." if known else "`infold vaults add NAME DIR` gives a vault one."
        raise UsageError(f"No vault is named {name!r}.", hint=there)
    return known[name]


def _write_names(names: Mapping[str, Path]) -> None:
    _write({**place.read_places(), "names": {name: str(folder) for name, folder in names.items()}})


def _write(places: Mapping[str, Any]) -> Path:
    file = state_home() / place.PLACES_FILE
    try:
        make_private(file.parent)
        Disk().write_whole(file, (json.dumps(places, indent=2) + "\n").encode(), is_shared=True)
    except StateUnwritable as error:
        raise StateUnwritable(str(error), hint="Set INFOLD_STATE_HOME to a writable folder.") from error
    return file

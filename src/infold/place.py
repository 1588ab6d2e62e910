"""Which vault, state folder and settings file a command means: paths alone, before anything is checked or read.

`infold.locate` checks them and says what is wrong. Fast to import, for the client of `infold search` needs no more.
"""

from __future__ import annotations

import os
import sys

from infold.environment import Environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_IS_LINUX = sys.platform.startswith("linux")
PARAMS_FILE = "params.yaml"
PLACES_FILE = "places.json"
_PLAIN = r"[A-Za-z0-9_./~-][^#:\t\"'&*!|>%@`{}\[\],\\]*"  # of YAML: text that is nothing but itself
_NO_TEXT = r"(?i)[-+.\d_~]*|null|true|false|yes|no|on|off|[-+]?\.(inf|nan)|[-+]?[\d.]+e[-+]?\d+|0[box][\da-f]+"


class Unclear(Exception):
    """Only YAML itself can tell."""


def home_of_states() -> str:
    """INFOLD_STATE_HOME, else a folder in the user's data folder. It need not exist yet."""
    named = Environment().get("INFOLD_STATE_HOME")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    if not _IS_LINUX:
        import platformdirs

        return platformdirs.user_data_dir("infold")
    data = Environment().get("XDG_DATA_HOME") or ""  # as platformdirs has it, which takes long to load
    return os.path.join(data if data.strip() else os.path.expanduser("~/.local/share"), "infold")


def read_places() -> Mapping[str, Any]:
    """What is remembered of vaults: the default one, names, and state folders. `infold.places` writes it."""
    try:
        with open(os.path.join(home_of_states(), PLACES_FILE), encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return {}
    import json

    try:
        places = json.loads(text)
    except ValueError:
        return {}
    return places if isinstance(places, dict) else {}


def default_state(vault: str) -> str:
    """The state folder of a vault for which none was named: two vaults of one name do not share it."""
    import hashlib

    name = os.path.basename(vault)
    if not all(sign.isalnum() or sign in "_.-" for sign in name):
        import re

        name = re.sub(r"[^\w.-]+", "-", name)
    name = name.strip("-.") or "vault"
    digest = hashlib.sha256(os.fsencode(vault)).hexdigest()[:8]
    return os.path.join(home_of_states(), "vaults", f"{name}-{digest}")


def state_of(vault: str, repository: str | None, remembered: Mapping[str, Any]) -> str:
    """The state folder of a resolved vault, where none was named; `repository` is the file that named the vault."""
    if repository is not None:
        return real(os.path.join(os.path.dirname(repository), "data", "state"))
    return real(str(remembered.get("states", {}).get(vault) or default_state(vault)))


def settings_files(state: str) -> tuple[str, ...]:
    """Where the settings of a state folder may lie: in the DVC project that it belongs to, else in itself."""
    project = os.path.dirname(os.path.dirname(state))
    of_project = [os.path.join(project, PARAMS_FILE)] if os.path.isdir(os.path.join(project, ".dvc")) else []
    return (*of_project, os.path.join(state, PARAMS_FILE))


def real(folder: str) -> str:
    """The folder as it is called without `~`, links and dots."""
    return os.path.realpath(os.path.expanduser(folder))


def vault_named_in(text: str) -> str | None:
    """`vault.path` of a params.yaml in its plainest form; None where it names none. Raises Unclear for any other.

    Of what is no YAML at all it may claim anything: no process has such settings.
    """
    import re

    lines = [line.rstrip() for line in text.splitlines()]
    keys = [line for line in lines if line and line[0] not in " #"]
    if any(not re.fullmatch(r"[a-z_]+:( .*)?", key) for key in keys) or "\t" in text:
        raise Unclear
    sections = [number for number, line in enumerate(lines) if line.startswith("vault:")]
    if not sections:
        return None
    if len(sections) > 1 or lines[sections[0]] != "vault:":
        raise Unclear
    indent, found = 0, []
    for line in lines[sections[0] + 1 :]:
        bare = line.lstrip(" ")
        if not bare or bare.startswith("#"):
            continue
        deep = len(line) - len(bare)
        if not deep:
            break
        indent = indent or deep
        key, colon, value = bare.partition(": ")
        if deep != indent or not colon or not re.fullmatch(r"[a-z_]+", key):
            raise Unclear
        if key == "path":
            found.append(value.partition(" #")[0].strip())
    if not found:
        return None
    if len(found) > 1 or not re.fullmatch(_PLAIN, found[0]) or re.fullmatch(_NO_TEXT, found[0]):
        raise Unclear
    return found[0]


def place_of(vault: str | None, state: str | None, params: str | None) -> tuple[str, str, str]:
    """Vault, state folder and settings file ("" for none in particular) as `infold.locate` finds them, there or not.

    Raises Unclear where that takes more than a look.
    """
    environment = Environment()
    vault, state = vault or environment.get("INFOLD_VAULT"), state or environment.get("INFOLD_STATE")
    repository = None
    remembered: Mapping[str, Any] = {}
    here = os.path.join(os.getcwd(), PARAMS_FILE)
    if vault is None and os.path.isfile(here):
        try:
            with open(here, encoding="utf-8") as file:
                in_here = vault_named_in(file.read())
        except (OSError, ValueError) as error:
            raise Unclear from error
        if in_here is not None:
            repository, vault = here, os.path.join(os.path.dirname(here), in_here)
    may_be_a_name = vault is not None and "/" not in os.path.normpath(vault)
    if vault is None or may_be_a_name or (state is None and repository is None):
        remembered = read_places()
    vault = vault or remembered.get("default")
    if not isinstance(vault, str):
        raise Unclear
    if may_be_a_name:
        vault = _named(vault, remembered) or vault
    vault = real(vault)
    state = real(state) if state else state_of(vault, repository, remembered)
    return vault, state, real(params) if params else repository or ""


def _named(vault: str, remembered: Mapping[str, Any]) -> str | None:
    """The folder of the vault of this name; None where none has it. Raises Unclear where a folder of it is here too."""
    names = remembered.get("names", {})
    name = os.path.normpath(vault)
    if not isinstance(names, dict) or name not in names:
        return None
    if name != vault or not isinstance(names[name], str) or os.path.isdir(name):
        raise Unclear
    return str(names[name])

"""What the Prefect server of one vault leaves in the vault's state folder: where it is, its password, how it fares.

All of it belongs to one vault and to one user: a record that another user could have written is none. Imports no
Prefect.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.durable.files import Disk, make_private
from infold.environment import Environment
from infold.workspace import Workspace

USER: Final = "infold"


@dataclass(frozen=True, slots=True)
class ServerFolder:
    """The files of the server of the vault whose state is in `path`'s parent."""

    path: Path

    @classmethod
    def of(cls, workspace: Workspace) -> ServerFolder:
        """The folder of this vault's server."""
        return cls(workspace.state / "prefect")

    @property
    def home(self) -> Path:
        """Where Prefect keeps its database: PREFECT_HOME, else here."""
        named = Environment().get("PREFECT_HOME")
        return Path(named) if named else self.path

    @property
    def record_file(self) -> Path:
        """Says where the server is, as long as it is up."""
        return self.path / "server.json"

    @property
    def serving_file(self) -> Path:
        """What the process that serves the flows says of itself and of each schedule."""
        return self.path / "serving.json"

    @property
    def password_file(self) -> Path:
        """What the UI and the API ask for, as `user:password`."""
        return self.path / "password"

    @property
    def log(self) -> Path:
        """What server and serving process wrote."""
        return self.path / "server.log"

    def make(self) -> None:
        """The folder, which only this user may enter. Raises StateUnwritable."""
        make_private(self.path)

    def auth_string(self) -> str:
        """`user:password` of the server; made on first use and kept. Raises StateUnwritable."""
        self.make()
        kept = read_own(self.password_file)
        if kept is not None and kept.startswith(f"{USER}:"):
            return kept
        made = f"{USER}:{secrets.token_urlsafe(24)}"
        write_own(self.password_file, made)
        return made

    def record(self) -> dict[str, Any] | None:
        """Where the server is; None where none was started, or another user may have written it."""
        return read_own_json(self.record_file)

    def serving(self) -> dict[str, Any] | None:
        """What the serving process last said."""
        return read_own_json(self.serving_file)


def authorization(auth_string: str) -> dict[str, str]:
    """The header that signs a request in."""
    return {"Authorization": f"Basic {base64.b64encode(auth_string.encode()).decode()}"} if auth_string else {}


def write_own(path: Path, text: str) -> None:
    """Puts `text` at `path`, whole, readable by this user alone from its first byte. Raises StateUnwritable."""
    Disk().write_whole(path, text.encode(), is_shared=True)


def read_own(path: Path) -> str | None:
    """The text of a file that this user owns and nobody else may write; None for any other."""
    try:
        with path.open(encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def write_own_json(path: Path, values: Mapping[str, Any]) -> None:
    """As `write_own`, with JSON."""
    write_own(path, json.dumps(values, indent=1) + "\n")


def read_own_json(path: Path) -> dict[str, Any] | None:
    """As `read_own`, of a JSON object."""
    try:
        values = json.loads(read_own(path) or "null")
    except ValueError:
        return None
    return values if isinstance(values, dict) else None

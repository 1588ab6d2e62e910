"""The entry for this server in the settings of common clients: shown first, written beside what is there, taken back.

A client's settings are JSON with one object of servers. Only the entry `infold` in it is touched; the file as it was is
kept beside it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches, unified_diff
from pathlib import Path
from typing import Any, Final

from infold.durable.files import Disk
from infold.errors import SettingInvalid, UsageError

ENTRY: Final = "infold"
_KEPT: Final = ".before-infold"


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its settings below the home folder, by platform where they differ, and the key of its servers."""

    name: str
    title: str
    file: str
    key: str = "mcpServers"
    on_macos: str | None = None

    def settings(self) -> Path:
        """Where its settings lie, for this user on this machine."""
        return Path.home() / (self.on_macos if self.on_macos and sys.platform == "darwin" else self.file)


_APPLICATIONS: Final = "Library/Application Support"
CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
        Client("claude-code", "Claude Code", ".claude.json"),
        Client(
            "claude-desktop",
            "Claude Desktop",
            ".config/Claude/claude_desktop_config.json",
            on_macos=f"{_APPLICATIONS}/Claude/claude_desktop_config.json",
        ),
        Client("cursor", "Cursor", ".cursor/mcp.json"),
        Client("windsurf", "Windsurf", ".codeium/windsurf/mcp_config.json"),
        Client("gemini", "Gemini CLI", ".gemini/settings.json"),
        Client(
            "vscode",
            "VS Code",
            ".config/Code/User/mcp.json",
            "servers",
            f"{_APPLICATIONS}/Code/User/mcp.json",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A client's settings before and after; `before` is None where there is no file yet."""

    file: Path
    before: str | None
    after: str

    @property
    def is_needed(self) -> bool:
        """Whether anything would change."""
        return self.before != self.after

    def diff(self) -> str:
        """What would change, line by line."""
        before, after = (self.before or "").splitlines(keepends=True), self.after.splitlines(keepends=True)
        return "".join(unified_diff(before, after, str(self.file), str(self.file)))

    def write(self) -> None:
        """Writes the settings; what was there is kept beside them. Raises StateUnwritable."""
        disk = Disk()
        disk.make_folder(self.file.parent)
        kept = self.file.with_name(f"{self.file.name}{_KEPT}")
        if self.before is not None and not kept.exists():
            disk.write_whole(kept, self.before.encode())
        disk.write_whole(self.file, self.after.encode())


def find_client(name: str) -> Client:
    """The client of that name. Raises UsageError."""
    client = CLIENTS.get(name.casefold())
    if client is None:
        near = get_close_matches(name.casefold(), CLIENTS, 1)
        hint = f"Did you mean {near[0]}?" if near else f"Clients that are known: {', '.join(CLIENTS)}."
        raise UsageError(f"There is no client {name!r}.", hint=hint)
    return client


def entry(vault: Path, state: Path, arguments: list[str]) -> dict[str, Any]:
    """The entry that starts this server for this vault, whatever folder the client works in."""
    program = Path(sys.argv[0]).absolute()
    command = str(program) if program.name == "infold" and os.access(program, os.X_OK) else "infold"
    return {"command": command, "args": ["mcp", "--vault", str(vault), "--state", str(state), *arguments]}


def with_entry(client: Client, value: Mapping[str, Any] | None) -> SettingsChange:
    """The client's settings with this entry; without it where `value` is None. Raises SettingInvalid."""
    file = client.settings()
    before = _read(file)
    settings = _parsed(file, before)
    servers = settings.get(client.key, {})
    if not isinstance(servers, dict):
        raise SettingInvalid(f"{client.key} in {file} is not an object.", hint="Correct the file by hand.")
    changed = {name: server for name, server in servers.items() if name != ENTRY or value is not None}
    if value is not None:
        changed[ENTRY] = dict(value)
    if changed == servers:
        return SettingsChange(file, before, before or "")
    after = json.dumps({**settings, client.key: changed}, indent=2, ensure_ascii=False) + "\n"
    return SettingsChange(file, before, after)


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingInvalid(f"{file} cannot be read: {error}", hint="Correct or move the file.") from error


def _parsed(file: Path, text: str | None) -> dict[str, Any]:
    if not (text or "").strip():
        return {}
    try:
        settings = json.loads(text or "")
    except ValueError as error:
        raise SettingInvalid(
            f"{file} is not plain JSON ({error}), so it was left alone.", hint="Add the entry that is shown by hand."
        ) from error
    if not isinstance(settings, dict):
        raise SettingInvalid(f"{file} does not hold an object.", hint="Correct the file by hand.")
    return settings

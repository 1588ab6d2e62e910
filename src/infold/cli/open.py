"""`infold open`: a note in Obsidian, in the editor, or on the screen."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from infold.cli import suggestions
from infold.cli.options import Call, command
from infold.environment import Environment
from infold.errors import SettingInvalid, UsageError
from infold.vault.note_link import is_obsidian, note_link

_LINE_FIRST: Final = ("vi", "vim", "nvim", "nano", "emacs", "micro", "joe", "kak")  # editors that take +LINE FILE
_COLON: Final = ("code", "codium", "subl", "hx", "zed")  # and those that take FILE:LINE


class With(StrEnum):
    """What a note is opened with."""

    AUTO = "auto"
    OBSIDIAN = "obsidian"
    EDITOR = "editor"
    PAGER = "pager"


@command
def open_(
    call: Call,
    *,
    note: Annotated[
        str,
        typer.Argument(
            metavar="NOTE",
            help="A note, as search shows it: path, name, or path:line.",
            autocompletion=suggestions.notes,
        ),
    ],
    how: Annotated[
        With, typer.Option("--with", help="auto takes Obsidian for its own vaults, else $EDITOR, else a pager.")
    ] = With.AUTO,
    link: Annotated[bool, typer.Option("--link", metavar="", help="Only print the address.")] = False,
) -> int:
    """Open a note in Obsidian, in your editor, or on the screen."""
    with call.vault() as vault:
        found = vault.get(note)
        folder = vault.workspace.vault
    if not found.path:
        near = f"Near it: {', '.join(found.near)}." if found.near else "`infold search` finds notes by what they say."
        raise UsageError(f"There is no note {note!r}.", hint=near)
    address, file = note_link(folder, found.path), folder / found.path
    if call.terminal.is_json:
        call.terminal.emit({"path": found.path, "file": str(file), "line": found.start, "link": address})
    elif link:
        call.terminal.say(address)
    else:
        _open(_chosen(how, folder), address, file, found.start)
    return 0


def _chosen(how: With, vault: Path) -> With:
    if how is not With.AUTO:
        return how
    if is_obsidian(vault) and _opener() and (sys.platform != "linux" or Environment().get("DISPLAY")):
        return With.OBSIDIAN
    return With.EDITOR if _editor() else With.PAGER


def _open(how: With, address: str, file: Path, line: int) -> None:
    if how is With.OBSIDIAN:
        opener = _opener()
        if opener is None:
            raise SettingInvalid("Nothing on this machine opens links.", hint="Open it with --with editor or pager.")
        subprocess.run([*opener, address], check=False)  # noqa: S603 - the system's own opener
    elif how is With.EDITOR:
        editor = _editor()
        if not editor:
            raise SettingInvalid("No editor is set.", hint="Set EDITOR, or open it with --with pager.")
        subprocess.run([*editor, *_at_line(Path(editor[0]).name, file, line)], check=False)  # noqa: S603 - the person's own
    else:
        import click

        click.echo_via_pager(file.read_text(encoding="utf-8", errors="replace"))


def _opener() -> list[str] | None:
    names = {"darwin": "open", "win32": "explorer"}
    found = shutil.which(names.get(sys.platform, "xdg-open"))
    return [found] if found else None


def _editor() -> list[str]:
    environment = Environment()
    return shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "")


def _at_line(editor: str, file: Path, line: int) -> list[str]:
    if editor in _LINE_FIRST:
        return [f"+{line}", str(file)]
    return [f"{file}:{line}"] if editor in _COLON else [str(file)]

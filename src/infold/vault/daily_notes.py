"""Where the daily notes of a vault are and how they are named: infold's own setting, else Obsidian's, else `daily/`.

Reads `.obsidian/daily-notes.json` and nothing else. What is written into a daily note belongs to `notebook.daily`.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.vault.moment import day_in, written
from infold.vault.names import is_note_name, without_suffix

if TYPE_CHECKING:
    from infold.settings import NotebookParams

OBSIDIAN_DAILY: Final = ".obsidian/daily-notes.json"
FOLDER: Final = "daily"
FORMAT: Final = "YYYY-MM-DD"


class DailyNotes(NamedTuple):
    """The folder ('' is the vault's own), the format of names, and the template's path without `.md` ('' is none).

    `origin` says where they are from, for messages.
    """

    folder: str = FOLDER
    format: str = FORMAT
    template: str = ""
    origin: str = "the defaults"

    def path(self, at: datetime) -> str:
        """The note of the day of `at`, vault-relative."""
        name = written(at, self.format)
        return "/".join(part for part in (self.folder, name if is_note_name(name) else f"{name}.md") if part)

    def day(self, path: str) -> date | None:
        """The day whose note stands at `path`; None for a path that is no daily note."""
        prefix = f"{self.folder}/" if self.folder else ""
        if not path.startswith(prefix):
            return None
        return day_in(without_suffix(path[len(prefix) :]), without_suffix(self.format))


def daily_notes(root: Path, params: NotebookParams) -> DailyNotes:
    """The daily notes of the vault at `root`: each part by `params`, else by Obsidian's settings, else by default.

    Settings of Obsidian that cannot be read count as absent: a log is worth more than its name.
    """
    obsidian = _obsidian(root)
    folder, pattern = params.daily_folder, params.daily_format
    settings = "notebook.daily_folder and notebook.daily_format"
    origin = settings if folder is not None or pattern is not None else OBSIDIAN_DAILY if obsidian is not None else ""
    found = obsidian or {}
    return DailyNotes(
        folder=_clean(folder if folder is not None else found.get("folder", "") if obsidian is not None else FOLDER),
        format=pattern or found.get("format") or FORMAT,
        template=_clean(found.get("template", "")),
        origin=origin or "the defaults",
    )


def _obsidian(root: Path) -> dict[str, str] | None:
    try:
        found = json.loads((root / OBSIDIAN_DAILY).read_bytes())
    except (OSError, ValueError):
        return None
    return {key: value for key, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else None


def _clean(folder: str) -> str:
    return folder.strip().removeprefix("./").strip("/")

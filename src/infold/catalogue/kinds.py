"""What kind of note a path names. Apart from the notes table, so that asking loads no parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold.vault.daily_notes import DailyNotes, daily_notes
from infold.vault.names import stem

if TYPE_CHECKING:
    from infold.settings import Params

_RULE: Final = 1  # raised when a path may become of another kind
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def inbox_of(params: Params) -> str:
    """The path of the inbox, where it lies among the notes."""
    return params.vault.inbox_file.removeprefix("./")


def kinds_told_by(params: Params, root: Path) -> str:
    """What the kinds of notes depend on beside their paths."""
    daily = daily_notes(root, params.notebook)
    return repr((_RULE, params.vault.inbox_file, params.summary.index_filename_pattern, daily))


def kind_of(params: Params, root: Path | None = None) -> Callable[[str], str]:
    """The rule that tells the kind of a note by its path: inbox, index, daily or standard (spec 1, Phase 2).

    A daily note is named by a date, or as the vault at `root` names its daily notes.
    """
    daily = daily_notes(root, params.notebook) if root is not None else DailyNotes()
    inbox = inbox_of(params)
    in_daily = f"{daily.folder}/" if daily.folder else ""
    pattern = params.summary.index_filename_pattern.casefold()

    def kind(path: str) -> str:
        if path == inbox:
            return "inbox"
        may_be_index = pattern and pattern in path.casefold()
        first = path[path.rfind("/") + 1 :][:1]
        if not (may_be_index or first.isdecimal() or path.startswith(in_daily)):  # most of them, told at once
            return "standard"
        name = stem(path)
        if pattern and pattern in name.casefold():
            return "index"
        if not (name[:1].isdecimal() or path.startswith(in_daily)):
            return "standard"
        is_daily = (_DATE.fullmatch(name) and _is_date(name)) or daily.day(path) is not None
        return "daily" if is_daily else "standard"

    return kind


def _is_date(name: str) -> bool:
    try:
        date.fromisoformat(name)
    except ValueError:
        return False
    return True

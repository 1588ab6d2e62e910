"""`daily_log`: one file a day that only grows (spec 3, sections 3 and 6).

Where daily notes are belongs to `vault.daily_notes`, what an entry looks like to `notebook.entries`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from infold.durable.change import ChangeKind
from infold.errors import NoteUnreadable, PathRefused
from infold.notebook.entries import closing_of, entry_text
from infold.notebook.names import page_path
from infold.notebook.placing import cleaned, with_line_ends
from infold.text import content_hash
from infold.vault.daily_notes import DailyNotes, daily_notes
from infold.vault.files import decode
from infold.vault.lines import BOM
from infold.vault.moment import written
from infold.vault.names import stem
from infold.vault.writing import NoteWriter, note_writer, on_what_stands
from infold.workspace import Workspace

_RECENT: Final = "recent-entries.json"
_PLACEHOLDER: Final = re.compile(r"\{\{\s*(date|time|title)\s*(?::([^}]*))?\}\}", re.IGNORECASE)
_BLANK: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry in the log. `is_repeat`: it was there already, from moments ago, and was not written again."""

    path: str
    message: str
    entry: str  # as it stands there
    is_repeat: bool = False
    id: str = ""  # takes it back (`infold undo`); '' where nothing was written


def daily_log(workspace: Workspace, entry: str, now: datetime | None = None) -> Logged:
    """Appends `entry` to the log of today, local time, which is made if need be; nothing in it is ever changed.

    The same entry again within `notebook.repeat_seconds` is one entry. Raises UsageError where there is nothing to say;
    PathRefused and NoteUnreadable, naming the setting or the file; VaultBusy; StateUnwritable.
    """
    at = local(now)
    block = entry_text(entry, at)
    names = daily_notes(workspace.vault, workspace.params.notebook)
    with note_writer(workspace) as writer:
        path = daily_path(workspace, names, at)

        def attempt() -> Logged:
            before = writer.read(path)
            text = decode(before, path) if before is not None else ""
            recent = _Recent(workspace, writer)
            if said := recent.find(entry, path, text, at):
                message = f"{path} has this entry from moments ago; it was not written again."
                return Logged(path, message, said, is_repeat=True)
            start, notice = (
                (text, "") if text.strip(BOM + _BLANK) else _beginning(workspace, writer, names, path, at, text)
            )
            recent.add(entry, path, block, at)
            change = writer.write(
                path, before, with_entry(start, block).encode(), ChangeKind.LOG, f"{path} got an entry."
            )
            return Logged(path, f"Logged in {path}.{notice}", block, id=change.id)

        return on_what_stands(attempt)


def local(now: datetime | None) -> datetime:
    """`now`, or the present moment, in local time."""
    return (now or datetime.now().astimezone()).astimezone()


def daily_path(workspace: Workspace, names: DailyNotes, at: datetime) -> str:
    """The log of the day of `at`. Raises PathRefused, naming the setting, where it could not be."""
    try:
        return page_path(workspace.vault, names.path(at))
    except PathRefused as error:
        raise PathRefused(
            f"The daily log cannot be at {names.path(at)!r}: {error}", hint=f"The name is from {names.origin}."
        ) from error


def with_entry(text: str, block: str) -> str:
    """`text` with `block` after a blank line at its end: `text` is the beginning of what comes of it."""
    said = text.rstrip(_BLANK)
    space = text[len(said) :]
    last = re.split(r"\r\n|\r|\n", space)
    gap = "\n" * (max(0, 3 - len(last)) if said.strip(BOM) else 0)
    if last[-1] and not gap:
        gap = "\n"
    if closing := closing_of(said):
        gap = f"{closing if len(last) == 1 else closing.lstrip(chr(10))}\n\n"
    return text + with_line_ends(f"{gap}{block}\n", text)


def _beginning(
    workspace: Workspace, writer: NoteWriter, names: DailyNotes, path: str, at: datetime, text: str
) -> tuple[str, str]:
    """What a day's log begins with: the vault's template, else a heading; and what there is to say about that."""
    notice = ""
    if names.template:
        try:
            template = page_path(workspace.vault, names.template)
            data = writer.read(template)
            if data is not None:
                return text + _filled(decode(data, template).removeprefix(BOM), path, at), ""
            notice = f" The template {names.template} of {names.origin} is missing."
        except (PathRefused, NoteUnreadable) as error:
            notice = f" The template of {names.origin} could not be used: {error}"
    return f"{text}# Daily Log — {at:%Y-%m-%d}\n", notice


def _filled(template: str, path: str, at: datetime) -> str:
    """A template of Obsidian's with its placeholders filled in."""

    def value(found: re.Match[str]) -> str:
        kind = found[1].lower()
        if kind == "title":
            return stem(path)
        return written(at, (found[2] or "").strip() or ("YYYY-MM-DD" if kind == "date" else "HH:mm"))

    return _PLACEHOLDER.sub(value, template)


def _key(entry: str) -> str:
    return content_hash(cleaned(entry).strip())


class _Recent:
    """The entries of the last moments. Recorded before they are written, and valid only while the log holds them."""

    def __init__(self, workspace: Workspace, writer: NoteWriter) -> None:
        self._file = workspace.notebook / _RECENT
        self._seconds = workspace.params.notebook.repeat_seconds
        self._disk = writer.disk
        self._known = self._load()

    def find(self, entry: str, path: str, text: str, at: datetime) -> str | None:
        """The same entry as it stands in the log; None where it is new."""
        key = _key(entry)
        for item in self._fresh(at):
            said = str(item.get("block"))
            if (item.get("entry"), item.get("path")) == (key, path) and with_line_ends(said, text) in text:
                return said
        return None

    def add(self, entry: str, path: str, block: str, at: datetime) -> None:
        """Remembers an entry that is about to be written."""
        if not self._seconds:
            return
        item = {"entry": _key(entry), "path": path, "at": at.timestamp(), "block": block}
        self._disk.make_folder(self._file.parent)
        self._disk.write_whole(self._file, json.dumps([*self._fresh(at), item]).encode(), is_durable=False)

    def _fresh(self, at: datetime) -> list[dict[str, Any]]:
        return [item for item in self._known if abs(at.timestamp() - float(item.get("at", 0))) < self._seconds]

    def _load(self) -> list[dict[str, Any]]:
        try:
            known = json.loads(self._file.read_bytes())
        except (OSError, ValueError):  # lost or damaged, it costs an entry said twice
            return []
        return [item for item in known if isinstance(item, dict)] if isinstance(known, list) else []

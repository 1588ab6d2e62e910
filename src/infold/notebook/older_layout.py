"""The older layout of an agent's memory (spec 3, section 11): which files moved where, and reading by old paths.

Paths are of the vault. Moving the files is a change of notes like any other, and belongs to `knowledge.note_changes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from infold.settings import NotebookParams

RETIRED: Final = ("runtime/reminders.md",)  # nothing took its place in the notebook
_MOVED: Final[Mapping[str, str]] = {
    "contacts.md": "brain/memory/core/contacts.md",
    "preferences.md": "brain/memory/core/preferences.md",
    "standing-orders.md": "runtime/standing-orders.md",
    "external-communications.md": "runtime/external-communications.md",
}


def moves(params: NotebookParams) -> dict[str, str]:
    """Where each file of the older layout belongs, by its old path."""
    folder = _reference(params)
    return {old: f"{folder}/{name}" for name, old in _MOVED.items()} if folder else {}


def folders(params: NotebookParams) -> tuple[str, ...]:
    """The folders of a notebook (spec 3, section 3), as the settings name them."""
    return tuple(filter(None, ("lists", _reference(params), "knowledge", params.daily_folder or "daily")))


def old_place(vault: Path, params: NotebookParams, path: str) -> str | None:
    """Where the note `path` of the notebook still lies, while it was not moved; None for any other."""
    old = {new: old for old, new in moves(params).items()}.get(path if path.endswith(".md") else f"{path}.md")
    if old is None or (vault / moves(params)[old]).exists():
        return None
    file = vault / old
    return old if file.is_file() and not file.is_symlink() else None


def _reference(params: NotebookParams) -> str:
    return params.reference_folder.strip().strip("/").removeprefix("./")

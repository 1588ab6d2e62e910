"""Where a click on a note's name leads: into Obsidian where the vault is one of its own, else to the file."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def note_link(vault: Path, path: str) -> str:
    """The address of a note: Obsidian's where `.obsidian` lies in the vault, or above it; else the file's."""
    file = vault / path
    if is_obsidian(vault):
        return f"obsidian://open?path={quote(str(file), safe='')}"
    return file.absolute().as_uri()


def is_obsidian(vault: Path) -> bool:
    """Whether Obsidian knows the vault."""
    return any((folder / ".obsidian").is_dir() for folder in (vault, *vault.parents[:1]))

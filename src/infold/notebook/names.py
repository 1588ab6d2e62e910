"""Which note a page name means: an existing one where there is one, else a new one that every disk can hold.

Looks into folders, writes nothing. What is written belongs to `notebook.pages` and `notebook.daily`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import Final

from infold.errors import NoteUnreadable, PathRefused
from infold.vault.files import safe_path
from infold.vault.names import folded, is_note_name, name_problem, shown_name

_FORBIDDEN: Final = re.compile(r'[<>:"|?*\\]')  # no Windows disk, and so no folder synced with one, can hold these
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|\Z)", re.IGNORECASE)
_MAX_NAME_BYTES: Final = 200  # a file system holds 255; the rest is for suffixes of sync programs and temporary names


def page_path(root: Path, page: str) -> str:
    """The vault-relative path of the note that `page` names, whether it exists or not; `.md` may be left out.

    A name that differs from an existing note or folder in case or Unicode form only means that one. Raises PathRefused
    for a path that leaves the vault, is hidden, passes a symbolic link, names two notes or what is no note, or that is
    new and could not be kept on every disk; NoteUnreadable for a note that cloud sync has not downloaded.
    """
    shown = shown_name(page)
    if not page.strip() or name_problem(page):
        raise PathRefused(f"{shown!r} is not the name of a page.", hint="Give a path such as lists/shopping.md.")
    parts = page.strip().removeprefix("./").split("/")
    if any(part in ("", ".", "..") for part in parts) or parts[0].startswith("~"):
        raise PathRefused(
            f"{shown!r} is not a path within the vault.",
            hint="Pages are named from the vault's top, such as lists/shopping.md.",
        )
    if any(part.startswith(".") for part in parts):
        raise PathRefused(
            f"{shown!r} is hidden: a folder or file whose name begins with a dot is no part of the notebook."
        )
    *folders, name = parts
    place: list[str] = []
    for part in folders:
        place.append(_existing(root, place, part) or _new(part, shown))
    place.append(_note(root, place, name, shown))
    path = "/".join(place)
    safe_path(root, path)
    return path


def _note(root: Path, place: list[str], name: str, shown: str) -> str:
    """The note's own name in its folder."""
    folder = root.joinpath(*place)
    wanted = [name] if is_note_name(name) else [f"{name}.md", f"{name}.markdown"]
    found = next((hit for candidate in wanted if (hit := _existing(root, place, candidate))), None)
    if found is not None:
        file = folder / found
        if file.exists() and not file.is_file():
            raise PathRefused(f"{shown!r} is not a note: something that is no file has that name.")
        return found
    new = _new(wanted[0], shown)
    if not is_note_name(name) and (folder / name).is_file():
        raise PathRefused(f"{shown!r} is a file that is no note.", hint="Only Markdown files can be written.")
    if (folder / f".{wanted[0]}.icloud").exists():
        raise NoteUnreadable(
            f"{shown!r} is a placeholder of cloud sync: the note is not on this disk.", hint="Download it first."
        )
    return new


def _existing(root: Path, place: list[str], name: str) -> str | None:
    """The entry of a folder that `name` means, as it is written there."""
    try:
        names = os.listdir(root.joinpath(*place))  # noqa: PTH208 - names, as they are
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NoteUnreadable(f"The folder {'/'.join(place) or '.'} cannot be read: {error.strerror}.") from error
    if name in names:
        return name
    same = [other for other in names if folded(other) == folded(name)]
    if len(same) > 1:
        raise PathRefused(f"{name!r} may mean {' or '.join(sorted(same))}: their names differ in case only.")
    return same[0] if same else None


def _new(name: str, shown: str) -> str:
    """`name` as a new file or folder gets it: in composed Unicode form."""
    why = (
        'holds one of the signs < > : " | ? * \\'
        if _FORBIDDEN.search(name)
        else "begins or ends with a space, or ends with a dot"
        if name != name.strip() or name.endswith(".") or name.removesuffix(".md") != name.removesuffix(".md").rstrip()
        else "is reserved by Windows"
        if _RESERVED.match(name)
        else f"has more than {_MAX_NAME_BYTES} bytes"
        if len(name.encode()) > _MAX_NAME_BYTES
        else ""
    )
    if why:
        raise PathRefused(
            f"{shown!r} cannot be made: the name {name!r} {why}, so some disks and sync programs cannot hold it.",
            hint="Choose another name.",
        )
    return unicodedata.normalize("NFC", name)

"""Where a link leads: Obsidian's rules, over the names of all notes.

Pure: names in, names out. What a link is written like belongs to `vault.note`, who links to whom to `vault.graph`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from infold.vault.names import NOTE_SUFFIXES, folded, is_note_name, without_suffix
from infold.vault.records import Link

# What Obsidian shows or opens beside notes, and the files that people attach. A closed list, because note names may
# hold dots (`foo.bar` is a note of Dendron's, not a file of type `bar`).
_PICTURES: Final = "avif bmp gif heic ico jpeg jpg png svg tif tiff webp"
_SOUND_AND_FILM: Final = "3gp aac flac m4a mkv mov mp3 mp4 oga ogg ogv opus wav webm"
_DOCUMENTS: Final = """base canvas csv doc docx drawio epub excalidraw htm html ics json key odp ods odt pages pdf ppt
    pptx rtf tex toml txt xls xlsx xml yaml yml 7z gz rar tar zip"""
ATTACHMENT_SUFFIXES: Final = frozenset(f"{_PICTURES} {_SOUND_AND_FILM} {_DOCUMENTS}".split())
_DENDRON_VAULT: Final = re.compile(r"dendron://[^/]*/", re.IGNORECASE)
_MANY: Final = 8  # notes of one name, from which a path is looked up in a table of all paths
_SUFFIX: Final = re.compile(r"\.([A-Za-z0-9]{1,10})\Z")


def is_attachment(target: str, *, is_wiki: bool = True) -> bool:
    """Whether `target` names a file that is no note, so that it cannot dangle.

    A Markdown link with any file suffix but a note's is one, and so is a link to a folder (`notes/`). Of wiki-links
    only those with a known suffix are, because `[[foo.bar]]` may be a note.
    """
    if is_note_name(target):
        return False
    if not is_wiki and target.endswith("/"):
        return True
    suffix = _SUFFIX.search(target)
    return suffix is not None and (not is_wiki or suffix[1].lower() in ATTACHMENT_SUFFIXES)


def alias_table(notes: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    """Alias to path. Where two notes claim an alias, the one whose path sorts first has it."""
    table: dict[str, str] = {}
    for path, aliases in sorted((path, tuple(aliases)) for path, aliases in notes):
        for alias in aliases:
            table.setdefault(alias, path)
    return table


class LinkResolver:
    """Finds the note a link leads to.

    Case and Unicode form never matter. In this order: a link with `./` or `../` counts from its source's folder; one
    with a leading `/` from the vault; a path from the root of the vault wins next; then a note of that name anywhere,
    or at the end of that path. Of several the one in the source's folder wins, then those below that folder, then the
    shortest path, then the alphabet. A front-matter alias counts only where no file fits.
    """

    def __init__(self, paths: Iterable[str], aliases: Mapping[str, str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(paths):
            form = folded(path)
            name = without_suffix(form[form.rfind("/") + 1 :])
            self._by_name.setdefault(name, []).append(path)
        self._aliases: dict[str, str] = {}
        for alias, path in sorted(aliases.items()):
            self._aliases.setdefault(folded(alias.strip()), path)

    def resolve(self, target: str, source: str) -> str | None:
        """The path of the note that `target`, decoded and without anchor, means in the note `source`; None if none.

        The empty target of `[[#Heading]]` is the source itself.
        """
        if not target:
            return source
        found = self._file(target, source)
        if found is None and "%" in target:
            found = self._file(unquote(target), source)
        return found if found is not None else self._aliases.get(folded(target.strip()))

    def resolve_link(self, link: Link, source: str) -> str | None:
        """As `resolve`, for a whole link: also Dendron's reversed form, see `resolve_reversed`."""
        return self.resolve(link.target, source) or self.resolve_reversed(link.alias, source, is_wiki=link.is_wiki)

    def resolve_reversed(self, shown: str | None, source: str, *, is_wiki: bool) -> str | None:
        """The note that the right side of `[[label|target]]` means; only asked where the left side leads nowhere.

        Dendron writes its links this way round. A file must have that name: an alias would turn too many labels of
        ordinary dangling links into targets.
        """
        if not is_wiki or not shown:
            return None
        target = _DENDRON_VAULT.sub("", shown).partition("#")[0].strip()
        return self._file(target, source) if target else None

    def _file(self, target: str, source: str) -> str | None:
        form = _DENDRON_VAULT.sub("", folded(target.strip()))
        if form.startswith(("./", "../")):
            base = folded(source).rpartition("/")[0]
            inside = _joined(base, form)
            return self._at(inside) if inside else None
        rooted = form.startswith("/")
        form = form.strip("/")
        exact = self._at(form)
        if exact is not None or rooted:
            return exact
        name = form.rpartition("/")[2]
        same = self._by_name.get(name) or ()
        if not same and name.endswith(NOTE_SUFFIXES):
            form = without_suffix(form)
            same = self._by_name.get(without_suffix(name)) or ()
        if "/" in form:
            ending = f"/{form}"
            same = [path for path in same if without_suffix(folded(path)).endswith(ending)]
        if len(same) < 2:
            return same[0] if same else None
        folder = source.rpartition("/")[0]
        return min(same, key=lambda path: _nearness(path, folder))

    def _at(self, form: str) -> str | None:
        """The note whose path, with or without its suffix, is `form` where case and Unicode form do not matter."""
        name = form[form.rfind("/") + 1 :]
        same = [path for key in {name, without_suffix(name)} for path in self._by_name.get(key, ())]
        if len(same) > _MANY:
            return self._by_path.get(form)
        return min((path for path in same if form in _forms(path)), default=None)

    @cached_property
    def _by_path(self) -> dict[str, str]:
        """Path by each of its forms: made where so many notes have one name that they are not gone through."""
        found: dict[str, str] = {}
        for path in sorted(path for same in self._by_name.values() for path in same):
            for form in _forms(path):
                found.setdefault(form, path)
        return found


def _forms(path: str) -> tuple[str, str]:
    """A path as links may write it, folded: with its suffix, and without."""
    form = folded(path)
    return form, without_suffix(form)


def _joined(base: str, form: str) -> str:
    """`form` from folder `base`, `.` and `..` worked out; '' where it climbs out of the vault."""
    parts = base.split("/") if base else []
    for part in form.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _nearness(path: str, folder: str) -> tuple[bool, bool, int, int, str]:
    own = path.rpartition("/")[0]
    below = not folder or own.startswith(f"{folder}/")
    return own != folder, not below, path.count("/"), len(path), path

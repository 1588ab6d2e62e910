"""Names of notes: what may be one, and when two are the same.

Pure functions over names and vault-relative paths with `/`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

NOTE_SUFFIXES: Final = (".md", ".markdown")

_NOTE_SUFFIX: Final = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_UNSHOWN: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def is_note_name(name: str) -> bool:
    """Whether a file of this name is a note: `.md` or `.markdown`, in either case."""
    return name.lower().endswith(NOTE_SUFFIXES)


def without_suffix(name: str) -> str:
    """`name` without its `.md` or `.markdown`."""
    return name[:-3] if name.endswith(".md") else _NOTE_SUFFIX.sub("", name)


def stem(path: str) -> str:
    """The name of the note at `path`, without folders and without `.md`."""
    return without_suffix(path.rpartition("/")[2])


def folded(name: str) -> str:
    """The form in which names that differ in case or Unicode form only are equal."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def name_problem(name: str) -> str:
    """Why no note or folder of this name can be taken in; '' where one can."""
    if name.isascii() and name.isprintable():
        return ""
    if _SURROGATE.search(name):
        return "its name is not valid UTF-8"
    return "its name holds a control character" if _CONTROL.search(name) else ""


def shown_name(name: str) -> str:
    """`name` for people and reports, with undecodable bytes and control characters as escapes."""
    return _UNSHOWN.sub(_escape, name)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8, as the system hands it over
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

"""`infold get`: some lines of a note, as search results name them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from infold.cli.options import Call, command
from infold.errors import PathRefused, UsageError

if TYPE_CHECKING:
    from infold.cli.place import Place
    from infold.vault.portions import Portion

_TRANSCRIPT: Final = re.compile(
    r"(?P<path>sessions/.+\.jsonl)(?::(?P<line>\d{1,9})(?::(?P<count>\d{1,9})|-(?P<last>\d{1,9}))?)?"
)


@command
def get(
    call: Call,
    name: Annotated[
        str, typer.Argument(metavar="PATH[:LINE[:COUNT]]", help="A note, by its path or name.", show_default=False)
    ],
) -> int:
    """Print a note, or some lines of it.

    The path is as search shows it, such as `notes/bread.md:12-20`; `notes/bread:12:9` is the same. The folders and
    the `.md` may be left out where only one note has the name. A note that is not there is no error: nothing is
    printed, and names that come near are on stderr. Of a session (`sessions/talk.jsonl:3-7`) what was said is printed.
    """
    from infold.vault.portions import read_portion

    place = call.place()
    try:
        portion = _transcript(place, name) or read_portion(place.vault, place.params.vault, name)
    except PathRefused as error:  # the request is wrong, not a file of the vault
        raise UsageError(str(error), hint=error.hint) from error
    missing = "" if portion.lines else _missing(place, name, portion)
    if call.terminal.is_json:
        call.terminal.emit(
            {
                "path": portion.path or None,
                "text": portion.text,
                "start": portion.start,
                "lines": portion.lines,
                "total": portion.total,
                "near": list(portion.near),
                "hint": missing,
            }
        )
    else:
        text = portion.text.removeprefix("\ufeff")
        sys.stdout.write(text if not text or text.endswith(("\n", "\r")) else text + "\n")
    if missing:
        sys.stderr.write(f"{missing}\n")
    return 0


def _missing(place: Place, name: str, portion: Portion) -> str:
    """Why there are no lines, and what to try."""
    if portion.path and portion.start <= portion.total:
        return "No line was asked for."
    if portion.path:
        return f"{portion.path} has {portion.total} lines; there is no line {portion.start}."
    if (place.vault / name).is_dir():
        return f"{name or '.'} is a folder; `infold search WORDS --path FOLDER` looks into one."
    if portion.near:
        return f"There is no note {name}. Near it: {', '.join(portion.near)}"
    return f"There is no note {name}. `infold search` finds notes by their words."


def _transcript(place: Place, name: str) -> Portion | None:
    """What was said on these lines of a transcript; None for what names none."""
    found = _TRANSCRIPT.fullmatch(name)
    if found is None:
        return None
    from infold.errors import NoteUnreadable
    from infold.notebook.sessions import turns_text
    from infold.vault.portions import Portion

    start = int(found["line"] or 1)
    count = int(found["count"]) if found["count"] else None
    last = int(found["last"]) if found["last"] else start + count - 1 if count else None
    try:
        text = turns_text(place.workspace.sessions, found["path"], start, last)
    except NoteUnreadable:
        return None
    lines = text.count("\n") + 1 if text else 0
    return Portion(found["path"], text, start, lines, lines)

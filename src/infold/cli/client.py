"""The thin side of `infold search` and `infold get`: asks the process that serves searches, where there is one.

It gives the words to the resident as they were typed and prints what comes back. Whatever is unusual, and whatever
goes wrong, is left to the whole program, so that there is one way in which it is said. Nothing heavy is loaded.
"""

from __future__ import annotations

import os
import sys

import infold
from infold.environment import VARIABLES, Environment
from infold.place import Unclear, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RECORD = os.path.join("derived", "index", "resident.json")  # in the state folder
SERVED = ("search", "get")
INTERRUPTED = 130
INTERRUPTED_NOTICE = (
    "\nInterrupted. Every note is as it was or wholly changed, never in between; run the command again."
)
ANSWER_SECONDS = 20.0
OF_PLACE = ("--vault", "--state", "--params")
_WITH_VALUE = ("--source", "--path", "--tag", "--since", "--until", "-n", "--limit", "--min-score")
ALONE = ("--explain", "--no-sync", "--json", "--quiet", "-q")
# What has no part in what a search finds, or goes to the resident by another way.
_NO_MATTER = frozenset(
    [
        "INFOLD_VAULT",
        "INFOLD_STATE",
        "PATH",
        "VISUAL",
        "EDITOR",
        "DISPLAY",
        "NO_COLOR",
        "FORCE_COLOR",
        "TERM",
        "XDG_RUNTIME_DIR",
        "XDG_DATA_HOME",
    ]
)


def answered(words: list[str]) -> int | None:
    """The exit code, where a resident's answer was printed; None where the whole program has to do it."""
    said = _said(words)
    if said is None:
        return None
    try:
        sys.stdout.write(said[0])
        sys.stdout.flush()
        sys.stderr.write(said[1])
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def is_coloured() -> bool:
    """Colours where a person looks and has not said otherwise (NO_COLOR, FORCE_COLOR)."""
    environment = Environment()
    wanted = sys.stdout.isatty() or bool(environment.get("FORCE_COLOR"))
    return wanted and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def surroundings() -> list[str]:
    """What of the environment an answer depends on: the variables' values, each program has them in one order."""
    environment = Environment()
    return [environment.get(name) or "" for name in VARIABLES if name not in _NO_MATTER]


def code() -> list[str]:
    """What tells this program from another one, and from what it was before an upgrade."""
    file = os.path.abspath(infold.__file__)
    return [infold.__version__, file, str(os.stat(file).st_mtime_ns), sys.executable]


def options_of_place(words: list[str]) -> dict[str, str] | None:
    """`--vault`, `--state` and `--params` among the words of a search; None where an option is none of the usual."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            continue
        if word.startswith(("- ", "---")):
            return None
        name, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            if name not in OF_PLACE and name not in _WITH_VALUE:
                return None
        elif word in OF_PLACE or word in _WITH_VALUE:
            following = next(rest, None)
            if following is None:
                return None
            value = following
        elif word not in ALONE and not (word.startswith("-n") and word[2:].isascii() and word[2:].isdecimal()):
            return None
        if name in OF_PLACE:
            found[name] = value
    return found


def _said(words: list[str]) -> tuple[str, str] | None:
    options = options_of_place(words[1:])
    if options is None or "" in options.values() or Environment().get("INFOLD_RESIDENT") == "0":
        return None
    try:
        place = place_of(*(options.get(name) for name in OF_PLACE))
        with open(os.path.join(place[1], _RECORD), "rb") as file:
            record = file.read()
    except (OSError, ValueError, Unclear):
        return None
    return _asked(record, place, words)


def _asked(record: bytes, place: tuple[str, str, str], words: list[str]) -> tuple[str, str] | None:
    """What the resident of this record says on stdout and on stderr; None where it does not."""
    from infold.search.shared.frames import Disconnected, connect, is_private, receive, send

    try:
        address, word = _address_in(record)
        if not is_private(os.path.dirname(address)):
            return None
        colours = "coloured" if is_coloured() else "plain"
        connection = connect(address, word, ANSWER_SECONDS)
        try:
            send(connection, packed([colours, *code(), *place, *surroundings(), *words]))
            said = unpacked(receive(connection))
        finally:
            connection.close()
    except (OSError, Disconnected, ValueError, KeyError, TypeError):
        return None
    return (said[0], said[1]) if len(said) == 2 else None


def packed(texts: Sequence[str]) -> bytes:
    """Texts as resident and client send them: how long each is, then all of them. Read without a module of any kind."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join((",".join(str(len(part)) for part in parts).encode(), b"\n", *parts))


def unpacked(body: bytes) -> list[str]:
    """The texts of a body that `packed` made. Raises ValueError for any other."""
    lengths, _, rest = body.partition(b"\n")
    texts: list[str] = []
    at = 0
    for length in map(int, lengths.split(b",") if lengths else ()):
        texts.append(rest[at : at + length].decode("utf-8", "surrogatepass"))
        at += length
    if at != len(rest):
        raise ValueError("not as long as it says")
    return texts


def _address_in(record: bytes) -> tuple[str, str]:
    """Address and word of a resident's record; JSON, which is read by itself only where a sign is written otherwise."""
    text = record.decode("ascii")
    if "\\" in text:
        import json

        card = json.loads(text)
        return card["address"], card["word"]
    address, word = (text.partition(f'"{name}": "')[2].partition('"')[0] for name in ("address", "word"))
    if not (address and word):
        raise ValueError("no record of a resident")
    return address, word

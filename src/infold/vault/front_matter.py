"""Front matter: the YAML between two `---` lines at the very top of a note.

Reads it, never writes it. What cannot be read is a problem with a line number, never an exception: the note is kept as
text (DESIGN, What bad input gets).
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Final

from infold.vault.lines import BOM
from infold.vault.records import FrontMatter

MAX_CHARACTERS: Final = 64 * 1024
MAX_DEPTH: Final = 64
TRUST_OF_NOTES: Final = "vault"  # whose text a note is, where it says nothing of that
TRUST_OF_OTHERS: Final = "external"  # text from outside, wherever it came to stand

_OPEN: Final = re.compile(r"---[ \t]*(?=\r|\n)")
_CLOSE: Final = re.compile(r"(?:\r\n?|\n)(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)")
_BLANK_FIRST_LINE: Final = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t]*[\r\n]")
_LOOKS_LIKE_YAML: Final = re.compile(r"(?:\r\n?|\n)[\w.-]+[ \t]*:(?:[ \t\r\n]|\Z)")
_OPENERS: Final = re.compile(r"[\[{]|[-?:](?=\s)")  # what can open a level of nesting
# Lines that YAML reads in one way only: see `_load_plain`.
_PLAIN_WORDS: Final = r"[A-Za-z][A-Za-z0-9_/.-]*(?:[ ][A-Za-z][A-Za-z0-9_/.-]*)*"
# Text that begins with a letter, or has several words, has any sign but those that may end it.
_SIGN: Final = r"[!-\"$-9;-~\w]"
_PLAIN_TEXT: Final = rf"[^\W\d_](?:[ ]?{_SIGN})*|[0-9]{_SIGN}*(?:[ ]{_SIGN}+)+"
_PLAIN_ID: Final = r"(?!0[bx])[0-9]+[A-Za-z][0-9A-Za-z_]*"  # neither number nor date, whatever letters it has
_PLAIN_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PLAIN_LINE: Final = re.compile(
    rf"""(?P<name>[A-Za-z_][A-Za-z0-9_-]*):(?:[ ](?:
        (?P<words>{_PLAIN_TEXT}) | (?P<number>0|[1-9][0-9]{{0,17}}) | (?P<id>{_PLAIN_ID}|{_PLAIN_UUID}) |
        (?P<day>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}) | \[(?P<list>{_PLAIN_WORDS}(?:,[ ]{_PLAIN_WORDS})*)\] |
        '(?P<single>[^'\x00-\x1f\x7f-\x9f\ufeff-\uffff]*)' | "(?P<double>[^"\\\x00-\x1f\x7f-\x9f\ufeff-\uffff]*)"
    ))?[ ]*""",
    re.VERBOSE,
)
_PLAIN_ITEM: Final = re.compile(rf"(?P<indent>[ ]*)-[ ](?P<words>{_PLAIN_WORDS})[ ]*")
_WORDS_OF_YAML: Final = frozenset(("y", "yes", "n", "no", "true", "false", "on", "off", "null"))
_FLAGS: Final = {"true": True, "false": False}


def read_front_matter(text: str) -> FrontMatter | None:
    """The front matter of `text`, or None where it has none.

    A first line `---` followed by a blank line opens front matter only where valid YAML follows: it may be a rule.
    """
    start = 1 if text.startswith(BOM) else 0
    opening = _OPEN.match(text, start)
    if opening is None:
        return None
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        if _LOOKS_LIKE_YAML.match(text, opening.end()):
            return FrontMatter(start, start, problem="line 1: front matter is opened but never closed; kept as text")
        return None
    values, problem = _load(text[opening.end() : closing.start()])
    if (problem or not values) and _BLANK_FIRST_LINE.match(text, opening.end()):
        return None
    return FrontMatter(start, closing.end(), values, problem)


def without_front_matter(text: str) -> str:
    """`text` below its front matter, whose values are not read where its two lines stand beyond doubt."""
    start = 1 if text.startswith(BOM) else 0
    opening = _OPEN.match(text, start)
    if opening is None:
        return text[start:]
    closing = _CLOSE.search(text, opening.end())
    if closing is not None and not _BLANK_FIRST_LINE.match(text, opening.end()):
        return text[closing.end() :]
    front = read_front_matter(text)
    return text[front.end if front else start :]


def text_value(values: dict[str, Any], *keys: str) -> str:
    """The first of `keys` that holds text or a number, as a string; '' where none does."""
    for key in keys:
        value = values.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def list_value(values: dict[str, Any], *keys: str, split_on: str) -> tuple[str, ...]:
    """The entries under the first of `keys` that is set: a YAML list, or one string split at the pattern `split_on`."""
    for key in keys:
        value = values.get(key)
        if value is None:
            continue
        parts = re.split(split_on, value) if isinstance(value, str) else value if isinstance(value, list) else [value]
        entries = (str(part).strip() for part in parts if isinstance(part, str | int | float))
        return tuple(dict.fromkeys(entry for entry in entries if entry))
    return ()


def trust_of(values: dict[str, Any]) -> str:
    """Whose text it is: as the note says, else from outside where its `origin` is a web address, else one's own."""
    is_from_outside = text_value(values, "origin").lower().startswith(("http://", "https://"))
    return text_value(values, "trust") or (TRUST_OF_OTHERS if is_from_outside else TRUST_OF_NOTES)


def strings(value: Any, depth: int = 0) -> list[str]:
    """Every string in a value of the front matter, lists and mappings searched too."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in strings(part, depth + 1)] if depth < 20 else []


def _load(source: str) -> tuple[dict[str, Any], str | None]:
    if len(source) > MAX_CHARACTERS:
        return {}, f"line 1: front matter has {len(source)} characters, more than {MAX_CHARACTERS}; not read"
    plain = _load_plain(source)
    if plain is not None:
        return plain, None
    import yaml  # here, because it takes long to load, and plain front matter does without

    try:
        if ("*" in source and "&" in source) or len(_OPENERS.findall(source)) > MAX_DEPTH:
            trap = _trap(source)
            if trap is not None:
                return {}, trap
        loaded = yaml.load(source, Loader=_loader())  # noqa: S506 - the C form of the safe loader
    except yaml.MarkedYAMLError as error:
        problem = error.problem or "front matter is not valid YAML"
        return {}, f"line {_line(error.problem_mark or error.context_mark)}: {problem}"
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, AttributeError, TypeError) as error:
        # The safe loader lets errors of the values themselves through: dates that do not exist, 5,000-digit numbers.
        return {}, f"line 1: front matter is not valid YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}"
    if loaded is None:
        return {}, None
    if not isinstance(loaded, dict):
        return {}, "line 2: front matter is not a mapping of names to values"
    return {str(key): value for key, value in loaded.items()}, None


def _trap(source: str) -> str | None:
    """What would blow up if this were loaded: aliases multiply, and nesting overflows the stack of the YAML library."""
    import yaml

    depth = 0
    for event in yaml.parse(source, Loader=_loader()):
        if isinstance(event, yaml.AliasEvent):
            return f"line {_line(event.start_mark)}: front matter uses a YAML alias; not read"
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                return f"line {_line(event.start_mark)}: front matter is nested over {MAX_DEPTH} deep; not read"
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return None


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _line(mark: Any) -> int:
    """The line of the note that a mark of the YAML parser means: its text starts at the end of line 1."""
    return int(mark.line) + 1 if mark is not None else 1


def _load_plain(source: str) -> dict[str, Any] | None:
    """Short cut for front matter of plain lines and lists of words, ten times faster than YAML; None for all else."""
    values: dict[str, Any] = {}
    name = indent = ""
    for line in source.splitlines():
        match = _PLAIN_LINE.fullmatch(line)
        item = _PLAIN_ITEM.fullmatch(line) if match is None and name else None
        if match is not None:
            name = match["name"]
            kind = match.lastgroup or "name"
            if name.casefold() in _WORDS_OF_YAML:
                return None
            value = None if kind == "name" else _plain_value(kind, match[kind])
            if value is None and kind != "name":
                return None
            values[name] = value
        elif item is not None and item["words"].casefold() not in _WORDS_OF_YAML:
            entries = values[name]
            if entries is None:
                indent = item["indent"]
            elif not isinstance(entries, list) or item["indent"] != indent:
                return None
            values[name] = [*(entries or ()), item["words"]]
        elif line:
            return None
    return values


def _plain_value(kind: str, written: str) -> Any:
    """What YAML reads of a plain value; None where that is more than its signs."""
    if kind == "words" and written.casefold() in _WORDS_OF_YAML:
        return _FLAGS.get(written)
    if kind == "number":
        return int(written)
    if kind == "day":
        try:
            return date.fromisoformat(written)
        except ValueError:
            return None
    if kind == "list":
        entries = written.split(", ")
        return None if any(entry.casefold() in _WORDS_OF_YAML for entry in entries) else entries
    return written

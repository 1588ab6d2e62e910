"""A new note: its file name, its front matter, its links, and whether the vault has it already.

Pure text and names. Which folder it goes to and how it is written belongs to `knowledge.note_changes`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import yaml

from infold.errors import UsageError
from infold.text import folded_words
from infold.vault.front_matter import read_front_matter, without_front_matter
from infold.vault.links import LinkResolver
from infold.vault.names import stem, without_suffix

RELATED: Final = "Related"  # heading of the links of a new note
_FORBIDDEN: Final = re.compile(r'[<>:"|?*\\/#^\[\]\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]+')
_LONGEST_NAME: Final = 120  # bytes
_RUN: Final = 3  # words that are compared together
_FEWEST_RUNS: Final = 4
ALIKE: Final = 0.6  # share of runs that two notes have in common, of all of both
WITHIN: Final = 0.85  # or of the new one's, that stand in the other


def file_name(title: str) -> str:
    """The file name, without suffix, of a note called `title`: what every disk and every link can hold.

    Raises UsageError where nothing is left.
    """
    name = _FORBIDDEN.sub("-", unicodedata.normalize("NFC", " ".join(title.split())))
    name = re.sub(r"(?:\s*-\s*){2,}", " - ", name).strip(" .-")
    while len(name.encode()) > _LONGEST_NAME:
        name = name[:-1].rstrip(" .-")
    if not name or not re.search(r"\w", name):
        raise UsageError(f"{title!r} cannot be the title of a note.", hint="Give a title with letters or digits.")
    return name


def note_text(
    title: str,
    name: str,
    content: str,
    *,
    tags: Sequence[str] = (),
    created: str = "",
    links: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
) -> str:
    """The whole text of a new note. `links` are written links that go below; `more` are further front-matter values.

    Raises UsageError where the content brings front matter of its own.
    """
    front = read_front_matter(content)
    if front is not None:
        raise UsageError(
            "The content begins with front matter, and a new note gets its own.", hint="Leave it out; give tags apart."
        )
    values: dict[str, Any] = {}
    if title != name:
        values["title"] = title
    kept = list(dict.fromkeys(_tag(tag) for tag in tags if _tag(tag)))
    if kept:
        values["tags"] = kept
    if created:
        values["created"] = created
    values |= {key: value for key, value in (more or {}).items() if value}
    head = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=10_000) if values else ""
    body = content.strip("\n")
    parts = [f"---\n{head}---\n" if head else ""]
    if not body.lstrip().startswith("# "):
        parts.append(f"# {title}\n")
    if body:
        parts.append(f"{body}\n")
    if links:
        items = "\n".join(f"- {link}" for link in links)
        parts.append(f"## {RELATED}\n\n{items}\n")
    return "\n".join(part for part in parts if part)


def link_to(resolver: LinkResolver, path: str, place: str) -> str:
    """The shortest wiki-link that leads to `path` from the note at `place`."""
    bare = without_suffix(path)
    parts = bare.split("/")
    shorter = ["/".join(parts[-count:]) for count in range(1, len(parts) + 1)]
    for text in (*shorter, f"/{bare}", f"/{path}"):
        if resolver.resolve(text, place) == path and not re.search(r"[#|^\[\]]", text):
            return f"[[{text}]]"
    return f"[[{bare}]]"


def name_key(name: str) -> str:
    """The form in which names that differ in case, Unicode form, spaces or punctuation only are equal."""
    decomposed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    letters = "".join(sign for sign in decomposed if sign.isalnum() or unicodedata.category(sign) in ("Mn", "Mc"))
    return letters or " ".join(decomposed.split())


def name_twin(title: str, notes: Iterable[tuple[str, str, Sequence[str]]]) -> str | None:
    """The note (path, title, aliases) that is called `title` already; None where none is."""
    key = name_key(title)
    for path, known, aliases in notes:
        if key in {name_key(name) for name in (stem(path), known, *aliases) if name}:
            return path
    return None


def content_twin(content: str, others: Iterable[tuple[str, str]]) -> str | None:
    """The first of `others` (path, text) that says nearly the same as `content`; None where none does."""
    own = _runs(content)
    if len(own) < _FEWEST_RUNS:
        words = folded_words(content)
        same = (path for path, text in others if words and folded_words(without_front_matter(text)) == words)
        return next(same, None)
    for path, text in others:
        theirs = _runs(without_front_matter(text))
        common = len(own & theirs)
        if common >= ALIKE * len(own | theirs) or common >= WITHIN * len(own):
            return path
    return None


def _runs(text: str) -> set[tuple[str, ...]]:
    words = folded_words(re.sub(r"\]\([^)]*\)|^#{1,6}\s", " ", text, flags=re.MULTILINE))
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def _tag(tag: str) -> str:
    return re.sub(r"\s+", "-", tag.strip().lstrip("#"))

"""Copies that say the same in slightly other words: sentences in another order, a clause dropped, other names.

Other names are the vault's own: what its links call a note (`[[tyre pressures|how hard to pump]]`), its title and its
aliases mean the same note. Nothing is taken from a dictionary, so this works in every language. Pure.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from infold.text import collapse_spaces, sentences, word_count
from infold.vault.links import LinkResolver, alias_table
from infold.vault.records import Note

_CLAUSE_END: Final = re.compile(r"(?<=[,;]) |(?<=[，、；])")
_WIKI_LINK: Final = re.compile(r"\[\[([^\[\]|#]+)(?:\|([^\[\]|]*))?\]\]")
_MARKUP: Final = re.compile(r"[\[\]|*_`<>#{}()/\\.]")
_NO_PROSE: Final = re.compile(r"`[^`]*`|\]\([^)]{0,2000}\)|<[^<>]*>|\w+://\S+|\w+(?:\.\w+)+")
_COMMON_SHARE: Final = 0.05  # of the notes; a single word that more of them hold is no name
_NAME_CHARACTERS: Final = (4, 60)
_MOST_NAME_WORDS: Final = 5


@dataclass(frozen=True, slots=True)
class Reworded:
    """The new text and in what it differs: `order`, `clause`, `names`."""

    text: str
    how: tuple[str, ...]


def other_names(notes: Iterable[Note]) -> dict[str, tuple[str, ...]]:
    """What else each name of a note may be called, by the case-folded name.

    A name that two notes share is left out, and so is a single word that many notes hold: it is no name but a word.
    What a link to a section shows is the section's name and not the note's.
    """
    notes = list(notes)
    resolver = LinkResolver([note.path for note in notes], alias_table((note.path, note.aliases) for note in notes))
    called: dict[str, dict[str, str]] = defaultdict(dict)  # path: folded name: name
    for note in notes:
        for name in (note.title, *note.aliases):
            _add(called[note.path], name)
        for link in note.links:
            target = resolver.resolve_link(link, note.path) if link.alias and not link.anchor else None
            if target is not None and link.alias and not link.is_embed:
                _add(called[target], link.alias)
    owners: dict[str, set[str]] = defaultdict(set)
    for path, names in called.items():
        for folded in names:
            owners[folded].add(path)
    texts = [note.text.casefold() for note in notes]
    most = max(3, _COMMON_SHARE * len(notes))
    common = {name for name in owners if " " not in name and sum(name in text for text in texts) > most}
    found = {}
    for names in called.values():
        own = {folded: name for folded, name in names.items() if len(owners[folded]) == 1 and folded not in common}
        for folded in own:
            others = tuple(sorted(name for other, name in own.items() if other != folded))
            if others:
                found[folded] = others
    return found


def reworded(text: str, names: Mapping[str, tuple[str, ...]], draw: random.Random) -> Reworded | None:
    """`text` lightly reworded, in every way that it allows; None where it allows none."""
    how: list[str] = []
    said = sentences(text)
    if len(said) > 1:
        said = [*said[1:], said[0]]
        how.append("order")
    shorter = _without_a_clause(said, draw)
    if shorter is not None:
        said = shorter
        how.append("clause")
    changed = " ".join(said)
    renamed = _with_other_names(changed, names, draw)
    if renamed != changed:
        how.append("names")
    return Reworded(renamed, tuple(how)) if how else None


def _add(names: dict[str, str], name: str) -> None:
    name = collapse_spaces(name)
    low, high = _NAME_CHARACTERS
    if low <= len(name) <= high and word_count(name) <= _MOST_NAME_WORDS and not _MARKUP.search(name):
        names.setdefault(name.casefold(), name)


def _without_a_clause(said: list[str], draw: random.Random) -> list[str] | None:
    """Without a middle clause of the longest sentence: what frames the sentence stays."""
    if not said:
        return None
    longest = max(range(len(said)), key=lambda i: len(said[i]))
    clauses = [match.span() for match in _CLAUSE_END.finditer(said[longest])]
    if len(clauses) < 2:
        return None
    at = draw.randrange(len(clauses) - 1)
    cut = said[longest][: clauses[at][1]] + said[longest][clauses[at + 1][1] :]
    return [*said[:longest], cut, *said[longest + 1 :]]


def _with_other_names(text: str, names: Mapping[str, tuple[str, ...]], draw: random.Random) -> str:
    """With one name in another of its note's: what a link shows, its target kept, else a name in plain prose."""
    for link in _WIKI_LINK.finditer(text):
        others = names.get(collapse_spaces(link[2] or link[1]).casefold())
        if others:
            return f"{text[: link.start()]}[[{link[1]}|{draw.choice(others)}]]{text[link.end() :]}"
    pattern = _any_of(names, text)
    if pattern is None:
        return text
    closed = [match.span() for rule in (_WIKI_LINK, _NO_PROSE) for match in rule.finditer(text)]
    for found in pattern.finditer(text):
        others = names.get(found[0].casefold())
        if others and not any(start < found.end() and found.start() < end for start, end in closed):
            return f"{text[: found.start()]}{draw.choice(others)}{text[found.end() :]}"
    return text


def _any_of(names: Mapping[str, tuple[str, ...]], text: str) -> re.Pattern[str] | None:
    """What finds, as whole words, those names that the text holds; the longest first."""
    folded = text.casefold()
    there = sorted((name for name in names if name in folded), key=lambda name: (-len(name), name))
    if not there:
        return None
    return re.compile(rf"(?<![\w\]\[(/])(?:{'|'.join(map(re.escape, there))})(?![\w\]\[(/])", re.IGNORECASE)

"""What the offline librarian reads out of a note or a paragraph: pieces, sections, counted terms, outward signs.

Pure, and in no particular language: terms come from `search.terms`, the signs are marks of Markdown and punctuation.
What any of it is worth belongs to `weights`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from pathlib import PurePosixPath
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.search.languages import detect_language
from infold.search.terms import encoder, terms, tokens
from infold.text import collapse_spaces, without_runs
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note

Vector = npt.NDArray[np.float32]

_ADDRESS: Final = re.compile(r"(?<=\]\()[^)\s]+|<?[a-z][a-z0-9+.-]{0,30}://[^\s)>\]]+>?", re.IGNORECASE)
_EMPHASISED: Final = re.compile(r"\*\*(.+?)\*\*|`([^`]+)`|\[\[([^\[\]]+)\]\]|\[([^\[\]]+)\]\(")
_LINK: Final = re.compile(r"\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)")
_ANCHOR_WORD: Final = re.compile(r"[^\W_]+")
_NAME: Final = re.compile(r"(?<=[\w,;] )([A-Z][\w]+(?: [A-Z]\w+)*)")
_BULLET: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")
_SIDE: Final = frozenset((BlockKind.FRONT_MATTER, BlockKind.COMMENT, BlockKind.DEFINITION))
_ANNOUNCED: Final = frozenset((BlockKind.LIST_ITEM, BlockKind.CODE, BlockKind.TABLE))


def bare(text: str) -> str:
    """`text` without the addresses of its links, and without data."""
    if "://" in text or "](" in text:
        text = _ADDRESS.sub("", text)
    return without_runs(text)


@dataclass(frozen=True, slots=True)
class Signs:
    """How a text looks: what it begins and ends with."""

    announces: bool  # ends with a colon: what it announces follows
    is_item: bool

    @classmethod
    def of(cls, text: str) -> Signs:
        """The signs of `text`."""
        return cls(
            text.rstrip().rstrip("*_").endswith((":", "：")),
            _BULLET.match(text) is not None,
        )


@dataclass(slots=True)
class Piece:
    """A block of a note with its terms, in order and with repeats."""

    block: Block
    text: str
    terms: list[str]

    @property
    def length(self) -> int:
        """How many terms it has."""
        return len(self.terms)


@dataclass
class NoteSection:
    """A heading with the pieces right below it, up to the next heading. The first section of a note has no heading."""

    trail: tuple[str, ...]
    level: int
    heading: Block | None
    heading_terms: Counter[str]
    above_terms: frozenset[str]  # of the headings above its own
    pieces: list[Piece]
    has_children: bool = False

    @cached_property
    def terms(self) -> Counter[str]:
        """The terms of all its pieces, counted."""
        return Counter(chain.from_iterable(piece.terms for piece in self.pieces))

    @cached_property
    def length(self) -> int:
        """How many terms its pieces have."""
        return sum(piece.length for piece in self.pieces)

    @cached_property
    def anchor(self) -> str:
        """By what links name its heading, folded; '' without one."""
        return _as_anchor(self.trail[-1]) if self.trail else ""

    @property
    def begins_with_prose(self) -> bool:
        """Whether the first thing below its heading is a paragraph."""
        return bool(self.pieces) and self.pieces[0].block.kind is BlockKind.PARAGRAPH

    @property
    def unannounced(self) -> list[int]:
        """Positions of the pieces (lists, code, tables) that no paragraph right above leads in."""
        found = []
        before: BlockKind | None = None
        for position, piece in enumerate(self.pieces):
            kind = piece.block.kind
            is_next_item = kind is before is BlockKind.LIST_ITEM
            if kind in _ANNOUNCED and before is not BlockKind.PARAGRAPH and not is_next_item:
                found.append(position)
            before = kind
        return found


@dataclass(eq=False)
class NoteFeatures:
    """A note as the offline librarian reads it."""

    note: Note
    language: str
    title_terms: Counter[str]
    sections: list[NoteSection]
    terms: Counter[str]  # of the whole note, title and descriptions included
    length: int

    @property
    def path(self) -> str:
        """The note's path."""
        return self.note.path

    @cached_property
    def called(self) -> frozenset[str]:
        """The terms of its title alone."""
        return frozenset(terms(self.note.title, self.language))

    @cached_property
    def paragraphs(self) -> int:
        """How many of its pieces are prose."""
        return sum(piece.block.kind is BlockKind.PARAGRAPH for piece in self.pieces)

    @cached_property
    def pieces(self) -> list[Piece]:
        """All pieces, in order."""
        return [piece for section in self.sections for piece in section.pieces]

    @cached_property
    def spread(self) -> Counter[str]:
        """In how many of the note's sections each term stands."""
        found: Counter[str] = Counter()
        for section in self.sections:
            found.update(section.terms.keys() | section.heading_terms.keys())
        return found

    @cached_property
    def heading_terms(self) -> frozenset[str]:
        """The terms of all its headings."""
        return frozenset().union(*(section.heading_terms for section in self.sections))

    @cached_property
    def anchors(self) -> frozenset[str]:
        """By what links name its headings, folded."""
        return frozenset(section.anchor for section in self.sections if section.anchor)

    @cached_property
    def links(self) -> frozenset[str]:
        """The targets of its links as written, folded."""
        return frozenset(link.target.casefold() for link in self.note.links if link.target)


def read_note(note: Note) -> NoteFeatures:
    """Counts a note's terms, section by section."""
    start = note.front_matter.end if note.front_matter else 0
    language = detect_language(note.text[start : start + 4000])
    title = Counter(terms(f"{note.title} {spoken_name(note.path)}", language))
    sections = _sections(note, language)
    described = terms(_described(note), language)
    headings = (section.heading_terms.elements() for section in sections)
    pieces = (piece.terms for section in sections for piece in section.pieces)
    whole = Counter(chain(title.elements(), described, *headings, chain.from_iterable(pieces)))
    return NoteFeatures(note, language, title, sections, whole, whole.total())


def spoken_name(path: str) -> str:
    """The words of a note's name: dots, dashes and underscores are spaces in it."""
    return re.sub(r"[._-]+", " ", PurePosixPath(path).stem)


def _described(note: Note) -> str:
    values = note.front_matter.values if note.front_matter else {}
    said = [values.get(key) for key in ("description", "desc", "summary")]
    return " ".join([*(text for text in said if isinstance(text, str)), *note.tags, *note.aliases])


def _sections(note: Note, language: str) -> list[NoteSection]:
    sections = [NoteSection((), 0, None, Counter(), frozenset(), [])]
    levels = iter(note.headings)
    above: dict[str, frozenset[str]] = {}
    for block in note.blocks:
        if block.kind is BlockKind.HEADING:
            heading = next(levels)
            sections[-1].has_children = heading.level > sections[-1].level > 0
            counted = Counter(terms(heading.title, language))
            above[heading.title] = frozenset(counted)
            over: frozenset[str] = frozenset().union(*(above.get(title, frozenset()) for title in block.trail))
            trail = (*block.trail, heading.title)
            sections.append(NoteSection(trail, heading.level, block, counted, over, []))
        elif block.kind not in _SIDE:
            text = note.text[block.start : block.end]
            sections[-1].pieces.append(Piece(block, text, terms(bare(text), language)))
    return sections


@dataclass
class Query:
    """A paragraph that looks for its place."""

    text: str
    language: str  # that its words are stemmed in
    ordered: list[str]  # its terms in order, links as the text they show
    terms: Counter[str]
    key_terms: Counter[str]  # of what it links, emphasises, names
    signs: Signs
    links: frozenset[str]  # the targets of its links as written, folded
    anchors: frozenset[str] = frozenset()  # headings of its own note that it links to (`[[#Heading]]`), folded
    subject: frozenset[str] = frozenset()  # terms of what it says to be something: "A crumb is …"
    unlinked: frozenset[str] = frozenset()  # its terms that stand outside of its links
    vector: Vector | None = None
    _weights: dict[str, float] = field(default_factory=dict)
    _read_in: dict[str, Query] = field(default_factory=dict)

    def read_in(self, language: str) -> Query:
        """The same paragraph with its words stemmed as a note in `language` has them.

        A paragraph may be too short to tell its language, and a note in one language may hold some of another.
        """
        if language == self.language:
            return self
        if language not in self._read_in:
            self._read_in[language] = other = read_query(self.text, language)
            other.vector = self.vector
        return self._read_in[language]

    def terms_in(self, language: str) -> Mapping[str, str]:
        """Each of its terms, and what it is where words are stemmed in `language`."""
        if language == self.language:
            return {term: term for term in self.terms}
        own, other = encoder(self.language), encoder(language)
        found: dict[str, str] = {}
        for token in tokens(bare(self.text)):
            stemmed = other.terms([token])
            found |= zip(own.terms([token]), chain(stemmed, repeat(stemmed[-1])), strict=False) if stemmed else ()
        return found

    def weights(self, weight: Callable[[str], float]) -> dict[str, float]:
        """The weight of each of its terms, in the order they come; asked for once."""
        if not self._weights:
            self._weights = {term: weight(term) for term in self.terms}
        return self._weights

    def total_weight(self, weight: Callable[[str], float]) -> float:
        """The weight of all its terms together; never 0."""
        return sum(self.weights(weight).values()) + 1e-9


def read_query(text: str, language: str | None = None) -> Query:
    """A paragraph of the inbox, counted like a note in `language`, by default the one that it seems to be in."""
    language = language or detect_language(text)
    plain = bare(text)
    ordered = terms(plain, language)
    marked = [" ".join(part for part in parts if part) for parts in _EMPHASISED.findall(text)]
    keys = Counter(terms(" ".join([*marked, *_NAME.findall(plain)]), language))
    may_link = "](" in text or "[[" in text
    found = parse("", text).links if may_link else ()
    links = frozenset(link.target.casefold() for link in found if link.target)
    anchors = frozenset(anchor for link in found if not link.target and (anchor := _folded_anchor(link.anchor)))
    subject = frozenset(terms(subject_of(plain), language))
    unlinked = frozenset(terms(bare(_LINK.sub(" ", text)), language)) if may_link else frozenset(ordered)
    return Query(text, language, ordered, Counter(ordered), keys, Signs.of(text), links, anchors, subject, unlinked)


def _folded_anchor(anchor: str) -> str:
    """The last heading that an anchor names, as `NoteSection.anchor` has it; '' for a block."""
    return "" if anchor.startswith("^") else _as_anchor(anchor.rpartition("#")[2])


def _as_anchor(title: str) -> str:
    """A heading as links name it, whether by its words or by the form of an address (`a-heading`)."""
    return "".join(_ANCHOR_WORD.findall(title.casefold()))


def subject_of(text: str) -> str:
    """What stands before the first verb of being, where that comes early: the thing that a text defines; else ''."""
    words = _SPOKEN.findall(_ASIDE.sub(" ", text[:_OPENING_CHARACTERS]))
    for position, word in enumerate(words[: _SUBJECT_WORDS + 1]):
        if word in ".!?:;" or word == "\n\n":
            return ""
        if position and word.casefold() in _BEING_WORDS:
            return " ".join(words[:position])
    return ""


def opening(query: Query, count: int) -> frozenset[str]:
    """The first `count` terms of a paragraph."""
    return frozenset(query.ordered[:count])


_OPENING_CHARACTERS: Final = 300
_SUBJECT_WORDS: Final = 8
_ASIDE: Final = re.compile(r"\([^()]*\)|[*_`\[\]]|\|[^\]]*(?=\]\])")
_SPOKEN: Final = re.compile(r"[^\W_]+(?:['’\-.][^\W_]+)*|[.!?:;]")
_BEING: Final = """
    is are was were means refers ist sind war waren bedeutet est sont était désigne es son era é são significa è sono
    är zijn jest są является это
"""
_BEING_WORDS: Final = frozenset(_BEING.split())

_CONTINUING: Final = """
    this these those that such it its they their he she however but also therefore thus hence moreover furthermore
    additionally similarly likewise instead otherwise finally then next second third meanwhile consequently
    nevertheless still another both again and or so as for
    dies diese dieser dieses dabei daher deshalb jedoch aber auch außerdem zudem dann danach sie er es
    cela ces cette ce cependant mais aussi donc ainsi ensuite puis enfin il elle ils elles
    esto esta este estas estos pero también además luego después entonces
    isto porém mas também além depois então questo questa tuttavia ma anche inoltre poi quindi
    это эти этот однако но также поэтому затем потом они он она
"""
_CONTINUING_WORDS: Final = frozenset(_CONTINUING.split())  # first words by which a text goes on from what stands before


def continues(text: str) -> bool:
    """Whether a paragraph reads as the continuation of another: by its first word, or a small first letter."""
    first = re.match(r"\W*([^\W\d_]+)", collapse_spaces(bare(text)))
    return first is not None and (first[1].casefold() in _CONTINUING_WORDS or first[1][0].islower())

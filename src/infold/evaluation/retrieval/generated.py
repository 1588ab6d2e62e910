"""Questions that a vault answers about itself: what its links call a note, its headings, its paragraphs.

Each set is drawn at random with a seed and changes the notes it needs changed, in memory: what is asked does not stand
in what is searched, but for the one set that says so. Pure; equal notes and seed give equal sets, in any folder.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, TypeVar

from infold.evaluation.cases import LEAST_NOTE_WORDS, prose
from infold.evaluation.retrieval.sets import RelevantLines, RetrievalQuestion, RetrievalSet
from infold.text import collapse_spaces, word_count, word_pattern
from infold.vault.links import LinkResolver, alias_table
from infold.vault.names import stem
from infold.vault.records import BlockKind, Heading, Link, Note

PARAGRAPH_WORDS: Final = 30  # of a paragraph, asked for and taken out of its note
LEAST_SECTION_WORDS: Final = 20
MOST_PARAGRAPHS_PER_NOTE: Final = 2
UNNAMED: Final = "§"  # in place of a heading that is left out: it keeps the structure and is no word
_NO_QUESTION: Final = frozenset((BlockKind.CODE, BlockKind.HTML, BlockKind.COMMENT, BlockKind.HEADING))
_SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+|(?<=[。！？])|\n\s*\n")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_T = TypeVar("_T")


def generated_sets(notes: Mapping[str, Note], seed: int, most: int) -> list[RetrievalSet]:
    """The four sets of a vault, each with at most `most` questions. One that has nothing to ask has none."""
    return [
        alias_links(notes, seed, most),
        *heading_sets(notes, seed, most),
        paragraphs(notes, seed, most),
    ]


def alias_links(notes: Mapping[str, Note], seed: int, most: int) -> RetrievalSet:
    """What a link shows, where that is no name of its target, asks for its target. Its sentence is taken out.

    A text that links to several notes ("here", "see below") names none of them and is not asked.
    """
    found: dict[str, dict[str, list[tuple[str, Link]]]] = defaultdict(lambda: defaultdict(list))
    written: dict[str, str] = {}
    for path, link, shown, target in _links(notes):
        found[shown.casefold()][target].append((path, link))
        written.setdefault(shown.casefold(), shown)
    entries = []
    for shown, targets in found.items():
        ((target, where), *others) = targets.items()
        if not others and word_pattern().search(shown) and shown not in _names(notes[target]):
            entries.append((shown, target, where))
    chosen = _drawn(f"vault:aliases:{seed}", sorted(entries, key=lambda entry: entry[:2]), most)
    cuts = [(path, *_sentence(notes[path], link)) for _, _, where in chosen for path, link in where]
    return RetrievalSet(
        name="aliases",
        title="link texts",
        meaning="the text of a link that is no name of its target; its target; the linking sentence is taken out",
        questions=tuple(
            RetrievalQuestion(f"aliases-{n}", written[shown], {target: 1})
            for n, (shown, target, _) in enumerate(chosen, 1)
        ),
        notes=_without(notes, cuts),
    )


def heading_sets(notes: Mapping[str, Note], seed: int, most: int) -> list[RetrievalSet]:
    """A heading asks for the text below it: with every heading left out of what is searched, and as the notes are."""
    seen = Counter(heading.title.casefold() for note in notes.values() for heading in note.headings)
    entries = [
        (path, heading, lines)
        for path, note in sorted(notes.items())
        for heading, lines in _sections(note)
        if seen[heading.title.casefold()] == 1 and word_count(heading.title) >= 2
    ]
    questions = tuple(
        RetrievalQuestion(f"headings-{n}", heading.title, {f"{path}:{lines.first}-{lines.last}": 1}, section=lines)
        for n, (path, heading, lines) in enumerate(_drawn(f"vault:headings:{seed}", entries, most), 1)
    )
    texts = {path: note.text for path, note in notes.items()}
    return [
        RetrievalSet(
            name="headings",
            title="headings, left out",
            meaning="a heading; the passage below it; no heading of two words or more is in what is searched",
            questions=questions,
            notes={path: _without_headings(note) for path, note in notes.items()},
        ),
        RetrievalSet(
            name="headings_kept",
            title="headings, kept (circular)",
            meaning="the same with the headings in what is searched: the question stands there word for word",
            questions=questions,
            notes=texts,
            is_circular=True,
        ),
    ]


def paragraphs(notes: Mapping[str, Note], seed: int, most: int) -> RetrievalSet:
    """The first thirty words of a paragraph ask for its note, which goes on without them."""
    pool = [
        (path, block)
        for path, note in sorted(notes.items())
        if word_count(note.text) >= LEAST_NOTE_WORDS
        for block in prose(note)
        if word_count(note.block_text(block)) >= PARAGRAPH_WORDS
    ]
    taken: Counter[str] = Counter()
    questions: list[RetrievalQuestion] = []
    cuts: list[tuple[str, int, int]] = []
    for path, block in _drawn(f"vault:paragraphs:{seed}", pool, len(pool)):
        if len(questions) < most and taken[path] < MOST_PARAGRAPHS_PER_NOTE:
            taken[path] += 1
            text = notes[path].block_text(block)
            end = [match.end() for match in word_pattern().finditer(text)][PARAGRAPH_WORDS - 1]
            questions.append(
                RetrievalQuestion(f"paragraphs-{len(questions) + 1}", collapse_spaces(text[:end]), {path: 1})
            )
            cuts.append((path, block.start, block.start + end))
    return RetrievalSet(
        name="paragraphs",
        title="paragraphs",
        meaning=f"the first {PARAGRAPH_WORDS} words of a paragraph; its note, from which they are taken out",
        questions=tuple(questions),
        notes=_without(notes, cuts),
    )


def _links(notes: Mapping[str, Note]) -> Iterator[tuple[str, Link, str, str]]:
    """Every link with a text of its own from one note to another: its note, itself, what it shows, its target."""
    resolver = LinkResolver(list(notes), alias_table((note.path, note.aliases) for note in notes.values()))
    for path, note in sorted(notes.items()):
        asked = [(block.start, block.end) for block in note.blocks if block.kind not in _NO_QUESTION]
        for link in note.links:
            if link.alias is None or link.is_embed or not any(start <= link.start < end for start, end in asked):
                continue
            target, shown = resolver.resolve(link.target, path), link.alias
            if target is None:  # the label may stand first, as Dendron has it
                target, shown = resolver.resolve_reversed(link.alias, path, is_wiki=link.is_wiki), link.target
            if target not in (None, path):
                yield path, link, collapse_spaces(shown), target


def _names(note: Note) -> frozenset[str]:
    """What a note is called by itself: title, file name, path, with dots, hyphens and underscores as spaces too."""
    names = {note.title.casefold(), stem(note.path).casefold(), note.path.casefold()}
    return frozenset(names | {collapse_spaces(re.sub(r"[-_.]+", " ", name)) for name in names})


def _sentence(note: Note, link: Link) -> tuple[int, int]:
    """Where the sentence with `link` starts and ends; the whole line of a list, a table or the like."""
    block = next(block for block in note.blocks if block.start <= link.start < block.end)
    if block.kind is BlockKind.PARAGRAPH:
        ends = [match.end() for match in _SENTENCE_ENDS.finditer(note.text, block.start, block.end)]
    else:
        ends = [match.end() for match in _LINE_END.finditer(note.text, block.start, block.end)]
    start = max((end for end in ends if end <= link.start), default=block.start)
    return start, min((end for end in ends if end >= link.end), default=block.end)


def _sections(note: Note) -> Iterator[tuple[Heading, RelevantLines]]:
    """Each heading below the title with the lines of its own text, up to the next heading."""
    last = note.text.count("\n") + 1
    for heading, following in zip_longest(note.headings, note.headings[1:]):
        text = note.text[heading.end : following.start if following else len(note.text)]
        if heading.title != note.title and word_count(text) >= LEAST_SECTION_WORDS:
            first = heading.line + heading.raw.count("\n") + 1
            yield heading, RelevantLines(note.path, first, following.line - 1 if following else last)


def _without_headings(note: Note) -> str:
    """The note's text with each heading below the title that a question may be about made nameless."""
    text = note.text
    for heading in reversed(note.headings):
        if heading.title != note.title and word_count(heading.title) >= 2:
            line = note.text[heading.start : heading.end]
            text = text[: heading.start] + line.replace(line.strip("#= \t\r\n-"), UNNAMED, 1) + text[heading.end :]
    return text


def _without(notes: Mapping[str, Note], cuts: Sequence[tuple[str, int, int]]) -> dict[str, str]:
    """The notes' texts without these stretches."""
    texts = {path: note.text for path, note in notes.items()}
    for path, start, end in sorted(set(cuts), reverse=True):
        texts[path] = texts[path][:start] + texts[path][end:]
    return texts


def _drawn(seed: str, entries: Sequence[_T], most: int) -> list[_T]:
    """At most `most` of the entries, in an order drawn at random."""
    return random.Random(seed).sample(entries, min(most, len(entries)))

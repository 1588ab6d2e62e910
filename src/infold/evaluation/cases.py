"""Leave-paragraphs-out cases: notes with prose paragraphs cut out, and an inbox that holds them and some copies.

Short jottings, items of lists and lists are cut out too, and stand at the end of the inbox. The truth of a case is
where each paragraph stood. Pure once the notes are read: nothing is written here. How a copy is
reworded belongs to `evaluation.rewording`, a vault on disk to `evaluation.trial`.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from infold.errors import TooFewParagraphs, VaultFault
from infold.evaluation.forms import draw_forms, without
from infold.evaluation.rewording import other_names, reworded
from infold.inbox.paragraphs import number_paragraphs
from infold.settings import VaultParams
from infold.text import collapse_spaces, content_hash, word_count
from infold.vault.files import decode, read_bytes
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note
from infold.vault.scanning import scan

CaseKind = Literal["cut", "copy", "reworded", "short", "item", "list"]

COPIES: Final[tuple[CaseKind, ...]] = ("copy", "reworded")  # which still stand in their notes; all else was cut out

PARAGRAPH_WORDS: Final = (25, 180)
LEAST_NOTE_WORDS: Final = 150
MOST_PER_NOTE: Final = 2
_NO_PROSE: Final = ("!", "<", "|", "%%", "[^", ":::")
_FORMS_SHARE: Final = 4  # one short jotting, one item and one list to so many cuts
_COPIES_SHARE: Final = 3  # one verbatim and one reworded copy to so many cuts


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many paragraphs of each kind a case is to have; a small vault gives fewer."""

    cut: int
    copied: int
    reworded: int
    forms: int = 0  # of each: short jottings, items of lists, lists with their lead-in

    @classmethod
    def of(cls, paragraphs: int) -> Sizes:
        """The sizes of a case with this many cut paragraphs."""
        copies = math.ceil(paragraphs / _COPIES_SHARE)
        return cls(paragraphs, copies, copies, math.ceil(paragraphs / _FORMS_SHARE))


@dataclass(frozen=True, slots=True)
class LeftOutParagraph:
    """A paragraph of the inbox and where it stood: `trail` is the headings above it. A copy also still stands there."""

    path: str
    text: str
    trail: tuple[str, ...]
    kind: CaseKind = "cut"
    how: tuple[str, ...] = ()  # in what a reworded copy differs
    gap: int | None = None  # how many blocks of the note that is left stand above the place it was cut from


@dataclass(frozen=True, slots=True)
class Case:
    """A vault's notes with the paragraphs cut out, and the inbox in its order. `vault` is only a name."""

    vault: str
    seed: int
    notes: Mapping[str, str]
    changed: frozenset[str]  # the notes something was cut out of
    inbox: tuple[LeftOutParagraph, ...]

    @property
    def inbox_text(self) -> str:
        """The inbox as a file."""
        return "\n\n".join(item.text for item in self.inbox) + "\n"

    @property
    def identity(self) -> tuple[str, ...]:
        """What the case is made of, as hashes: notes in order of their paths, then the inbox."""
        notes = "\n".join(f"{path}\t{content_hash(self.notes[path])}" for path in sorted(self.notes))
        return (content_hash(notes), content_hash(self.inbox_text))

    def shortfall(self, wanted: Sizes) -> str | None:
        """A sentence where the vault gave fewer paragraphs than were asked for."""
        found = Counter(item.kind for item in self.inbox)
        names: dict[CaseKind, tuple[int, str]] = {
            "cut": (wanted.cut, "cut paragraphs"),
            "copy": (wanted.copied, "copies"),
            "reworded": (wanted.reworded, "reworded copies"),
        }
        short = [f"{found[kind]} of {count} {name}" for kind, (count, name) in names.items() if found[kind] < count]
        return f"Seed {self.seed}: the vault has prose for only {', '.join(short)}." if short else None


def load_notes(root: Path, params: VaultParams) -> dict[str, Note]:
    """The parsed notes of a vault by path, without its inbox. A note that cannot be read is left out, as a run does."""
    found = {}
    for file in scan(root, params).files:
        if file.path == params.inbox_file:
            continue
        try:
            found[file.path] = parse(file.path, decode(read_bytes(root, file.path, params.max_note_bytes), file.path))
        except VaultFault:
            continue  # the run of each case meets the same file and names it in its record
    return found


def prose(note: Note) -> list[Block]:
    """The prose paragraphs of 25 to 180 words, each of which an inbox would hold as one paragraph."""
    low, high = PARAGRAPH_WORDS
    return [
        block
        for block in note.blocks
        if block.kind is BlockKind.PARAGRAPH
        and low <= word_count(note.block_text(block)) <= high
        and not note.block_text(block).lstrip().startswith(_NO_PROSE)
        and _is_one_paragraph(note.block_text(block))
    ]


def make_case(vault: str, notes: Mapping[str, Note], seed: int, sizes: Sizes) -> Case:
    """One case: paragraphs drawn at random out of notes with at least two of them and 150 words.

    Equal for equal notes and `seed`, on every machine and in any folder: `vault` is only shown. Raises TooFewParagraphs
    where nothing can be cut.
    """
    draw = random.Random(f"vault:{seed}")
    eligible = {
        path: blocks
        for path, note in sorted(notes.items())
        if word_count(note.text) >= LEAST_NOTE_WORDS and len(blocks := prose(note)) >= 2
    }
    pool = _each_text_once(notes, [(path, block) for path, blocks in eligible.items() for block in blocks])
    draw.shuffle(pool)
    taken: Counter[str] = Counter()
    cuts: list[tuple[str, Block]] = []
    for path, block in pool:
        if len(cuts) < sizes.cut and taken[path] < min(MOST_PER_NOTE, len(eligible[path]) - 1):
            taken[path] += 1
            cuts.append((path, block))
    if not cuts:
        raise TooFewParagraphs(
            f"No paragraph can be left out of {vault}: none of its {len(notes)} notes has two prose paragraphs of "
            f"{PARAGRAPH_WORDS[0]} to {PARAGRAPH_WORDS[1]} words and {LEAST_NOTE_WORDS} words in all.",
            hint="Evaluate a vault with longer notes, or the demo vault: data/vault.",
        )
    staying = [entry for entry in pool if entry not in cuts]
    copies = draw.sample(staying, min(sizes.copied, len(staying)))
    inbox = [_left_out(notes[path], block) for path, block in cuts]
    inbox += [_left_out(notes[path], block, "copy") for path, block in copies]
    inbox += _reworded(notes, [entry for entry in staying if entry not in copies], sizes.reworded, seed)
    draw.shuffle(inbox)
    used = {item.path for item in inbox}
    forms = draw_forms({path: note for path, note in notes.items() if path not in used}, draw, sizes.forms)
    inbox += [LeftOutParagraph(f.path, notes[f.path].text[f.start : f.end], f.trail, f.kind) for f in forms]
    texts = {path: note.text for path, note in notes.items()}
    for path, block in sorted(cuts, key=lambda entry: -entry[1].start):
        texts[path] = _without(texts[path], block)
    texts |= {form.path: without(texts[form.path], form.start, form.end) for form in forms}
    spans = [(path, block.start, block.end) for path, block in cuts] + [(f.path, f.start, f.end) for f in forms]
    gaps = {
        (path, notes[path].text[start:end]): _gap(notes[path], texts[path], spans, start) for path, start, end in spans
    }
    inbox = [replace(item, gap=gaps.get((item.path, item.text))) if item.kind not in COPIES else item for item in inbox]
    case = Case(vault, seed, texts, frozenset(path for path, *_ in spans), tuple(inbox))
    is_told_apart = len(number_paragraphs(case.inbox_text)) == len(inbox)
    return case if is_told_apart else replace(case, inbox=tuple(inbox[: len(inbox) - len(forms)]))


def _gap(note: Note, rest: str, spans: Sequence[tuple[str, int, int]], start: int) -> int | None:
    """How many blocks of what is left of a note stand above `start`; None where its blocks are other ones now."""
    own = [(first, last) for path, first, last in spans if path == note.path]
    staying = [b for b in note.blocks if not any(first <= b.start and b.end <= last for first, last in own)]
    if [collapse_spaces(note.block_text(block)) for block in staying] != [
        collapse_spaces(rest[block.start : block.end]) for block in parse(note.path, rest).blocks
    ]:
        return None
    return sum(block.start < start for block in staying)


def _each_text_once(notes: Mapping[str, Note], pool: Sequence[tuple[str, Block]]) -> list[tuple[str, Block]]:
    """Without paragraphs whose text came before: in one inbox the two could not be told apart."""
    found: dict[str, tuple[str, Block]] = {}
    for path, block in pool:
        found.setdefault(collapse_spaces(notes[path].block_text(block)), (path, block))
    return list(found.values())


def _is_one_paragraph(text: str) -> bool:
    numbered = number_paragraphs(text)
    return len(numbered) == 1 and collapse_spaces(numbered[0].paragraph.text) == collapse_spaces(text)


def _left_out(note: Note, block: Block, kind: CaseKind = "cut") -> LeftOutParagraph:
    return LeftOutParagraph(note.path, note.block_text(block), block.trail, kind)


def _reworded(
    notes: Mapping[str, Note], pool: Sequence[tuple[str, Block]], count: int, seed: int
) -> list[LeftOutParagraph]:
    names = other_names(notes.values()) if count else {}
    draw = random.Random(seed)
    found: list[LeftOutParagraph] = []
    for path, block in pool:
        if len(found) == count:
            break
        changed = reworded(notes[path].block_text(block), names, draw)
        if changed is not None and _is_one_paragraph(changed.text):
            found.append(LeftOutParagraph(path, changed.text, block.trail, "reworded", changed.how))
    return found


def _without(text: str, block: Block) -> str:
    end = block.end
    while end < len(text) and text[end] in " \t\r\n":
        end += 1
    return text[: block.start] + text[end:]

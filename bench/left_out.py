"""Leave-paragraphs-out cases: a vault with prose paragraphs cut out, and an inbox that holds them and some copies.

The truth of a case is where each paragraph stood. Used by `bench.leave_paragraphs_out` (how well the product puts them
back) and `bench.offline_weights` (what the offline librarian's weights are fitted on).
"""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from infold.settings import VaultParams
from infold.text import sentences, word_count
from infold.vault.files import decode, read_bytes, scan
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note

VAULTS: Final = ("foam-docs", "forgetful-notes", "dendron-site", "quartz-docs")
CUT: Final = 24
COPIED: Final = 8
REWORDED: Final = 0
MOST_PER_NOTE: Final = 2
INBOX: Final = "inbox.md"
_NO_PROSE: Final = ("!", "<", "|", "%%", "[^", ":::")
_LIMIT: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A paragraph of the inbox and where it stood: `trail` is the headings above it. A copy also still stands there."""

    path: str
    text: str
    trail: tuple[str, ...]
    is_copy: bool = False
    is_reworded: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A vault's notes with the paragraphs cut out, and the inbox in its order."""

    vault: str
    seed: int
    notes: dict[str, str]
    inbox: tuple[LeftOut, ...]

    def write(self, folder: Path, source: Path) -> None:
        """The vault on disk: everything of `source` but with this case's notes, and the inbox."""
        shutil.copytree(source, folder, dirs_exist_ok=True)
        for item in (folder, *folder.rglob("*")):
            item.chmod(item.stat().st_mode | 0o200)
        for path, text in self.notes.items():
            (folder / path).write_bytes(text.encode())
        (folder / INBOX).write_bytes("\n\n".join(item.text for item in self.inbox).encode() + b"\n")


def load_notes(root: Path) -> dict[str, Note]:
    """The parsed notes of a vault, by path, without an inbox that may be there."""
    found = {}
    for file in scan(root, VaultParams()).files:
        if file.path != INBOX:
            found[file.path] = parse(file.path, decode(read_bytes(root, file.path, _LIMIT), file.path))
    return found


def prose(note: Note) -> list[Block]:
    """The prose paragraphs of 25 to 180 words."""
    return [
        block
        for block in note.blocks
        if block.kind is BlockKind.PARAGRAPH
        and 25 <= word_count(note.block_text(block)) <= 180
        and not note.block_text(block).lstrip().startswith(_NO_PROSE)
    ]


def make_case(
    vault: str, notes: dict[str, Note], seed: int, *, cut: int = CUT, copied: int = COPIED, reworded: int = REWORDED
) -> Case:
    """One case: paragraphs drawn at random out of notes with at least two of them and 150 words."""
    draw = random.Random(f"{vault}:{seed}")
    eligible = {
        path: blocks
        for path, note in sorted(notes.items())
        if len(blocks := prose(note)) >= 2 and word_count(note.text) >= 150
    }
    pool = [(path, block) for path, blocks in eligible.items() for block in blocks]
    draw.shuffle(pool)
    taken: Counter[str] = Counter()
    cuts: list[tuple[str, Block]] = []
    for path, block in pool:
        if len(cuts) < cut and taken[path] < min(MOST_PER_NOTE, len(eligible[path]) - 1):
            taken[path] += 1
            cuts.append((path, block))
    staying = [entry for entry in pool if entry not in cuts]
    copies = draw.sample(staying, min(copied, len(staying)))
    inbox = [_left_out(notes[path], block) for path, block in cuts]
    inbox += [replace(_left_out(notes[path], block), is_copy=True) for path, block in copies]
    inbox += _reworded(notes, [entry for entry in staying if entry not in copies], reworded, draw)
    draw.shuffle(inbox)
    texts = {path: note.text for path, note in notes.items()}
    for path, block in sorted(cuts, key=lambda entry: -entry[1].start):
        texts[path] = _without(texts[path], block)
    return Case(vault, seed, texts, tuple(inbox))


def _left_out(note: Note, block: Block) -> LeftOut:
    return LeftOut(note.path, note.block_text(block), block.trail)


def _reworded(notes: dict[str, Note], pool: list[tuple[str, Block]], count: int, draw: random.Random) -> list[LeftOut]:
    """Copies with their sentences in another order and, where there is one, a clause dropped."""
    found: list[LeftOut] = []
    for path, block in pool:
        said = sentences(notes[path].block_text(block))
        if len(found) == count:
            break
        if len(said) < 2:
            continue
        mixed = [*said[1:], said[0]]
        longest = max(range(len(mixed)), key=lambda i: len(mixed[i]))
        clauses = re.split(r"(?<=,) ", mixed[longest])
        if len(clauses) > 2:
            del clauses[draw.randrange(1, len(clauses) - 1)]
        mixed[longest] = " ".join(clauses)
        found.append(replace(_left_out(notes[path], block), text=" ".join(mixed), is_reworded=True))
    return found


def _without(text: str, block: Block) -> str:
    end = block.end
    while end < len(text) and text[end] in " \t\r\n":
        end += 1
    return text[: block.start] + text[end:]

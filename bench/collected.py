"""A vault as people keep it who collect: much of its prose moved into long notes that hold a bit of everything.

    python -m bench.collected VAULT FOLDER [--quotes]

Reading notes hold the prose of several notes that are gone (bare, below headings, as quotes), logs hold dated entries
out of the others, maps list notes with their first sentence. Such notes share words with any paragraph
whatever it is about, and so draw what belongs elsewhere. With `--quotes` half of the notes go into very few long ones,
and the others are cut into short ones. Equal for equal notes: nothing but them decides.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from infold.evaluation.cases import load_notes
from infold.settings import load_params
from infold.text import sentences, word_count
from infold.vault.records import Block, BlockKind, Note

FOLDER: Final = "collected"
_WORDS: Final = (12, 180)  # of a passage that is moved
_DISSOLVED_SHARE: Final = 0.4  # of the notes: all their prose goes into a reading note
_LOGGED_SHARE: Final = 0.2  # of the prose of the others
_KEPT_PARAGRAPHS: Final = 2  # that a note which gives to the logs must have left
_SOURCES: Final = (4, 40)  # notes that a reading note holds
_QUOTED_SHARE: Final = 0.5
_QUOTED_NOTES: Final = 42  # of a vault with quotes, in one of its long notes
_PART_WORDS: Final = 200
_LOG_PASSAGES: Final = 90
_MAPPED: Final = 40  # notes of a map
_FIRST_DAY: Final = date(2021, 1, 4)


def main() -> None:
    """Writes such a vault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quotes", action="store_true", help="few very long notes beside many short ones")
    options = parser.parse_args()
    make = quoted if options.quotes else collected
    print(f"{write_collected(options.vault, options.folder, make)} notes are collections.")


def write_collected(vault: Path, folder: Path, make: Callable[[Mapping[str, Note]], dict[str, str]]) -> int:
    """Writes the notes of `vault` with collections among them below `folder`, and returns how many these are.

    `make` is `collected` or `quoted`.
    """
    texts = make(load_notes(vault, load_params(None).vault))
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")
    return sum(path.startswith(f"{FOLDER}/") for path in texts)


def collected(notes: Mapping[str, Note]) -> dict[str, str]:
    """The texts of all notes by path, collections included; a note that went into a collection is gone."""
    draw = random.Random("collected")
    passages = {path: _passages(note) for path, note in sorted(notes.items())}
    sources = [path for path, blocks in passages.items() if len(blocks) > 1 and draw.random() < _DISSOLVED_SHARE]
    texts = {path: note.text for path, note in notes.items() if path not in sources}
    logged: list[str] = []
    for path in sorted(texts):
        moved = _some(passages[path], draw)
        texts[path] = _without(notes[path], moved)
        logged += [notes[path].block_text(block).strip() for block in moved]
    draw.shuffle(sources)
    draw.shuffle(logged)
    read = {path: [notes[path].block_text(block).strip() for block in passages[path]] for path in sources}
    made = {
        "reading": _reading_notes(read, {path: note.title for path, note in notes.items()}, draw),
        "log": _logs(logged, draw),
        "map": _maps({path: notes[path] for path in texts}, draw),
    }
    for name, found in made.items():
        texts |= {f"{FOLDER}/{name}-{number}.md": text for number, text in enumerate(found, start=1)}
    return texts


def quoted(notes: Mapping[str, Note]) -> dict[str, str]:
    """The texts of all notes by path, where half went into a few long ones and the others are cut at their headings."""
    draw = random.Random("giant")
    passages = {path: _passages(note) for path, note in sorted(notes.items())}
    sources = [path for path, blocks in passages.items() if len(blocks) > 1 and draw.random() < _QUOTED_SHARE]
    draw.shuffle(sources)
    texts: dict[str, str] = {}
    for path in sorted(notes.keys() - set(sources)):
        for number, part in enumerate(_parts(notes[path])):
            texts[path if not number else f"{path.removesuffix('.md')} {number}.md"] = part
    many = max(1, len(sources) // _QUOTED_NOTES)
    for number in range(many):
        own = sources[number::many]
        held = {notes[path].title: [notes[path].block_text(block).strip() for block in passages[path]] for path in own}
        texts[f"{FOLDER}/quotes-{number}.md"] = f"# Quotes {number}\n\n" + "\n\n".join(_styled(held, number % 2)) + "\n"
    return texts


def _parts(note: Note) -> list[str]:
    """The note cut at its headings, no part but a last one under so many words."""
    starts = [block.start for block in note.blocks if block.kind is BlockKind.HEADING and block.start > 0]
    parts: list[str] = [""]
    for start, end in pairwise([0, *starts, len(note.text)]):
        if word_count(parts[-1]) >= _PART_WORDS:
            parts.append("")
        parts[-1] += note.text[start:end]
    return parts


def _passages(note: Note) -> list[Block]:
    low, high = _WORDS
    return [
        block
        for block in note.blocks
        if block.kind is BlockKind.PARAGRAPH and low <= word_count(note.block_text(block)) <= high
    ]


def _some(blocks: Sequence[Block], draw: random.Random) -> list[Block]:
    most = min(int(len(blocks) * _LOGGED_SHARE + draw.random()), len(blocks) - _KEPT_PARAGRAPHS)
    return sorted(draw.sample(blocks, most), key=lambda block: block.start) if most > 0 else []


def _without(note: Note, blocks: Sequence[Block]) -> str:
    text = note.text
    for block in reversed(blocks):
        text = text[: block.start].rstrip("\n") + "\n\n" + text[block.end :].lstrip("\n")
    return text


def _reading_notes(
    passages: Mapping[str, Sequence[str]], names: Mapping[str, str], draw: random.Random
) -> Iterator[str]:
    """Notes with the highlights of several others, in three styles by turns."""
    rest = list(passages)
    number = 0
    while rest:
        number += 1
        most = draw.randint(*_SOURCES)
        held = {names[path]: passages[path] for path in rest[:most]}
        rest = rest[most:]
        yield f"# {_title('Reading', number)}\n\n" + "\n\n".join(_styled(held, number % 3)) + "\n"


def _styled(held: Mapping[str, Sequence[str]], style: int) -> Iterator[str]:
    for name, passages in held.items():
        if style:
            yield f"## {name}"
        for passage in passages:
            yield passage if style < 2 else "\n".join(f"> {line}" for line in passage.splitlines())


def _logs(passages: Sequence[str], draw: random.Random) -> Iterator[str]:
    """Notes of many days, a passage or two a day, out of the whole vault."""
    day = _FIRST_DAY
    for number, first in enumerate(range(0, len(passages), _LOG_PASSAGES), start=1):
        days: dict[date, list[str]] = defaultdict(list)
        for passage in passages[first : first + _LOG_PASSAGES]:
            days[day].append(passage)
            day += timedelta(days=draw.choice((0, 1, 1, 3)))
        body = "\n\n".join("\n\n".join([f"## {day.isoformat()}", *found]) for day, found in days.items())
        yield f"# {_title('Log', number)}\n\n{body}\n"


def _maps(notes: Mapping[str, Note], draw: random.Random) -> Iterator[str]:
    """Lists of notes with their first sentence."""
    paths = sorted(notes)
    draw.shuffle(paths)
    for number, first in enumerate(range(0, len(paths), 2 * _MAPPED), start=1):
        lines = [_entry(notes[path]) for path in sorted(paths[first : first + _MAPPED])]
        yield f"# {_title('Map', number)}\n\n" + "\n".join(lines) + "\n"


def _entry(note: Note) -> str:
    said = next((note.block_text(block) for block in note.blocks if block.kind is BlockKind.PARAGRAPH), "")
    first = next(iter(sentences(said)), "")
    return f"- [[{PurePosixPath(note.path).stem}]]: {first}" if first else f"- [[{PurePosixPath(note.path).stem}]]"


def _title(kind: str, number: int) -> str:
    return f"{kind} {number}"


if __name__ == "__main__":
    main()

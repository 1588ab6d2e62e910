"""Vaults of any size out of real text: the public vaults repeated, notes renamed, links pointed at the renamed notes.

Run it to write one: `python bench/synthetic.py FOLDER 10000`.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from infold.errors import NoteUnreadable
from infold.settings import VaultParams
from infold.vault.files import decode, read_bytes
from infold.vault.links import LinkResolver, alias_table
from infold.vault.names import without_suffix
from infold.vault.note import Link, Note, parse
from infold.vault.scanning import scan

ROOT = "index.md"
VAULTS = ("foam-docs", "quartz-docs", "forgetful-notes", "dendron-site")


@dataclass(frozen=True, slots=True)
class Template:
    """A note to be repeated: its text cut at its links, and for each link what to write before and after the number."""

    path: str
    pieces: tuple[str, ...]
    slots: tuple[tuple[str, str], ...]

    def text(self, number: int) -> str:
        """The note of repetition `number`. A last line of its own makes each repetition a content of its own."""
        parts = [self.pieces[0]]
        for (before, after), piece in zip(self.slots, self.pieces[1:], strict=True):
            parts += [before, f" {number}", after, piece]
        return f"{''.join(parts).rstrip()}\n\nRepetition {number} of {self.path}.\n"

    def name(self, number: int) -> str:
        """The path of repetition `number`."""
        return f"r{number}/{without_suffix(self.path)} {number}.md"


def shared_data() -> Path:
    """The folder of public vaults beside the checkout; ends the program with a reason where it is absent."""
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("INFOLD_SHARED_DATA", beside))
    if not folder.is_dir():
        print(f"skipped: no shared data at {folder}; set INFOLD_SHARED_DATA")
        sys.exit(0)
    return folder


def templates(data: Path) -> list[Template]:
    """Every readable note of the public vaults."""
    found: list[Template] = []
    for vault in VAULTS:
        root = data / "vaults" / vault
        notes = [note for note in (_read(root, file.path) for file in scan(root, VaultParams()).files) if note]
        resolver = LinkResolver((n.path for n in notes), alias_table((n.path, n.aliases) for n in notes))
        found += [_template(vault, note, resolver) for note in notes]
    return found


def write_vault(target: Path, count: int, sources: list[Template]) -> Path:
    """Writes `count` notes under `target`, with an index that links to the first note of every repetition."""
    roots: list[str] = []
    for number in range(count // len(sources) + 1):
        share = sources[: max(0, count - 1 - number * len(sources))]
        for template in share:
            file = target / template.name(number)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(template.text(number), encoding="utf-8", newline="")
        roots += [template.name(number) for template in share if template.path.endswith("index.md")]
    lines = [f"- [[{without_suffix(path)}]]" for path in roots]
    target.mkdir(parents=True, exist_ok=True)
    (target / ROOT).write_text("\n".join(["# Index", "", *lines, ""]), encoding="utf-8")
    return target


def _read(root: Path, path: str) -> Note | None:
    try:
        return parse(path, decode(read_bytes(root, path, VaultParams().max_note_bytes), path))
    except NoteUnreadable:
        return None


def _template(vault: str, note: Note, resolver: LinkResolver) -> Template:
    pieces: list[str] = []
    slots: list[tuple[str, str]] = []
    position = 0
    for link in note.links:
        slot = _slot(link, note.path, resolver)
        if slot is None or link.start < position:
            continue
        pieces.append(note.text[position : link.start])
        slots.append(slot)
        position = link.end
    pieces.append(note.text[position:])
    return Template(f"{vault}/{note.path}", tuple(pieces), tuple(slots))


def _slot(link: Link, source: str, resolver: LinkResolver) -> tuple[str, str] | None:
    """The link as written, cut where the number of the repetition goes: after the name, before suffix and anchor."""
    if not link.target:
        return None
    if resolver.resolve(link.target, source):
        names = [f"[[{link.target}"] if link.is_wiki else [link.target, quote(link.target)]
    elif resolver.resolve_link(link, source) and link.alias:
        names = [link.alias.partition("#")[0].strip()]
    else:
        return None
    for name in names:
        if name in link.raw:
            before, _, after = link.raw.rpartition(name)
            suffix = name[len(without_suffix(name)) :]
            return before + without_suffix(name), suffix + after
    return None


def main() -> None:
    """Writes a vault to the folder given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("count", type=int, nargs="?", default=1000)
    arguments = parser.parse_args()
    if arguments.folder is None:
        print("nothing measured here: this makes the vaults that the other benchmarks read")
        return
    print(write_vault(arguments.folder, arguments.count, templates(shared_data())))


if __name__ == "__main__":
    main()

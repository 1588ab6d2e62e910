"""What renaming or moving notes does to links: every link that led to a note leads to it still, at its new place.

Pure: names, links and texts in, new texts out. Writing them as one change belongs to whoever asks. A link that need not
change does not; of those that must, only what names the note changes: alias, heading, block and every byte around stay.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from infold.knowledge.canvas import rewrite_canvas
from infold.knowledge.link_text import definition_of, rewritten
from infold.vault.links import LinkResolver, alias_table
from infold.vault.names import folded, is_note_name, stem, without_suffix
from infold.vault.note import parse
from infold.vault.records import BlockKind, Link, Note
from infold.vault.splices import Splice


class LinkName(NamedTuple):
    """As much of a link as decides where it leads."""

    source: str
    target: str
    alias: str | None
    is_wiki: bool


@dataclass(frozen=True, slots=True)
class RewrittenLink:
    """A link that changes so that it leads to the same note. `path` is its note before the move."""

    path: str
    line: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TouchedLink:
    """A link that is told rather than changed. `note` is where it leads after the move, None where nowhere."""

    path: str
    line: int
    raw: str
    note: str | None


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What a move changes: whole new texts by path before the move.

    `caught` are links that led nowhere and lead to a moved note from now on; `unkept` those that cannot be written so
    that they lead where they did.
    """

    texts: Mapping[str, str]
    rewritten: Sequence[RewrittenLink]
    caught: Sequence[TouchedLink]
    unkept: Sequence[TouchedLink]


def plan_moves(
    moves: Mapping[str, str],
    notes: Mapping[str, Sequence[str]],
    links: Iterable[LinkName],
    read: Callable[[str], str],
    *,
    files: Collection[str] = (),
    canvases: Collection[str] = (),
) -> MovePlan:
    """What renaming the notes in `moves` (old path to new path) changes.

    `notes` are all notes with their aliases, `links` all their links, `files` the paths of what is no note, `canvases`
    the `.canvas` files among them. `read` gives the text at a path before the move.
    """
    moving = _Moving(moves, notes, frozenset(files))
    for path in moving.touched(links):
        moving.note(path, read(path))
    for path in canvases:
        moving.canvas(path, read(path))
    return moving.plan()


@dataclass
class _Moving:
    """The names before and after, and what was found so far."""

    moves: Mapping[str, str]
    notes: Mapping[str, Sequence[str]]
    files: frozenset[str]
    texts: dict[str, str] = field(default_factory=dict)
    changed: list[RewrittenLink] = field(default_factory=list)
    caught: list[TouchedLink] = field(default_factory=list)
    unkept: list[TouchedLink] = field(default_factory=list)

    def __post_init__(self) -> None:
        after = {self.moves.get(path, path): aliases for path, aliases in self.notes.items()}
        self.before = LinkResolver(self.notes, alias_table(self.notes.items()))
        self.after = LinkResolver(after, alias_table(after.items()))

    def touched(self, links: Iterable[LinkName]) -> list[str]:
        """The notes, sorted, with a link that the move may concern: a moved note's own, or one that has its name."""
        names = {folded(name) for pair in self.moves.items() for name in map(stem, pair)}
        names |= {folded(alias.strip()) for path in self.moves for alias in self.notes.get(path, ())}
        found = {path for path in self.moves if path in self.notes}
        for link in links:
            if link.source not in found:
                text = folded(f"{link.target}\n{link.alias or ''}")
                text = f"{text}\n{folded(unquote(text))}" if "%" in text else text
                if any(name in text for name in names):
                    found.add(link.source)
        return sorted(found)

    def note(self, path: str, text: str) -> None:
        """Looks at the links of one note."""
        new = self._rewrite(path, text)
        if new != text:
            self.texts[path] = new

    def canvas(self, path: str, text: str) -> None:
        """Looks at the cards of one canvas."""
        exact = {folded(old): new for old, new in self.moves.items()}
        new = rewrite_canvas(
            text, lambda file: exact.get(folded(file), file), lambda markdown: self._rewrite(path, markdown)
        )
        if new != text:
            self.texts[path] = new

    def plan(self) -> MovePlan:
        """What was found."""
        return MovePlan(self.texts, self.changed, self.caught, self.unkept)

    def _rewrite(self, path: str, text: str) -> str:
        note = parse(path, text)
        splices: dict[tuple[int, int], str] = {}
        wanted = [self._leads_to(link, path) for link in note.links]
        changes: list[tuple[Link, Splice]] = []
        for link, target in zip(note.links, wanted, strict=True):
            splice = self._splice(note, link, target)
            if splice is not None:
                splices.setdefault((splice.start, splice.end), splice.text)
                changes.append((link, splice))
        new = _spliced(text, splices)
        after = parse(self.moves.get(path, path), new, with_blocks=False).links if new != text else note.links
        self._tell(path, note.links, after, wanted)
        self.changed += [
            RewrittenLink(path, link.line, text[s.start : s.end], s.text)
            for link, s in changes
            if new != text and text[s.start : s.end] != s.text
        ]
        return new

    def _leads_to(self, link: Link, path: str) -> str | None:
        """Where the link is to lead after the move: where it leads now."""
        target = self.before.resolve_link(link, path)
        return self.moves.get(target, target) if target is not None else None

    def _tell(self, path: str, old: Sequence[Link], new: Sequence[Link], wanted: Sequence[str | None]) -> None:
        """Names the links that do not lead where they did, as they read once the text is written."""
        place = self.moves.get(path, path)
        if len(old) != len(new):
            self.unkept += [TouchedLink(path, link.line, link.raw, None) for link in old]
            return
        for before, link, target in zip(old, new, wanted, strict=True):
            found = self.after.resolve_link(link, place)
            if found != target:
                told = self.caught if target is None else self.unkept
                told.append(TouchedLink(path, before.line, before.raw, found))

    def _splice(self, note: Note, link: Link, target: str | None) -> Splice | None:
        """The change of text that keeps the link leading to `target`; None where none is needed or possible."""
        if not link.target:
            return None
        place = self.moves.get(note.path, note.path)
        if target is None:
            return self._attachment(note, link, place)
        is_relative = self._is_relative(link, note.path)
        if self.after.resolve_link(link, place) == target and (
            not is_relative or _from_folder(place, link.target) in (target, without_suffix(target))
        ):
            return None
        is_reversed = self.before.resolve(link.target, note.path) is None
        written = (link.alias or "") if is_reversed else link.target
        for candidate in _candidates(written, target, place, is_relative=is_relative):
            if self.after.resolve(candidate, place) == target:
                keeps_shown = self._is_alias(link, note.path)
                return _written(note, link, candidate, is_reversed=is_reversed, keeps_shown=keeps_shown)
        return None

    def _attachment(self, note: Note, link: Link, place: str) -> Splice | None:
        """A moved note's links to files of other kinds, where they count from its folder."""
        if place == note.path or (link.is_wiki and not link.target.startswith(("./", "../"))):
            return None
        file = _from_folder(note.path, link.target)
        if file not in self.files or _from_folder(place, link.target) == file:
            return None
        return _written(note, link, _relative(file, place, link.target))

    def _is_relative(self, link: Link, path: str) -> bool:
        """Whether a Markdown link is a true path from its note's folder, which other programs follow it by."""
        if link.is_wiki:
            return False
        target = self.before.resolve(link.target, path)
        return target is not None and _from_folder(path, link.target) in (target, without_suffix(target))

    def _is_alias(self, link: Link, path: str) -> bool:
        """Whether the link names its note by an alias, so that its text would no longer read as it did."""
        target = self.before.resolve(link.target, path)
        name = folded(without_suffix(link.target.rpartition("/")[2]))
        return target is not None and folded(stem(target)) not in (name, unquote(name))


def _written(
    note: Note, link: Link, candidate: str, *, is_reversed: bool = False, keeps_shown: bool = False
) -> Splice | None:
    """The splice that makes `link` name `candidate`."""
    in_front = note.front_matter is not None and link.start < note.front_matter.end
    in_table = any(b.kind is BlockKind.TABLE and b.start <= link.start < b.end for b in note.blocks)
    span, new = rewritten(
        link,
        candidate,
        is_reversed=is_reversed,
        keeps_shown=keeps_shown,
        in_front_matter=in_front,
        in_table=in_table,
    )
    if span is not None:
        return Splice(link.start + span[0], link.start + span[1], new)
    found = definition_of(link, note.text, candidate)
    return Splice(*found) if found is not None else None


def _spliced(text: str, splices: Mapping[tuple[int, int], str]) -> str:
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(splices.items()):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _candidates(written: str, target: str, place: str, *, is_relative: bool) -> list[str]:
    """Texts that may name `target` in the note at `place`, those most like what was written first."""
    path = target if is_note_name(written) else without_suffix(target)
    parts = path.split("/")
    depth = len([part for part in written.strip("/").split("/") if part not in (".", "..")])
    shorter = ["/".join(parts[-count:]) for count in range(max(1, min(depth, len(parts))), len(parts) + 1)]
    found = [*shorter, f"/{path}", f"/{target}"]
    if is_relative or written.startswith(("./", "../")):
        return [_relative(path, place, written), *found]
    return [f"/{path}", *found] if written.startswith("/") else found


def _relative(path: str, place: str, written: str) -> str:
    """`path` as it is written from the folder of the note at `place`, with `./` where there was one."""
    found = posixpath.relpath(path, posixpath.dirname(place) or ".")
    return f"./{found}" if written.startswith(("./", "../")) and not found.startswith("../") else found


def _from_folder(place: str, written: str) -> str:
    """The path that `written` means from the folder of the note at `place`; climbs out where it begins with `..`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), written))

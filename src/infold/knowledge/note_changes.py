"""Notes made, renamed, moved and deleted: each as one change that can be looked at first and taken back after.

What becomes of links belongs to `knowledge.moves`, what a new note looks like to `knowledge.new_note`, how a change is
made durable to `durable.changes`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from infold.catalogue.store import Catalogue
from infold.durable.change import ChangeKind
from infold.durable.changes import Changes, PlannedChange
from infold.durable.records import FileChange
from infold.errors import NoteExists, NoteNotFound, PathRefused, UsageError
from infold.knowledge.moves import MovePlan, TouchedLink
from infold.knowledge.moves import plan_moves as plan_link_moves
from infold.knowledge.new_note import RELATED, content_twin, file_name, link_to, name_twin, note_text
from infold.knowledge.vault_links import aliases_of, backlinks_of, link_names, named_note, resolver_of
from infold.notebook.names import page_path
from infold.notebook.sections import appended_to_section
from infold.vault.files import decode, read_bytes
from infold.vault.names import folded, is_note_name, stem
from infold.workspace import Workspace

_UNLINKABLE: Final = frozenset("#^[]|")


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A note to be made. `more` are further values of its front matter, such as where its text is from."""

    title: str
    content: str
    folder: str
    tags: Sequence[str] = ()
    related: Sequence[str] = ()
    links_back: bool = False
    more: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class PlannedNote:
    """A new note that can be looked at before it is made, and the notes it links to."""

    path: str
    change: PlannedChange
    related: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A note's new path, what becomes of links, and the change that does it all."""

    path: str
    links: MovePlan
    change: PlannedChange


@dataclass(frozen=True, slots=True)
class PlannedDeletion:
    """A note that is to go, and the links of other notes that will lead nowhere."""

    path: str
    breaks: tuple[TouchedLink, ...]
    change: PlannedChange


class NoteChanges:
    """Plans changes of the notes of a vault, whose catalogue is up to date."""

    def __init__(self, workspace: Workspace, catalogue: Catalogue) -> None:
        self._workspace, self._catalogue = workspace, catalogue
        self._changes = Changes(workspace)

    def plan_create(self, draft: NoteDraft, near: Callable[[str], Iterable[str]]) -> PlannedNote:
        """A new note. `near` gives the notes that a text has most to do with, among which a twin would be.

        Raises NoteExists, naming it, where the vault has the note already: by its name up to case, Unicode form and
        punctuation, or by what it says. Raises NoteNotFound for a related note there is none of, UsageError and
        PathRefused.
        """
        name = file_name(draft.title)
        notes = self._catalogue.notes()
        self._refuse_twin(draft, name, [(note.path, note.title, note.aliases) for note in notes], near)
        folder = draft.folder.strip("/")
        path = page_path(self._workspace.vault, f"{folder}/{name}.md" if folder else f"{name}.md")
        known: dict[str, Sequence[str]] = {note.path: note.aliases for note in notes}
        related = tuple(dict.fromkeys(map(self.find, draft.related)))
        after = resolver_of({**known, path: ()})
        text = note_text(
            " ".join(draft.title.split()),
            name,
            draft.content,
            tags=draft.tags,
            created=datetime.now(UTC).astimezone().date().isoformat(),
            links=[link_to(after, other, path) for other in related],
            more=draft.more,
        )
        files = [FileChange(path, None, text.encode())]
        if draft.links_back:
            files += [self._linked_back(other, link_to(after, path, other)) for other in related]
        return PlannedNote(path, self._changes.plan(ChangeKind.CREATE, files, f"{path} made"), related)

    def plan_move(self, old: str, new: str) -> PlannedMove:
        """A note under another name, or in another folder where `new` ends with `/`.

        Raises NoteNotFound, NoteExists, PathRefused and UsageError.
        """
        source = self.find(old)
        path = self._new_path(source, new)
        links, change = self.plan_moves({source: path}, f"{source} is {path} now")
        return PlannedMove(path, links, change)

    def plan_moves(self, moves: Mapping[str, str], summary: str) -> tuple[MovePlan, PlannedChange]:
        """What becomes of links when notes move, by old and free new path, and the one change that does it all."""
        known = aliases_of(self._catalogue)
        others = _other_files(self._workspace.vault)
        canvases = [file for file in others if file.endswith(".canvas")]
        plan = plan_link_moves(moves, known, link_names(self._catalogue), self._text, files=others, canvases=canvases)
        files = [
            FileChange(other, self._bytes(other), text.encode())
            for other, text in plan.texts.items()
            if other not in moves
        ]
        data = {source: self._bytes(source) for source in moves}
        moved = {source: plan.texts[source].encode() if source in plan.texts else data[source] for source in moves}
        change = [
            *(FileChange(path, None, moved[source], moved_from=source) for source, path in moves.items()),
            *files,
            *(FileChange(source, data[source], None, needs_all=True) for source in moves),
        ]
        return plan, self._changes.plan(ChangeKind.RENAME, change, summary)

    def plan_delete(self, name: str) -> PlannedDeletion:
        """A note that goes; its bytes are kept with the change. Raises NoteNotFound."""
        path = self.find(name)
        breaks = tuple(
            TouchedLink(link.path, link.line, link.context, None) for link in backlinks_of(self._catalogue, path)
        )
        change = self._changes.plan(ChangeKind.DELETE, [FileChange(path, self._bytes(path), None)], f"{path} deleted")
        return PlannedDeletion(path, breaks, change)

    def find(self, name: str) -> str:
        """The note that `name` means, as a link to it would. Raises NoteNotFound with the names that come near."""
        wanted = name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")[0].strip()
        found = named_note(self._catalogue, wanted)
        if found is None:
            near = _near(wanted, self._catalogue.paths())
            raise NoteNotFound(
                f"There is no note {name!r}.",
                hint=f"Near it: {', '.join(near)}" if near else "`infold search` finds notes.",
            )
        return found

    def _refuse_twin(
        self,
        draft: NoteDraft,
        name: str,
        notes: Sequence[tuple[str, str, Sequence[str]]],
        near: Callable[[str], Iterable[str]],
    ) -> None:
        twin = name_twin(draft.title, notes) or name_twin(name, notes)
        if twin is not None:
            raise NoteExists(f"There is a note of that name already: {twin}.", hint="Add to it with notebook_write.")
        texts = ((path, self._text(path)) for path in near(draft.content))
        twin = content_twin(draft.content, texts)
        if twin is not None:
            raise NoteExists(f"{twin} says nearly the same already.", hint="Add to it with notebook_write.")

    def _new_path(self, source: str, new: str) -> str:
        folder, _, name = source.rpartition("/")
        wanted = new.strip()
        if wanted.endswith("/"):
            wanted = f"{wanted.strip('/')}/{name}".strip("/")
        elif "/" not in wanted and folder:
            wanted = f"{folder}/{wanted}"
        wanted = wanted.removeprefix("/")
        if not is_note_name(wanted):
            wanted += name[len(stem(name)) :]
        if _UNLINKABLE & set(wanted):
            raise PathRefused(f"{wanted!r} holds one of # ^ [ ] |, which no link can.", hint="Choose another name.")
        if wanted == source:
            raise UsageError(f"{source} is called that already.")
        if folded(wanted) == folded(source):
            return wanted
        path = page_path(self._workspace.vault, wanted)
        if (self._workspace.vault / path).exists():
            raise NoteExists(f"There is a note {path} already.", hint="Choose another name, or merge them by hand.")
        return path

    def _linked_back(self, path: str, link: str) -> FileChange:
        before = self._bytes(path)
        after = appended_to_section(self._text(path), RELATED, f"- {link}").text.encode()
        return FileChange(path, before, after)

    def _text(self, path: str) -> str:
        return decode(self._bytes(path), path)

    def _bytes(self, path: str) -> bytes:
        return read_bytes(self._workspace.vault, path, self._workspace.params.vault.max_note_bytes)


def _other_files(vault: Path) -> list[str]:
    """Every file of the vault that is no note, hidden ones left out."""
    found: list[str] = []
    for here, folders, names in os.walk(vault, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        base = Path(here).relative_to(vault).as_posix()
        prefix = "" if base == "." else f"{base}/"
        found += [f"{prefix}{name}" for name in sorted(names) if not name.startswith(".") and not is_note_name(name)]
    return found


def _near(name: str, paths: Sequence[str]) -> list[str]:
    from rapidfuzz import fuzz, process

    names = {path: folded(stem(path)) for path in paths}
    return [
        found[2] for found in process.extract(folded(stem(name)), names, scorer=fuzz.ratio, limit=3, score_cutoff=60)
    ]

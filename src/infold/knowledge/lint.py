"""What is not well in a vault: links to nothing, notes on their own, twins, empty notes, and what contradicts itself.

Reads the catalogue and the notes. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from infold.catalogue.records import CataloguedNote
from infold.catalogue.store import Catalogue
from infold.errors import NoteUnreadable, PathRefused
from infold.knowledge.dangling import DanglingLink
from infold.knowledge.new_note import name_key
from infold.knowledge.vault_links import dangling_of, graph_of
from infold.librarian.offline.contradictions import Contradiction, Statement, contradictions, statements
from infold.vault.names import stem


@dataclass(frozen=True, slots=True)
class LintReport:
    """What was found. `twins` are notes whose names differ in case, Unicode form or punctuation only."""

    notes: int
    dangling_count: int
    dangling: Sequence[DanglingLink]  # those most often said
    orphans: Sequence[str]
    twins: Sequence[tuple[str, ...]]
    empty: Sequence[str]
    contradictions: Sequence[Contradiction]
    unread: Sequence[str]  # notes that could not be read, so that nothing is said of what they say


def lint(
    catalogue: Catalogue, root: str | None, *, with_contradictions: bool = True, dangling_limit: int | None = None
) -> LintReport:
    """Looks at the whole vault. `root` is no orphan: a reader starts there. `dangling_limit`: links named at most."""
    notes = catalogue.notes()
    graph = graph_of(catalogue)
    dangling = dangling_of(catalogue)
    unread: list[str] = []
    said = _statements(catalogue, notes, unread) if with_contradictions else iter(())
    return LintReport(
        notes=len(notes),
        dangling_count=len(dangling),
        dangling=dangling.first(dangling_limit, graph.notes),
        orphans=graph.orphans(root),
        twins=_twins(notes),
        empty=[note.path for note in notes if not note.words],
        contradictions=contradictions(said),
        unread=unread,
    )


def _twins(notes: Sequence[CataloguedNote]) -> list[tuple[str, ...]]:
    names: dict[str, list[str]] = {}
    for note in notes:
        names.setdefault(name_key(stem(note.path)), []).append(note.path)
    return [tuple(paths) for _, paths in sorted(names.items()) if len(paths) > 1]


def _statements(catalogue: Catalogue, notes: Sequence[CataloguedNote], unread: list[str]) -> Iterator[Statement]:
    for note in notes:
        try:
            parsed = catalogue.note(note.path)
        except (NoteUnreadable, PathRefused):
            unread.append(note.path)
            continue
        yield from statements(parsed, note.day)

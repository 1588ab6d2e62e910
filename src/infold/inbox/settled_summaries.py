"""Whether each note has its summary, told without reading notes or summaries: by a mark in the catalogue.

The mark is of the notes, of the files the summaries lie in, and of all that a summary depends on; where any of these is
another, all summaries are looked at. But where all were settled and only a few notes changed since, which no index note
has a part in, these alone are summarised. Only for the offline librarian, which is known without being loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.catalogue.derived import found_of, generation_of, is_marked, put_mark, put_of
from infold.catalogue.kinds import inbox_of, kind_of
from infold.catalogue.summaries import GENERAL, NOTE, OWN, SummaryRow, SummaryStore
from infold.errors import NoteUnreadable, PathRefused
from infold.librarian.offline.version import NAME as OFFLINE
from infold.text import collapse_spaces, content_hash, token_count
from infold.vault.front_matter import without_front_matter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from infold.catalogue.records import CataloguedNote
    from infold.catalogue.store import Catalogue
    from infold.inbox.summarising import Summaries
    from infold.workspace import Workspace

AsFound = tuple[int, dict[bytes, str]]  # the generation of the catalogue, and its contents
_MARK: Final = "summaries are settled"
_CONTENTS: Final = "contents with settled summaries"
_FEW: Final = 50  # changed notes, which are summarised sooner than all are looked at
_DIGEST: Final = 16  # bytes that tell one content from another


def are_settled(workspace: Workspace, catalogue: Catalogue) -> bool:
    """Whether each note has its summary, as notes and settings are now; a few that lack theirs are given it.

    Raises StateUnwritable.
    """
    if workspace.params.librarian.kind != "offline":
        return False
    return is_marked(catalogue, _MARK, _state(workspace)) or _are_few_settled(workspace, catalogue)


async def settle(
    workspace: Workspace, catalogue: Catalogue, librarian: str, sync: Callable[[], Awaitable[Summaries]]
) -> Summaries:
    """Brings the summaries up to date by `sync`, and notes where there was nothing to do. Raises what `sync` raises.

    `librarian` is the name of the one who summarises.
    """
    if librarian != OFFLINE:
        return await sync()
    before = as_found(workspace, catalogue)
    return note_settled(workspace, catalogue, before, await sync())


def as_found(workspace: Workspace, catalogue: Catalogue) -> AsFound:
    """What summaries are about to be made of."""
    return generation_of(catalogue), _contents(workspace, catalogue)


def note_settled(workspace: Workspace, catalogue: Catalogue, before: AsFound, done: Summaries) -> Summaries:
    """What was done, as given; where that is nothing, it is noted that what was found before has its summaries."""
    if not done.made and not done.warnings:
        seen, contents = before
        _note(workspace, catalogue, contents, seen)
    return done


def _are_few_settled(workspace: Workspace, catalogue: Catalogue) -> bool:
    """Whether all have their summaries after those of a few changed notes were made."""
    store, state = SummaryStore(workspace.summaries), _state(workspace)
    held = found_of(catalogue, _CONTENTS, state)
    if held is None:
        return False
    parts = set(store.parts())
    settled = {held[at : at + _DIGEST] for at in range(0, len(held), _DIGEST)}
    seen, contents = generation_of(catalogue), _contents(workspace, catalogue)
    paths = [path for digest, path in contents.items() if digest not in settled]
    kind = kind_of(workspace.params, workspace.vault)
    if len(paths) > _FEW or any(kind(path) == "index" for path in paths):
        return False
    try:
        rows = [_row(workspace, catalogue, note) for note in catalogue.notes(paths)]
    except (NoteUnreadable, PathRefused):
        return False
    store.append(rows)
    if not parts.issubset(store.parts()):  # somebody else takes summaries away
        return False
    _note(workspace, catalogue, contents, seen)
    return True


def _note(workspace: Workspace, catalogue: Catalogue, contents: dict[bytes, str], seen: int) -> None:
    """Keeps that these contents have their summaries."""
    state = _state(workspace)
    put_of(catalogue, _CONTENTS, state, b"".join(contents))
    put_mark(catalogue, _MARK, state, seen)


def _row(workspace: Workspace, catalogue: Catalogue, note: CataloguedNote) -> SummaryRow:
    """The summary of a note that is no index note, as the librarian makes it. Raises NoteUnreadable, PathRefused."""
    from infold.librarian.offline.summaries import extract  # here: most often nothing is to be summarised

    text = without_front_matter(catalogue.text(note.path))
    low, high = workspace.params.summary.summary_target_words
    is_own = note.words < low
    summary, model = (collapse_spaces(text), OWN) if is_own else (extract(text, low, high), OFFLINE)
    tokens = (0, 0) if is_own else (token_count(text), token_count(summary))
    return SummaryRow(note.sha256, NOTE, GENERAL, summary, model, model.rpartition("/")[2], *tokens)


def _contents(workspace: Workspace, catalogue: Catalogue) -> dict[bytes, str]:
    """A digest of all that each note's summary depends on, with the note's path: of an index note, its links too."""
    hashes = catalogue.hashes()
    inbox = inbox_of(workspace.params)
    may_be_index = _index_names(workspace)
    found = {bytes.fromhex(digest[: 2 * _DIGEST]): path for path, digest in hashes.items() if path != inbox}
    for path, targets in catalogue.outgoing([path for path in hashes if may_be_index(path)]).items():
        linked = [(target, hashes[target]) for target in targets if target in hashes]
        found[bytes.fromhex(content_hash(repr((path, hashes[path], linked)))[: 2 * _DIGEST])] = path
    return found


def _index_names(workspace: Workspace) -> Callable[[str], bool]:
    """Whether a path may be an index note's, told at once; of these each is looked at with what it links to."""
    pattern = workspace.params.summary.index_filename_pattern.casefold()
    return lambda path: bool(pattern) and pattern in path.casefold()


def _state(workspace: Workspace) -> str:
    """All that summaries depend on but the notes, and the files that they lie in."""
    params = workspace.params
    parts = SummaryStore(workspace.summaries).parts()
    return content_hash(repr((OFFLINE, _values(params.summary), params.vault.inbox_file, parts)))


def _values(section: object) -> list[tuple[str, object]]:
    """The settings of a section, whether they were checked in this process or kept (`infold.settings_record`)."""
    return sorted((name, value) for name, value in vars(section).items() if not name.startswith("model_"))

"""The archive of sessions: list it, add transcripts, forget one in every place that knows of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infold.catalogue.embeddings import EmbeddingStore
from infold.durable.files import Disk
from infold.durable.locks import vault_lock
from infold.errors import NoteUnreadable, PathRefused, StateUnwritable, UsageError
from infold.notebook.sessions import PREFIX, session_points, transcript_files
from infold.notebook.transcripts import SUFFIX, read_transcript
from infold.vault.writing import WAIT_SECONDS
from infold.workspace import Workspace

_MOST_LINES_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Session:
    """A transcript of the archive. `problem` says which lines could not be read, or why none could."""

    path: str
    title: str
    day: str | None
    turns: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was taken away with a transcript."""

    path: str
    file: str
    passages: int
    embeddings: int


def list_sessions(workspace: Workspace) -> list[Session]:
    """Every transcript, by its day and path; what cannot be read is named."""
    found = [_session(f"{PREFIX}{name}", file) for name, file in transcript_files(workspace.sessions)]
    return sorted(found, key=lambda session: (session.day or "", session.path))


def add_transcripts(workspace: Workspace, files: Sequence[Path]) -> list[Session]:
    """Copies transcripts into the archive, under their own names; one that is there already grows, and never shrinks.

    Raises UsageError for what is no transcript, or would take the place of another conversation; VaultBusy.
    """
    folder = workspace.sessions
    disk = Disk()
    added = []
    for file in files:
        if not file.exists():
            raise UsageError(f"There is no file {file}.", hint="Give the paths of transcripts.")
        if file.suffix != SUFFIX or not file.is_file():
            raise UsageError(f"{file} is not a transcript.", hint=f"Give files of JSON lines, named {SUFFIX}.")
        try:
            data, session = file.read_bytes(), _session(f"{PREFIX}{file.name}", file)
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from error
        if not session.turns:
            raise UsageError(f"{file} holds no turn of a conversation.", hint="Its lines need role and content.")
        target = folder / file.name
        with vault_lock(workspace, WAIT_SECONDS):  # others may add the same
            if target.exists() and not data.startswith(target.read_bytes()):
                raise UsageError(f"{target} is another conversation.", hint="Rename the file, then add it.")
            disk.make_folder(folder)
            disk.write_whole(target, data)
        added.append(session)
    return added


def find_session(workspace: Workspace, name: str) -> tuple[str, Path]:
    """The transcript that `name` means, by its path, its name or a unique beginning of that. Raises UsageError."""
    known = transcript_files(workspace.sessions)
    wanted = name.removeprefix(PREFIX).removesuffix(SUFFIX)
    exact = [(path, file) for path, file in known if path.removesuffix(SUFFIX) == wanted]
    found = exact or [(path, file) for path, file in known if file.name.startswith(wanted)] if wanted else []
    if len(found) != 1:
        which = f"{len(found)} sessions begin with" if found else "There is no session"
        raise UsageError(f"{which} {name!r}.", hint="`infold sessions list` names them.")
    return found[0]


def forget_session(workspace: Workspace, name: str, unindex: Callable[[str], None]) -> Forgotten:
    """Deletes a transcript and the embeddings of its passages; `unindex` takes its path from the index.

    It cannot be taken back. Raises UsageError where none or several are meant, StateUnwritable, VaultBusy.
    """
    relative, file = find_session(workspace, name)
    path = f"{PREFIX}{relative}"
    keys: list[str] = []
    with contextlib.suppress(NoteUnreadable, PathRefused):
        keys = session_points(path, read_transcript(file), workspace.params.search, "").keys
    try:
        file.unlink()
    except OSError as error:
        raise StateUnwritable(f"{file} cannot be deleted: {error.strerror or error}.") from error
    unindex(path)
    return Forgotten(path, str(file), len(keys), EmbeddingStore(workspace.embeddings).forget(keys))


def _session(path: str, file: Path) -> Session:
    try:
        transcript = read_transcript(file)
    except NoteUnreadable as error:
        return Session(path, "", None, 0, str(error))
    bad = transcript.malformed
    named = ", ".join(map(str, bad[:_MOST_LINES_NAMED])) + (", …" if len(bad) > _MOST_LINES_NAMED else "")
    problem = f"{len(bad)} line{'s' * (len(bad) != 1)} cannot be read: {named}" if bad else ""
    return Session(path, transcript.title, transcript.day(path), len(transcript.turns), problem)

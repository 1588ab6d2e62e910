"""Transcripts of conversations: listed, added, forgotten (spec 3, Appendix C)."""

from __future__ import annotations

from pathlib import Path

from infold.app import OpenVault
from infold.errors import StateUnwritable, UsageError, VaultBusy
from infold.notebook import archive
from infold.operations.contract import Effect, Face, Group, Message, Nothing
from infold.operations.table import operation

_OF_THIS_MACHINE = "the files are of the machine that infold runs on; who calls over a wire adds turns another way"


class SessionFacts(Message):
    """A transcript."""

    path: str
    title: str
    day: str | None
    turns: int
    problem: str
    """Which lines could not be read, or why none could."""


class SessionListAnswer(Message):
    """The transcripts by day, the oldest first."""

    folder: str
    sessions: tuple[SessionFacts, ...]


@operation(Group.MEMORY, Effect.READS)
def session_list(vault: OpenVault, request: Nothing) -> SessionListAnswer:  # noqa: ARG001
    """List the sessions by day: turns, title, and lines that could not be read."""
    known = archive.list_sessions(vault.workspace)
    return SessionListAnswer(
        folder=str(vault.workspace.sessions), sessions=tuple(SessionFacts.of(session) for session in known)
    )


class SessionAddRequest(Message):
    """Which transcripts."""

    files: tuple[Path, ...]
    """Files of JSON lines, each with role and content."""


class SessionAddAnswer(Message):
    """What was added."""

    added: tuple[SessionFacts, ...]


@operation(
    Group.MEMORY,
    Effect.WRITES,
    errors=(UsageError, VaultBusy, StateUnwritable),
    not_in=dict.fromkeys((Face.MCP, Face.HTTP, Face.AGENT), _OF_THIS_MACHINE),
)
def session_add(vault: OpenVault, request: SessionAddRequest) -> SessionAddAnswer:
    """Copy transcripts into the folder of sessions. One that is there already grows, and never shrinks."""
    added = archive.add_transcripts(vault.workspace, request.files)
    return SessionAddAnswer(added=tuple(SessionFacts.of(session) for session in added))


class SessionForgetRequest(Message):
    """Which session."""

    name: str
    """Its path, its name, or a unique beginning of that."""


class SessionForgetAnswer(Message):
    """What was deleted."""

    path: str
    file: str
    passages: int
    embeddings: int
    nodes: int
    """Memory nodes."""


@operation(Group.MEMORY, Effect.DESTROYS, is_idempotent=False, errors=(UsageError, VaultBusy, StateUnwritable))
def session_forget(vault: OpenVault, request: SessionForgetRequest) -> SessionForgetAnswer:
    """Delete a transcript, its passages in the index, their embeddings, and its memory tree with all copies.

    It cannot be taken back.
    """
    gone, nodes = vault.forget_session(request.name)
    return SessionForgetAnswer.of(gone, nodes=nodes)


class SessionIndexAnswer(Message):
    """What was brought up to date (spec 3, section 5, SyncResult)."""

    files_scanned: int
    files_changed: int
    chunks_created: int
    embeddings_computed: int
    embeddings_cached: int
    duration_ms: int
    sessions: int
    problems: dict[str, str]
    """Sessions with lines that could not be read."""


@operation(Group.MEMORY, Effect.READS, takes_long=True, errors=(VaultBusy, StateUnwritable))
def session_index(vault: OpenVault, request: Nothing) -> SessionIndexAnswer:  # noqa: ARG001
    """Bring the index up to date with all transcripts, also those that are being written."""
    done = vault.sync_index()
    known = archive.list_sessions(vault.workspace)
    problems = {session.path: session.problem for session in known if session.problem}
    return SessionIndexAnswer.of(done, sessions=len(known), problems=problems)

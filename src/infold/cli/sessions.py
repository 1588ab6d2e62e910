"""`infold sessions`: transcripts of conversations, indexed, listed, added and forgotten."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command
from infold.errors import UsageError

if TYPE_CHECKING:
    from infold.locate import LocatedWorkspace
    from infold.search.embed.embedder import Embedder


@command
def index(call: Call) -> int:
    """Bring the index up to date with the transcripts. `infold flows up` does this every hour."""
    from infold.cli.progress import Stages
    from infold.notebook.archive import index_sessions, list_sessions

    place = call.place()
    with Stages(call.terminal) as stages, ExitStack() as stack:
        done = index_sessions(place.workspace, _embedder(place, stack), stages)
    known = list_sessions(place.workspace)
    for session in known:
        if session.problem:
            call.terminal.notice(f"! {session.path}: {session.problem}", style="yellow")
    if call.terminal.is_json:
        problems = {session.path: session.problem for session in known if session.problem}
        call.terminal.emit({**done.as_json(), "sessions": len(known), "problems": problems})
        return 0
    call.terminal.say(
        f"{_count(len(known), 'session')} in {place.workspace.sessions}; new or changed, notes too: "
        f"{_count(done.files_changed, 'file')}, {_count(done.chunks_created, 'passage')}; "
        f"{done.duration_ms / 1000:.1f} s."
    )
    return 0


@command
def list_(call: Call) -> int:
    """List the sessions by day: turns, title, and lines that could not be read."""
    from infold.notebook.archive import list_sessions

    place = call.place()
    known = list_sessions(place.workspace)
    if call.terminal.is_json:
        call.terminal.emit({"folder": str(place.workspace.sessions), "sessions": [s.as_json() for s in known]})
        return 0
    if not known:
        call.terminal.say(f"No sessions in {place.workspace.sessions}.")
    for session in known:
        turns = _count(session.turns, "turn")
        call.terminal.say(f"{session.day or '          '}  {session.path}  {turns}  {session.title}")
        if session.problem:
            call.terminal.notice(f"! {session.path}: {session.problem}", style="yellow")
    return 0


@command
def add(
    call: Call,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Transcripts, *.jsonl.", show_default=False)],
) -> int:
    """Copy transcripts into the folder of sessions: one JSON object a line, with role and content."""
    from infold.notebook.archive import add_transcripts

    added = add_transcripts(call.place().workspace, files)
    if call.terminal.is_json:
        call.terminal.emit({"added": [session.as_json() for session in added]})
        return 0
    for session in added:
        call.terminal.say(f"added {session.path}: {_count(session.turns, 'turn')}")
        if session.problem:
            call.terminal.notice(f"! {session.path}: {session.problem}", style="yellow")
    call.terminal.say("`infold sessions index` makes them searchable now; else a search in an hour or later does.")
    return 0


@command
def forget(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A session, as `list` names it.", show_default=False)],
    *,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask.")] = False,
) -> int:
    """Delete a transcript, its passages in the index, their embeddings, and its memory tree with all copies.

    It cannot be taken back. Backups that you made are your own to delete.
    """
    from infold.notebook.archive import find_session, forget_session
    from infold.notebook.sessions import PREFIX

    terminal = call.terminal
    place = call.place()
    path, file = find_session(place.workspace, name)
    if not yes:
        if terminal.is_json or not terminal.is_watched:
            raise UsageError(f"{file} would be deleted for good.", hint="Add --yes to do it.")
        if not typer.confirm(f"Delete {file} for good?", err=True):
            return 1
    nodes = _forget_nodes(place, PREFIX + path)  # first: the transcript, while it is there, is what can be named again
    with ExitStack() as stack:
        gone = forget_session(place.workspace, name, _embedder(place, stack))
    if terminal.is_json:
        terminal.emit(
            {
                "path": gone.path,
                "file": gone.file,
                "passages": gone.passages,
                "embeddings": gone.embeddings,
                "nodes": nodes,
            }
        )
    else:
        terminal.say(
            f"Forgot {gone.path}: transcript, passages ({gone.passages}), embeddings ({gone.embeddings}), "
            f"memory nodes ({nodes})."
        )
    return 0


def _forget_nodes(place: LocatedWorkspace, session: str) -> int:
    file = place.workspace.docmem
    if not file.exists():
        return 0
    from infold.docmem.chats import forget_session_nodes
    from infold.docmem.memory import open_docmem

    with closing(open_docmem(file)) as memory:
        return forget_session_nodes(memory, session)


def _embedder(place: LocatedWorkspace, stack: ExitStack) -> Embedder | None:
    from infold.search.embed.embedder import open_embedder

    embedder = open_embedder(place.params.search)
    if embedder is not None:
        stack.callback(embedder.close)
    return embedder


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"

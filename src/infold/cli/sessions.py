"""`infold sessions`: transcripts of conversations, indexed, listed, added and forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.notebook.archive import find_session
from infold.operations.contract import Nothing
from infold.operations.sessions import (
    SessionAddRequest,
    SessionForgetRequest,
    session_add,
    session_forget,
    session_index,
    session_list,
)
from infold.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable


@command
def index(call: Call) -> int:
    """Bring the index up to date with the transcripts. `infold flows up` does this every hour."""
    terminal = call.terminal
    with call.vault() as vault:
        with Stages(terminal) as stages, vault.reporting(stages):
            done = session_index(vault, Nothing())
        folder = vault.workspace.sessions
    _tell_problems(call, done.problems.items())
    if terminal.is_json:
        return terminal.answer(done)
    terminal.say(
        f"{counted(done.sessions, 'session')} in {folder}; new or changed, notes too: "
        f"{counted(done.files_changed, 'file')}, {counted(done.chunks_created, 'passage')}; "
        f"{done.duration_ms / 1000:.1f} s."
    )
    return 0


@command
def list_(call: Call) -> int:
    """List the sessions by day: turns, title, and lines that could not be read."""
    terminal = call.terminal
    with call.vault() as vault:
        found = session_list(vault, Nothing())
    if terminal.is_json:
        return terminal.answer(found)
    if not found.sessions:
        terminal.say(f"No sessions in {found.folder}.")
    for session in found.sessions:
        turns = counted(session.turns, "turn")
        terminal.say(f"{session.day or '          '}  {session.path}  {turns}  {session.title}")
        _tell_problems(call, [(session.path, session.problem)])
    return 0


@command
def add(
    call: Call,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Transcripts, *.jsonl.", show_default=False)],
) -> int:
    """Copy transcripts into the folder of sessions: one JSON object a line, with role and content."""
    terminal = call.terminal
    with call.vault() as vault:
        done = session_add(vault, SessionAddRequest(files=tuple(files)))
    if terminal.is_json:
        return terminal.answer(done)
    for session in done.added:
        terminal.say(f"added {session.path}: {counted(session.turns, 'turn')}")
        _tell_problems(call, [(session.path, session.problem)])
    terminal.say("`infold sessions index` makes them searchable now; else a search in an hour or later does.")
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
    terminal = call.terminal
    with call.vault() as vault:
        _, file = find_session(vault.workspace, name)
        if not terminal.agrees(f"{file} would be deleted for good", f"Delete {file} for good?", yes=yes):
            return 1
        gone = session_forget(vault, SessionForgetRequest(name=name))
    return terminal.answer(
        gone,
        f"Forgot {gone.path}: transcript, passages ({gone.passages}), embeddings ({gone.embeddings}), "
        f"memory nodes ({gone.nodes}).",
    )


def _tell_problems(call: Call, problems: Iterable[tuple[str, str]]) -> None:
    for path, problem in problems:
        if problem:
            call.terminal.notice(f"! {path}: {problem}", style="yellow")

"""Sessions as `chat_session` trees. The transcript is the truth; its tree is a view of it that grows with it.

The root of such a tree carries the mark `session` with the path of the transcript (`sessions/2026-02-24.jsonl`): the
search index has the session's own passages, so that the nodes below are not indexed a second time. Each message has the
mark `turn`, path and line. What belongs to transcripts and their folder is `notebook.sessions` and `notebook.archive`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

from infold.docmem import marks, stale, writing
from infold.docmem.memory import Docmem
from infold.docmem.node import Context, Node
from infold.docmem.place import child_of
from infold.docmem.rows import Rows
from infold.docmem.tree_builder import TreeDraft, shortened
from infold.errors import ImportRefused, NoteUnreadable
from infold.notebook.archive import add_transcripts, find_session
from infold.notebook.sessions import PREFIX
from infold.notebook.transcripts import SUFFIX, SessionTurn, parse_transcript, read_transcript
from infold.text import content_hash
from infold.workspace import Workspace

SESSION: Final = "session"  # the mark of the root: which transcript it shows
TURN: Final = "turn"  # the mark of a message: path and line
SAID_AT: Final = "said_at"  # the mark of a message: when it was said, where the transcript says that
_TURNS: Final = "session_turns"  # marks of the root: how many turns it has been given, and which
_TURNS_SHA256: Final = "session_sha256"
VIEW_MARKS: Final = frozenset((SESSION, TURN, _TURNS, _TURNS_SHA256))  # they do not outlive the view
_DELETED: Final = """
SELECT DISTINCT node_id FROM history WHERE marks IS NOT NULL
    AND (marks ->> ?1 = ?2 OR substr(marks ->> ?3, 1, length(?4)) = ?4)
"""  # nodes of a session that were deleted before and could come back


@dataclass(frozen=True, slots=True)
class ChatTree:
    """The tree of a session. `added` messages are new; `malformed` are lines of the transcript that are none."""

    root: Node
    session: str
    added: int
    turns: int
    malformed: tuple[int, ...] = ()


def import_session(memory: Docmem, workspace: Workspace, name: str) -> ChatTree:
    """The tree of a session that the notebook has, by its name there; what was said since is added to it.

    Raises UsageError where none or several are meant, ImportRefused where the transcript cannot be read, holds no turn,
    or is no longer the conversation that the tree began as.
    """
    path, file = find_session(workspace, name)
    return _import(memory, PREFIX + path, file)


def import_transcript(memory: Docmem, workspace: Workspace, file: Path) -> ChatTree:
    """The tree of a transcript. One that lies elsewhere is first added to the notebook's sessions, whose it then is.

    Raises as `import_session` does.
    """
    folder = workspace.sessions.resolve()
    if not file.resolve().is_relative_to(folder):
        (session,) = add_transcripts(workspace, [file])
        return import_session(memory, workspace, session.path)
    return _import(memory, PREFIX + file.resolve().relative_to(folder).as_posix(), file)


def thread_draft(text: str, name: str) -> TreeDraft:
    """The text of a transcript as a conversation by itself, which is no session of the notebook."""
    draft = TreeDraft(Context("chat_session", "thread", shortened(name.removesuffix(SUFFIX))), is_readonly=True)
    for turn in parse_transcript(BytesIO(text.encode())).turns:
        draft.add(Context("message", "role", shortened(turn.role)), turn.text)
    return draft


def forget_session_nodes(memory: Docmem, session: str) -> int:
    """Deletes the tree of a session and every copy of its messages for good; gives how many nodes went.

    With them goes what they were, where they were deleted before, and the words of automatic summaries that said them.
    """
    gone = 0
    with memory.store.writing() as rows:
        roots = marks.marked_with(rows, SESSION, session)
        for node_id in (*roots, *marks.marked_from(rows, TURN, f"{session}:")):
            if rows.has(node_id):
                gone += writing.delete(rows, node_id, for_good=True)
        deleted = rows.connection.execute(_DELETED, (SESSION, session, TURN, f"{session}:")).fetchall()
        stale.forget(rows, [row[0] for row in deleted])
    return gone


def _import(memory: Docmem, session: str, file: Path) -> ChatTree:
    try:
        transcript = read_transcript(file)
    except NoteUnreadable as error:
        raise ImportRefused(str(error), hint=error.hint) from error
    turns = transcript.turns
    if not turns:
        raise ImportRefused(f"{session} holds no turn of a conversation.", hint="Its lines need role and content.")
    with memory.store.writing() as rows:
        root = _root_of(rows, session)
        if root is None:
            root = _new_root(rows, session, transcript.title)
        known = _known_turns(rows, root, session, turns)
        for turn in turns[known:]:
            _add(rows, root, session, turn)
        if known < len(turns):
            marks.mark(rows, root.id, _TURNS, str(len(turns)))
            marks.mark(rows, root.id, _TURNS_SHA256, _digest(turns))
    return ChatTree(root, session, len(turns) - known, len(turns), transcript.malformed)


def _root_of(rows: Rows, session: str) -> Node | None:
    """The tree of a session; copies of it below other nodes do not count."""
    found = (rows.get(node_id) for node_id in marks.marked_with(rows, SESSION, session))
    return next((node for node in found if node.parent_id is None), None)


def _new_root(rows: Rows, session: str, title: str) -> Node:
    name = session.removeprefix(PREFIX).removesuffix(SUFFIX)
    context = Context("chat_session", SESSION, shortened(name))
    root = writing.create_root(rows, title, context, readonly=True)
    marks.mark(rows, root.id, SESSION, session)
    return root


def _known_turns(rows: Rows, root: Node, session: str, turns: Sequence[SessionTurn]) -> int:
    """How many turns the tree was given already. Raises ImportRefused where these are others by now."""
    flags = marks.marks_of(rows, root.id)
    known = int(flags.get(_TURNS, 0))
    if known and _digest(turns[:known]) != flags.get(_TURNS_SHA256):
        raise ImportRefused(
            f"{session} is no longer the conversation that {root.id!r} shows: turns 1 to {known} changed.",
            hint=f"`infold docmem delete {root.id}` takes the old view away; then import the session again.",
        )
    return known


def _add(rows: Rows, root: Node, session: str, turn: SessionTurn) -> None:
    node = writing.put(rows, child_of(root.id), turn.text, Context("message", "role", turn.role), readonly=True)
    marks.mark(rows, node.id, TURN, f"{session}:{turn.line}")
    if turn.at is not None:
        marks.mark(rows, node.id, SAID_AT, turn.at.isoformat())


def _digest(turns: Iterable[SessionTurn]) -> str:
    return content_hash("\0".join(f"{turn.role}\0{turn.text}" for turn in turns))

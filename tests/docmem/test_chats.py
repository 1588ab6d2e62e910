"""Sessions as trees: the transcript is the truth, its tree a view that grows with it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from infold.docmem.chats import SAID_AT, SESSION, TURN, forget_session_nodes, import_session, import_transcript
from infold.docmem.exporting import export_text
from infold.docmem.memory import open_docmem
from infold.docmem.node import Context, expected_hashes
from infold.docmem.place import child_of
from infold.errors import ImportRefused, UsageError

TALK = [
    {"role": "user", "content": "Where is the spare gasket?", "timestamp": "2026-02-20T12:00:00Z"},
    {"role": "assistant", "content": "In the grey tin."},
]


@pytest.fixture
def talk(tmp_path):
    """A transcript outside the notebook, and a way to say more in it."""
    file = tmp_path / "2026-02-20-gasket.jsonl"

    def write(*records: object) -> object:
        file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
        return file

    return write


def test_a_transcript_becomes_a_chat_session(memory, workspace, talk):
    """Spec 2, Node Differentiation: "chat_session", "message": roles, order, provenance; all readonly."""
    chat = import_transcript(memory, workspace, talk(*TALK))
    assert (chat.added, chat.turns, chat.session) == (2, 2, "sessions/2026-02-20-gasket.jsonl")
    assert str(chat.root.context) == "chat_session:session:2026-02-20-gasket"
    assert memory.marks_of(chat.root.id)[SESSION] == chat.session
    first, second = memory.children(chat.root.id)
    assert [str(first.context), str(second.context)] == ["message:role:user", "message:role:assistant"]
    assert memory.marks_of(first.id)[TURN] == f"{chat.session}:1"
    assert memory.marks_of(first.id)[SAID_AT].startswith("2026-02-20T")
    assert {node.readonly for node, _ in memory.subtree(chat.root.id)} == {1}
    assert (workspace.sessions / "2026-02-20-gasket.jsonl").is_file()


def test_again_adds_only_what_is_new(memory, workspace, talk):
    """Whatever became of the earlier turns in the tree: folded, noted on or deleted, they do not come back."""
    root = import_transcript(memory, workspace, talk(*TALK)).root
    first, second = memory.children(root.id)
    memory.summarise(expected_hashes([first]), "Asked for the gasket.", Context("summary", "by", "hand"))
    memory.delete(second.id)
    assert import_transcript(memory, workspace, talk(*TALK)).added == 0
    chat = import_transcript(memory, workspace, talk(*TALK, {"role": "user", "content": "Thanks."}))
    assert (chat.added, chat.turns, chat.root.id) == (1, 3, root.id)
    assert memory.serialise(root.id) == "Asked for the gasket.\n\nWhere is the spare gasket?\n\nThanks."
    assert import_session(memory, workspace, "2026-02").added == 0
    assert len(memory.roots()) == 1


def test_many_may_import_the_same_at_once(workspace, talk, tmp_path):
    """Four processes import one transcript: each succeeds, and there is one tree with each turn once."""
    file = talk(*({"role": "user", "content": f"turn {number}"} for number in range(50)))
    code = (
        "import sys; from pathlib import Path; from infold.docmem.memory import open_docmem;"
        "from infold.docmem.chats import import_transcript; from infold.settings import Params;"
        "from infold.workspace import Workspace; state, vault, file = map(Path, sys.argv[1:]);"
        "space = Workspace(vault, state, vault / 'inbox.md', Params());"
        "print(import_transcript(open_docmem(space.docmem), space, file).added)"
    )
    words = [sys.executable, "-c", code, str(workspace.state), str(workspace.vault), str(file)]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [process.communicate(timeout=120) for process in running]
    assert sorted(int(out) for out, err in said if not err) == [0, 0, 0, 50], said
    memory = open_docmem(workspace.docmem)
    assert [memory.size(root.id) for root in memory.roots()] == [51]
    memory.close()


def test_a_copy_is_not_the_view(memory, workspace, talk, tree):
    """What is said later comes into the tree of the session, not into copies of it; no export claims to be one."""
    root = import_transcript(memory, workspace, talk(*TALK)).root
    for _ in range(8):  # ids are random: one of them sorts before the original's
        memory.copy(root.id, child_of(tree["b"].id))
    chat = import_transcript(memory, workspace, talk(*TALK, {"role": "user", "content": "Thanks."}))
    assert chat.root.id == root.id
    assert [memory.size(copy.id) for copy in memory.children(tree["b"].id)] == [3] * 8
    written = export_text(memory, root.id, "toml")
    assert SAID_AT in written
    assert "session_" not in written
    assert f"{TURN} =" not in written


def test_another_conversation_under_the_name_is_refused(memory, workspace, talk):
    """A transcript that was rewritten is not mixed with what the tree has; without that tree it is imported."""
    root = import_transcript(memory, workspace, talk(*TALK)).root
    file = workspace.sessions / "2026-02-20-gasket.jsonl"
    file.write_text(file.read_text().replace("grey", "green"))
    with pytest.raises(ImportRefused, match="turns 1 to 2 changed"):
        import_session(memory, workspace, "2026-02-20-gasket")
    memory.delete(root.id)
    assert "green" in memory.serialise(import_session(memory, workspace, "2026-02-20-gasket").root.id)


def test_lines_that_are_none_are_named(memory, workspace, tmp_path):
    """A broken line is counted by its number; a last one that is being written waits; without turns, no tree."""
    (tmp_path / "a.jsonl").write_text('{oops\n{"role": "user", "content": "x"}\n{"role": "us')
    chat = import_transcript(memory, workspace, tmp_path / "a.jsonl")
    assert (chat.turns, chat.malformed) == (1, (1,))
    (tmp_path / "b.jsonl").write_text('{"role": "system", "content": "x"}\n')
    with pytest.raises(UsageError, match="no turn"):
        import_transcript(memory, workspace, tmp_path / "b.jsonl")
    (workspace.sessions / "c.jsonl").write_text("\n")
    with pytest.raises(ImportRefused, match="no turn"):
        import_session(memory, workspace, "c")
    with pytest.raises(UsageError, match="no session"):
        import_session(memory, workspace, "d")
    assert len(memory.roots()) == 1


def test_one_in_the_folder_of_sessions_is_not_copied(memory, workspace, talk):
    """A file that lies among the notebook's sessions is the session, whatever way it is named."""
    (workspace.sessions / "deep").mkdir(parents=True)
    talk(*TALK).rename(workspace.sessions / "deep" / "a.jsonl")
    chat = import_transcript(memory, workspace, workspace.sessions / "deep" / "a.jsonl")
    assert chat.session == "sessions/deep/a.jsonl"
    assert [file.name for file in workspace.sessions.rglob("*.jsonl")] == ["a.jsonl"]


def test_forgetting_takes_the_tree_and_every_copy(memory, workspace, talk, tree):
    """No message of a forgotten session is left in any tree; what belongs to others stays."""
    root = import_transcript(memory, workspace, talk(*TALK)).root
    memory.copy(root.id, child_of(tree["b"].id))
    memory.copy(memory.children(root.id)[0].id, child_of(tree["a"].id))
    talk(*TALK).rename(workspace.sessions / "2026-02-20-gasket.jsonl.jsonl")
    other = import_session(memory, workspace, "2026-02-20-gasket.jsonl.jsonl").root
    assert forget_session_nodes(memory, "sessions/2026-02-20-gasket.jsonl") == 7
    assert memory.size("garden") == 8
    assert memory.size(other.id) == 3
    assert forget_session_nodes(memory, "sessions/2026-02-20-gasket.jsonl") == 0


async def test_a_forgotten_session_is_in_no_summary(memory, workspace, talk):
    """Delete: after a session is forgotten no automatic summary says its words, nor anything that could come back."""
    from infold.docmem.condensing import condense
    from infold.librarian.offline import OfflineLibrarian
    from infold.settings import Params

    words = "The okapi of keeper number {} eats leaves from the tall bush beside the old wooden gate every morning."
    turns = [{"role": "user", "content": words.format(number)} for number in range(16)]
    chat = import_transcript(memory, workspace, talk(*turns))
    memory.create_root("Kept", Context("root", "purpose", "project"), root_id="keep")
    for message in memory.children(chat.root.id):
        memory.copy(message.id, child_of("keep"))
    params = Params.model_validate({"docmem": {"summarise_after": 4, "summarise_run": 4, "keep_recent": 1}})
    librarian = OfflineLibrarian()
    made = (await condense(memory, librarian, params, "keep")).made
    await librarian.close()
    memory.unsummarise(made[0].id, made[0].hash)
    memory.delete(memory.children("keep")[0].id)
    assert "okapi" in memory.serialise("keep")
    forget_session_nodes(memory, chat.session)
    with memory.store.reading() as rows:
        kept = rows.connection.execute("SELECT text FROM history UNION SELECT text FROM nodes").fetchall()
    assert [text for (text,) in kept if "okapi" in text] == []
    assert memory.children("keep") == []

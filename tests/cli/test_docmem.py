"""`infold docmem` on a real store, as a person and as a program call it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel
from typer.testing import CliRunner

from infold.cli import docmem_reading
from infold.cli.app import app
from infold.cli.commands import DOCMEM
from infold.docmem.node import PROPERTIES

WALK = ("--context", "memory:source:walk")
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture
def docmem(infold, vault):
    """Calls `infold docmem` and gives what it prints; it must succeed."""

    def call(*words: object) -> str:
        done = infold("docmem", *words)
        assert done.exit_code == 0, done.output
        return done.stdout

    return call


@pytest.fixture
def said(docmem):
    """The JSON that a command answers with."""
    return lambda *words: json.loads(docmem(*words, "--json"))


@pytest.fixture
def tree(said):
    """The tree garden (a (a1 a2) b), by name."""
    nodes = {"garden": said("create", "garden", "--context", "root:purpose:project")}
    for name, parent in (("a", "garden"), ("b", "garden"), ("a1", "a"), ("a2", "a")):
        nodes[name] = said("append", nodes[parent]["id"], name, *WALK)
    return nodes


def test_a_node_is_answered_by_the_names_of_the_specification(tree):
    """Spec 2, Required Properties: all of them, in camelCase; of what was added also what was summarised with it."""
    assert list(tree["garden"]) == [to_camel(name) for name in PROPERTIES]
    assert list(tree["a"]) == [*tree["garden"], "summaries"]
    assert (tree["a"]["parentId"], tree["a"]["tokenCount"], tree["a"]["readonly"]) == ("garden", 1, 0)


def test_full_metadata_is_id_context_time(docmem):
    """Spec 2, Standard Display Formats: "node ID, followed by the context format, followed by … updated_at"."""
    shown = docmem("create", "garden", "--context", "root:purpose:project")
    assert re.fullmatch(rf"created garden root:purpose:project {STAMP}\n", shown)
    assert re.fullmatch(rf"garden root:purpose:project {STAMP}\n", docmem("root", "garden"))
    assert re.fullmatch(rf"garden root:purpose:project {STAMP}  1 node\n", docmem("roots"))


def test_the_structure_is_that_of_the_specification(docmem, tree):
    """Spec 2, Structure: a dash, two spaces of indent a level, the starting node included."""
    lines = docmem("structure", "garden").splitlines()
    expected = [("", "garden"), ("  ", "a"), ("    ", "a1"), ("    ", "a2"), ("  ", "b")]
    for line, (indent, name) in zip(lines, expected, strict=True):
        context = "root:purpose:project" if name == "garden" else "memory:source:walk"
        assert re.fullmatch(rf"{indent}- {tree[name]['id']} {context} {STAMP}", line)


def test_the_document_and_what_fits(docmem, said, tree):
    """Spec 2, Serialization and Expand: texts alone, or nodes within a budget."""
    assert docmem("text", "garden") == "a\n\na1\n\na2\n\nb\n"
    assert docmem("text", tree["b"]["id"]) == ""
    assert said("text", "garden") == {"text": "a\n\na1\n\na2\n\nb", "stale": []}
    fits = said("expand", "garden", "--tokens", 2)
    assert ([node["text"] for node in fits["nodes"]], fits["tokens"]) == (["", "a", "b"], 2)
    assert [node["depth"] for node in fits["nodes"]] == [0, 1, 1]
    assert docmem("expand", "garden", "--tokens", 3, "--text") == "a\n\na2\n\nb\n"
    assert [line.strip()[:1] for line in docmem("expand", "garden", "--tokens", 1).splitlines()] == ["-", "-", "b"]


def test_shown_with_texts(docmem, said, tree):
    """In a pipe plain lines, with the first line of a text or all of it; depth and marks where asked for."""
    docmem("append", "garden", "first\nsecond", *WALK)
    shown = docmem("show", "garden")
    assert "    first …\n" in shown
    assert "    first\n    second\n" in docmem("show", "garden", "--whole")
    assert "a1\n" not in docmem("show", "garden", "--depth", 1)  # an id may hold these two letters
    assert [node["depth"] for node in said("show", "garden")["nodes"]] == [0, 1, 2, 2, 1, 1]


def test_drawn_where_a_person_looks(docmem, tree, monkeypatch):
    """On a terminal a tree with its branches, whatever its texts hold; one too deep to draw is printed as lines."""
    docmem("append", "garden", "[bold]no markup[/]", *WALK)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    drawn = docmem("show", "garden")
    assert "├── " in drawn
    assert "[bold]no markup[/]" in drawn
    monkeypatch.setattr(docmem_reading, "_DEEPEST_DRAWN", 1)
    assert "├── " not in docmem("show", "garden")


def test_before_and_after(docmem, said, tree):
    """Exactly one place; beside a root there is none."""
    said("insert", "between", "--before", tree["b"]["id"], *WALK)
    said("insert", "- last", "--after", tree["b"]["id"], *WALK)
    assert docmem("text", "garden") == "a\n\na1\n\na2\n\nbetween\n\nb\n\n- last\n"


@pytest.mark.parametrize(
    "words, code, error",
    [
        (("insert", "x", *WALK), 2, "UsageError"),
        (("insert", "x", "--before", "garden", "--after", "garden", *WALK), 2, "UsageError"),
        (("insert", "x", "--before", "garden", *WALK), 1, "NoParent"),
        (("append", "garden", "x"), 2, "UsageError"),
        (("append", "garden", "x", "--context", "memory:source"), 1, "ContextFieldMissing"),
        (("append", "garden", "x", "--context", "memory:source:" + "x" * 25), 1, "ContextFieldTooLong"),
        (("append", "nowhere", "x", *WALK), 1, "NodeNotFound"),
        (("create", "garden", "--context", "::"), 1, "NodeExists"),
        (("create", "../x", "--context", "::"), 1, "NodeIdInvalid"),
        (("context", "garden", "a:b"), 1, "ContextFieldMissing"),
        (("context", "garden"), 2, "UsageError"),
        (("move", "garden"), 2, "UsageError"),
        (("copy", "garden", "--to", "nowhere"), 1, "NodeNotFound"),
        (("unsummarise", "garden"), 1, "NotASummary"),
        (("summarise", "garden", "--text", "x", "--context", "summary:by:me"), 1, "NoParent"),
        (("summarise", "garden", "--text", "x", "--context", "::", "--range"), 2, "UsageError"),
        (("summarise", "garden", "--text", "x", "--context", "::", "--hash", "garden"), 2, "UsageError"),
        (("restore", "garden", "1"), 1, "VersionNotFound"),
        (("edit", "garden", "x", "--hash", "other"), 1, "LockConflict"),
        (("delete", "garden"), 2, "UsageError"),
        (("expand", "garden", "--tokens", "-1"), 2, "UsageError"),
        (("restore-backup", "none.sqlite", "--yes"), 3, "StateUnwritable"),
        (("history", "nowhere"), 1, "NodeNotFound"),
    ],
)
def test_what_is_wrong_is_said_by_its_type(infold, docmem, tree, words, code, error):
    """Wrong use is exit code 2, a refusal of the trees 1; nothing changed either way."""
    before = docmem("structure", "garden")
    done = infold("docmem", *words, "--json")
    assert (done.exit_code, json.loads(done.stdout)["error"]["type"]) == (code, error)
    assert docmem("structure", "garden") == before


def test_changes_and_their_history(docmem, said, tree):
    """A change names the hash it read, or reads the present one; an earlier version comes back."""
    node = tree["b"]["id"]
    changed = said("edit", node, "B", "--hash", tree["b"]["hash"])
    said("context", node, "memory:source:book:2")
    assert said("find", node)["node"]["contextValue"] == "book:2"
    versions = said("history", node)["versions"]
    assert [(found["version"], found["text"], found["operation"]) for found in versions] == [
        (1, "b", "content"),
        (2, "B", "context"),
    ]
    assert docmem("history", node).startswith("1  memory:source:walk until content")
    assert "never changed" in docmem("history", "garden")
    assert said("restore", node, 1)["text"] == "b"
    assert changed["hash"] != tree["b"]["hash"]


def test_find_tells_nothing_from_something(infold, docmem, tree):
    """Spec 2, Find: "the full node if found, or null"."""
    shown = docmem("find", tree["a"]["id"])
    assert shown.endswith("\na\n")
    assert f"hash    {tree['a']['hash'][:12]}\n" in shown
    none = infold("docmem", "find", "nowhere", "--json")
    assert (none.exit_code, json.loads(none.stdout)["node"]) == (1, None)
    assert infold("docmem", "find", "nowhere").stdout == ""


def test_readonly_nodes_get_notes(infold, docmem, said, tree):
    """Spec 2, Readonly Metadata: the node stays, the note stands beside it."""
    stone = said("append", "garden", "1974", *WALK, "--readonly")
    refused = infold("docmem", "edit", stone["id"], "1975")
    assert refused.exit_code == 1
    assert "infold docmem note" in refused.stderr
    note = said("note", stone["id"], "wrong year", "--name", "by", "--value", "me")
    assert (note["contextType"], note["contextValue"], note["parentId"]) == ("note", "me", "garden")


def test_moved_copied_folded_and_unfolded(docmem, said, tree):
    """The operations on subtrees, each by the places that the options name."""
    said("move", tree["b"]["id"], "--before", tree["a"]["id"])
    assert docmem("text", "garden") == "b\n\na\n\na1\n\na2\n"
    said("copy", tree["a"]["id"], "--to", tree["b"]["id"])
    assert docmem("text", tree["b"]["id"]) == "a\n\na1\n\na2\n"
    words = ("--text", "both", "--context", "summary:by:hand", "--hash", f"{tree['a1']['id']}={tree['a1']['hash']}")
    summary = said("summarise", tree["a2"]["id"], tree["a1"]["id"], "--range", *words)
    assert docmem("text", tree["a"]["id"]) == "both\n\na1\n\na2\n"
    said("append", tree["a"]["id"], "a3", *WALK)
    back = said("unsummarise", summary["id"])["nodes"]
    assert [node["hash"] for node in back] == [tree["a1"]["hash"], tree["a2"]["hash"]]


def test_a_range_has_all_between(docmem, said, tree):
    """Two ends, in either order, stand for what lies between them."""
    middle = said("insert", "middle", "--before", tree["a2"]["id"], *WALK)
    ends = (tree["a2"]["id"], tree["a1"]["id"])
    summary = said("summarise", *ends, "--range", "--text", "all", "--context", "summary:by:hand")
    assert docmem("text", summary["id"]) == "a1\n\nmiddle\n\na2\n"
    assert said("root", middle["id"])["id"] == "garden"


def test_deleting_many_has_to_be_meant(infold, docmem, said, tree):
    """One node goes at once; more are named and need --yes where nobody can be asked; the count is said."""
    assert said("delete", tree["b"]["id"])["deleted"] == 1
    said("delete", tree["a2"]["id"])
    refused = infold("docmem", "delete", tree["a"]["id"])
    assert refused.exit_code == 2
    assert "2 nodes" in refused.stderr
    assert docmem("delete", "garden", "--yes").startswith("deleted 3 nodes: garden")
    assert "no trees" in infold("docmem", "roots").stderr


def test_texts_from_a_pipe_or_a_file(vault, docmem, tree, tmp_path):
    """`-`, nothing in a pipe, and --file; the line end behind the text is the shell's, others stay."""
    run = CliRunner().invoke
    assert run(app, ["docmem", "append", "garden", "-", *WALK], input="p\n\n").exit_code == 0
    assert run(app, ["docmem", "append", "garden", *WALK], input="q").exit_code == 0
    (tmp_path / "t").write_text("- f\r\n")
    docmem("append", "garden", "--file", tmp_path / "t", *WALK)
    assert docmem("text", "garden").endswith("b\n\np\n\n\nq\n\n- f\n")


def test_control_codes_of_a_text_say_nothing_to_a_terminal(docmem, tree, monkeypatch):
    """Text is data: on a terminal it cannot move the cursor or colour what follows; in a pipe it is what it is."""
    evil = "a\x1b[31mred\x1b]0;title\x07\nsecond"
    node = docmem("append", "garden", evil, *WALK).split()[1]
    assert evil in docmem("text", "garden")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    for words in (
        ("show", "garden", "--whole"),
        ("text", "garden"),
        ("find", node),
        ("expand", "garden", "--tokens", "99"),
    ):
        shown = docmem(*words)
        assert "red" in shown
        assert "\x1b[31mred" not in shown
        assert "\x1b]0" not in shown
        assert "\x07" not in shown


def test_nodes_are_listed_by_their_context(infold, docmem, said, tree):
    """Spec 2, Node Differentiation: "enable filtering/querying by purpose, source, or role"."""
    docmem("summarise", tree["a1"]["id"], "--text", "s", "--context", "summary:by:hand")
    (found,) = said("nodes", "--type", "summary")["nodes"]
    assert (found["text"], found["parentId"]) == ("s", tree["a"]["id"])
    assert [node["id"] for node in said("nodes", "--value", "walk", "--in", tree["b"]["id"])["nodes"]] == [
        tree["b"]["id"]
    ]
    assert "no nodes with that context" in infold("docmem", "nodes", "--type", "none").stderr
    assert docmem("text", "garden", "--mode", "instead") == "a\n\ns\n\na2\n\nb\n"
    assert docmem("text", "garden", "--mode", "without") == "a\n\na1\n\na2\n\nb\n"
    assert infold("docmem", "text", "garden", "--mode", "only").exit_code == 2


@pytest.mark.parametrize("words", [(), ("-",)])
def test_an_empty_pipe_empties_nothing(vault, docmem, said, tree, words):
    """Where what should have written the text failed, the node keeps its text; an empty one is given as such."""
    done = CliRunner().invoke(app, ["docmem", "edit", tree["a"]["id"], *words], input="")
    assert (done.exit_code, "Nothing came on stdin" in done.output) == (2, True)
    assert said("find", tree["a"]["id"])["node"]["text"] == "a"
    assert said("edit", tree["a"]["id"], "")["text"] == ""


def test_all_trees_checked_backed_up_and_restored(infold, docmem, said, tree, tmp_path):
    """`check` counts, a backup holds what was, restoring keeps what it replaces and has to be meant."""
    assert said("check")["nodes"] == 5
    docmem("backup", tmp_path / "b.sqlite")
    docmem("delete", "garden", "--yes")
    docmem("create", "later", "--context", "::")
    assert infold("docmem", "restore-backup", tmp_path / "b.sqlite").exit_code == 2
    kept = said("restore-backup", tmp_path / "b.sqlite", "--yes")["kept"]
    assert [found["root"]["id"] for found in said("roots")["trees"]] == ["garden"]
    docmem("restore-backup", kept, "--yes")
    assert [found["root"]["id"] for found in said("roots")["trees"]] == ["later"]


def test_a_damaged_store_is_a_problem_that_doctor_names(infold, docmem, vault, tree):
    """`check` and `infold doctor` end with 1 and say what is wrong; without trees doctor says nothing of them."""
    import sqlite3

    (vault / "a.md").write_text("# A\n")
    found = json.loads(infold("doctor", "--json").stdout)["findings"]
    assert [f["level"] for f in found if f["topic"] == "memory"] == ["ok"]
    file = json.loads(docmem("check", "--json"))["file"]
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE nodes SET token_count = 9 WHERE id = ?", (tree["b"]["id"],))
    connection.close()
    checked = infold("docmem", "check")
    assert (checked.exit_code, "says 9 tokens" in checked.stdout) == (1, True)
    found = json.loads(infold("doctor", "--json").stdout)["findings"]
    assert [f["text"] for f in found if f["topic"] == "memory" and f["level"] == "problem"]
    with Path(file).open("wb") as stream:
        stream.write(b"no database at all" * 100)
    done = infold("doctor", "--json")
    assert (done.exit_code, [f["level"] for f in json.loads(done.stdout)["findings"] if f["topic"] == "memory"]) == (
        1,
        ["problem"],
    )


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b""])
def test_what_a_damaged_store_is_told_to_do_works(infold, docmem, said, tree, tmp_path, damage):
    """`restore-backup` brings the trees back also where the store cannot be opened; what it was is kept."""
    docmem("backup", tmp_path / "b.sqlite")
    file = Path(said("check")["file"])
    file.write_bytes(damage)
    for name in ("-wal", "-shm"):
        Path(f"{file}{name}").unlink(missing_ok=True)
    if damage:
        refused = infold("docmem", "roots")
        assert (refused.exit_code, "restore-backup" in refused.stderr) == (1, True)
        assert infold("docmem", "restore-backup", tmp_path / "b.sqlite").exit_code == 2
    kept = Path(said("restore-backup", tmp_path / "b.sqlite", "--yes")["kept"])
    assert len(docmem("structure", "garden").splitlines()) == 5
    assert not damage or kept.read_bytes() == damage


def test_doctor_is_silent_where_there_are_no_trees(infold, vault):
    """Looking makes no store."""
    (vault / "a.md").write_text("# A\n")
    assert "memory" not in [f["topic"] for f in json.loads(infold("doctor", "--json").stdout)["findings"]]


def test_every_verb_has_a_help_that_says_what_it_does(infold):
    """Also each operation of the specification is among the verbs."""
    names = {entry.name for entry in DOCMEM}
    assert names >= {"append", "insert", "delete", "edit", "context", "copy", "move", "structure", "find", "root"}
    assert names >= {"text", "expand", "summarise", "unsummarise", "import", "export", "to-inbox", "history", "restore"}
    for name in ("edit", "move", "context"):
        assert "read in the same call" in " ".join(infold("docmem", name, "--help").stdout.replace("│", " ").split())


def test_many_at_once(vault, docmem, said, tree):
    """Append: lines, or JSON lines, are nodes of one step; a line that is wrong is named, and nothing is added."""

    def given(*words, text):
        return CliRunner().invoke(app, ["docmem", "append", "garden", *words, "--json"], input=text)

    done = given("--lines", *WALK, text="one\n\n  two\n")
    assert [node["text"] for node in json.loads(done.stdout)["nodes"]] == ["one", "  two"]
    lines = [{"text": "a\nb", "context": "message:role:user", "readonly": 1}, {"text": "c"}]
    done = given("--jsonl", *WALK, text="".join(f"{json.dumps(line)}\n" for line in lines))
    shown = [(node["text"], node["contextType"], node["readonly"]) for node in json.loads(done.stdout)["nodes"]]
    assert shown == [("a\nb", "message", 1), ("c", "memory", 0)]
    before = docmem("text", "garden")
    for text in (
        '{"text": "x"}\n{"text": 7}',
        '{"text": "x"}\n[]',
        '{"text": "x"}\n{',
        '{"text": "x"}\n{"text": "y", "at": 1}',
    ):
        done = given("--jsonl", *WALK, text=text)
        assert (done.exit_code, "Line 2" in done.output) == (2, True)
    assert given("--lines", text="x").exit_code == 2
    assert docmem("text", "garden") == before


def test_short_hashes_are_enough(infold, said, tree):
    """Optimistic Locking: the first 12 characters of a hash name it; fewer, or others, do not."""
    node = tree["b"]
    assert said("edit", node["id"], "B", "--hash", node["hash"][:12])["text"] == "B"
    wrong = infold("docmem", "edit", node["id"], "C", "--hash", node["hash"][:12])
    assert wrong.exit_code == 1
    assert node["hash"][:12] in wrong.stderr
    assert node["hash"][:13] not in wrong.stderr
    present = said("find", node["id"])["node"]["hash"]
    assert infold("docmem", "edit", node["id"], "C", "--hash", present[:11]).exit_code == 1


def test_what_was_deleted_is_listed_and_comes_back(infold, docmem, said, tree):
    """Delete, restore: listed with its size and text; `--for-good` has to be meant, and is not listed."""
    docmem("delete", tree["a"]["id"], "--yes")
    (gone,) = said("deleted")["deleted"]
    assert (gone["node"], gone["operation"], gone["nodes"], gone["text"]) == (tree["a"]["id"], "delete", 3, "a")
    assert "3 nodes" in docmem("deleted", "garden")
    docmem("restore", tree["a"]["id"])
    assert docmem("text", "garden") == "a\n\na1\n\na2\n\nb\n"
    assert "Nothing was deleted" in docmem("deleted")
    assert infold("docmem", "delete", tree["b"]["id"], "--for-good").exit_code == 2
    docmem("delete", tree["b"]["id"], "--for-good", "--yes")
    assert said("deleted")["deleted"] == []
    assert infold("docmem", "restore", tree["b"]["id"]).exit_code == 1


def test_a_hash_of_something_else_is_refused(infold, docmem, tree):
    """Summarization: --hash of a node that is not to be summarised folds nothing in."""
    words = ("--text", "s", "--context", "summary::", "--hash", f"{tree['b']['id']}={tree['b']['hash']}")
    done = infold("docmem", "summarise", tree["a1"]["id"], *words)
    assert (done.exit_code, tree["b"]["id"] in done.stderr) == (2, True)
    assert docmem("text", "garden") == "a\n\na1\n\na2\n\nb\n"


def test_stale_summaries_show(infold, docmem, said, tree):
    """Summarization: where memories below a summary changed, find, show, text, check and doctor say so."""
    folded = said("summarise", tree["a1"]["id"], "--text", "One.", "--context", "summary:by:hand")["id"]
    said("edit", tree["a1"]["id"], "changed")
    assert said("find", folded)["node"]["stale"] is True
    assert "  stale\n" in docmem("show", "garden")
    assert folded in infold("docmem", "text", "garden").stderr
    assert said("text", "garden")["stale"] == [folded]
    assert [node["id"] for node in said("check")["stale"]] == [folded]
    assert "1 summary no longer says" in infold("doctor").output
    said("edit", folded, "Changed.")
    assert "stale" not in said("find", folded)["node"]

"""`infold docmem import`, `export` and `to-inbox`, and forgetting a session that has a tree."""

from __future__ import annotations

import json

import pytest

TALK = [{"role": "user", "content": "Where is the gasket?"}, {"role": "assistant", "content": "In the tin."}]
NOTE = "# Beds\n\nThe bed by the wall.\n\n- Sun until noon\n"


@pytest.fixture
def vault(tmp_path, monkeypatch):
    """A vault with one note and an inbox, that the environment names."""
    folder = tmp_path / "vault"
    (folder / "garden").mkdir(parents=True)
    (folder / "garden" / "Beds.md").write_text(NOTE)
    (folder / "inbox.md").write_text("Already here.\n")
    monkeypatch.setenv("INFOLD_VAULT", str(folder))
    monkeypatch.delenv("INFOLD_SESSIONS", raising=False)
    return folder


def test_a_note_to_a_tree_to_the_inbox(infold, vault):
    """A note imported, recognised the second time, sent to the inbox once; the note itself is as it was."""
    done = infold("docmem", "import", "garden/Beds", "--as", "beds")
    assert done.stdout.startswith("imported 4 nodes: beds root:markdown:Beds.md 2")
    assert "imported before" in infold("docmem", "import", vault / "garden" / "Beds.md").stdout
    assert not json.loads(infold("docmem", "import", "garden/Beds.md", "--json").stdout)["new"]
    assert infold("docmem", "text", "beds").stdout == NOTE
    assert "source=vault:garden/Beds.md" in infold("docmem", "show", "beds").stdout
    assert infold("docmem", "to-inbox", "beds").stdout.startswith("2 paragraphs in inbox.md, from beds ")
    assert "already, nothing done" in infold("docmem", "to-inbox", "beds").stdout
    sent = json.loads(infold("docmem", "to-inbox", "beds", "--again", "--json").stdout)
    assert (sent["sent"], sent["paragraphs"], sent["node"]["id"]) == (True, 2, "beds")
    assert (vault / "inbox.md").read_text().startswith("Already here.\n\n%% From the memory tree beds, node beds ")
    assert (vault / "garden" / "Beds.md").read_text() == NOTE


def test_a_note_in_a_folder_of_that_name_is_no_session(infold, vault):
    """`sessions/` names transcripts, but for notes that lie there."""
    (vault / "sessions").mkdir()
    (vault / "sessions" / "Choir.md").write_text(NOTE)
    assert infold("docmem", "import", "sessions/Choir").stdout.startswith("imported 4 nodes")


def test_out_and_in_again(infold, vault, tmp_path):
    """By the name of the file or --format; a file that is there stays unless it was meant; ids and hashes come back."""
    infold("docmem", "import", "garden/Beds", "--as", "beds")
    before = json.loads(infold("docmem", "show", "beds", "--json").stdout)["nodes"]
    file = tmp_path / "beds.toml"
    assert infold("docmem", "export", "beds", "--out", file).exit_code == 0
    written = file.read_text()
    assert infold("docmem", "export", "beds", "--format", "toml").stdout == written
    assert infold("docmem", "export", "beds", "--out", file).exit_code == 2
    assert infold("docmem", "export", "beds", "--out", file, "--force", "--json").exit_code == 0
    infold("docmem", "delete", "beds", "--yes")
    assert json.loads(infold("docmem", "import", file, "--json").stdout)["nodes"] == 4
    after = json.loads(infold("docmem", "show", "beds", "--json").stdout)["nodes"]
    assert [node["hash"] for node in after] == [node["hash"] for node in before]
    assert infold("docmem", "export", "beds").stdout == NOTE
    lines = infold("docmem", "export", "beds", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [node["id"] for node in before]
    assert json.loads(infold("docmem", "export", "beds", "--json").stdout)["text"] == NOTE


def test_text_below_a_node(infold, vault, tmp_path):
    """A file as a part of a tree, read as what one says it is."""
    infold("docmem", "create", "house", "--context", "root:purpose:project")
    (tmp_path / "a.md").write_text("One. Two.\n")
    done = json.loads(
        infold("docmem", "import", tmp_path / "a.md", "--to", "house", "--format", "text", "--json").stdout
    )
    assert (done["node"]["parentId"], done["node"]["contextName"], done["nodes"]) == ("house", "text", 4)
    infold("docmem", "import", "garden/Beds", "--before", done["node"]["id"])
    assert infold("docmem", "text", "house").stdout == NOTE + "\nOne.\n\nTwo.\n"


@pytest.mark.parametrize(
    "words, code, said",
    [
        (("import", "none.md"), 2, "no file and no note"),
        (("import", "../vault/x"), 2, "no file and no note"),
        (("import", "garden/Beds", "--format", "pdf"), 2, "no format 'pdf'"),
        (("import", "garden/Beds", "--as", "a", "--to", "b"), 2, "A name is for a tree"),
        (("import", "garden/Beds", "--to", "nowhere"), 1, "no memory node 'nowhere'"),
        (("import", "broken.toml"), 1, "line 2"),
        (("import", "sessions/none"), 2, "no session"),
        (("import", "sessions/none", "--as", "x"), 2, "stands alone"),
        (("export", "nowhere"), 1, "no memory node"),
        (("export", "nowhere", "--format", "pdf"), 2, "no format"),
        (("to-inbox", "nowhere"), 1, "no memory node"),
    ],
)
def test_what_cannot_be_done_is_said(infold, vault, tmp_path, words, code, said):
    """With the exit code of its kind, and no tree made."""
    (tmp_path / "here" / "broken.toml").write_text("a = 1\na = 2\n")
    done = infold("docmem", *words)
    assert (done.exit_code, said in done.stderr) == (code, True), done.stderr
    assert infold("docmem", "roots").stdout == ""


def test_a_session_is_one_with_its_tree(infold, vault, tmp_path):
    """Imported it is a session; said on, it grows; forgotten, its tree goes with it."""
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(f"{json.dumps(record)}\n" for record in TALK) + "{oops\n")
    first = infold("docmem", "import", file)
    assert first.stdout.startswith("2 of 2 turns are new: ")
    assert "lines that cannot be read: 1, the first is 3" in first.stderr
    assert "talk.jsonl" in infold("sessions", "list").stdout
    file.write_text(file.read_text() + json.dumps({"role": "user", "content": "Thanks."}) + "\n")
    grown = json.loads(infold("docmem", "import", file, "--json").stdout)
    assert (grown["added"], grown["turns"], grown["session"]) == (1, 3, "sessions/talk.jsonl")
    assert json.loads(infold("docmem", "import", "sessions/talk", "--json").stdout)["added"] == 0
    assert infold("docmem", "text", grown["node"]["id"]).stdout == "Where is the gasket?\n\nIn the tin.\n\nThanks.\n"
    gone = json.loads(infold("sessions", "forget", "talk", "--yes", "--json", "--set", "search.embedding=none").stdout)
    assert gone["nodes"] == 4
    assert infold("docmem", "roots").stdout == ""

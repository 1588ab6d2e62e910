"""Sessions in the index: found by what was said, kept apart from notes, and forgotten everywhere."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace

import pytest

from infold.app import open_workspace
from infold.catalogue.embeddings import EmbeddingStore
from infold.errors import PathRefused, UsageError
from infold.notebook.archive import add_transcripts, find_session, list_sessions
from infold.notebook.sessions import turns_text
from infold.search.index.contract import Filter
from infold.settings import Params

TALK = [
    {"role": "user", "content": "What was the number of the plumber?", "timestamp": "2026-02-20T12:00:00Z"},
    {"role": "assistant", "content": "Plumber Osei has the number 555-7788."},
    {"role": "user", "content": "Thanks, and the gasket?"},
    {"role": "assistant", "content": "Forty millimetres, rubber."},
]


@pytest.fixture
def talk(workspace):
    """Writes a transcript into the vault's own folder of sessions."""

    def write(name: str = "2026-02-20", records=TALK, tail: str = ""):
        file = workspace.vault / "sessions" / f"{name}.jsonl"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps(record) + "\n" for record in records) + tail, encoding="utf-8")
        return file

    return write


def search(workspace, asked: str, *sources: str):
    with open_workspace(workspace) as vault:
        return list(vault.search(asked, Filter(groups=sources), None, 0.0).results)


def index(workspace):
    with open_workspace(workspace) as vault:
        return vault.sync_index()


def test_a_session_is_found_by_what_was_said(workspace, talk, put):
    """With its turns, its lines, its day, readable text, and its label; notes keep their own group."""
    talk()
    put("house/plumber.md", "# Plumber\n\nCall the plumber about the gasket.\n")
    done = index(workspace)
    assert done.files_scanned == 2
    (hit,) = search(workspace, "plumber Osei number", "sessions")
    assert hit.path == "sessions/2026-02-20.jsonl"
    assert (hit.start_line, hit.end_line) == (1, 4)
    assert "555-7788" in hit.snippet
    assert '{"' not in hit.snippet
    assert (hit.group, hit.trust, hit.level, hit.date) == ("sessions", "session", "turns", "2026-02-20")
    assert hit.title == "What was the number of the plumber?"
    assert hit.trail == ("turns 1-4",)
    assert {found.group for found in search(workspace, "plumber gasket")} == {"notebook", "sessions"}


def test_a_transcript_that_grows_is_taken_in_on_demand(workspace, talk):
    """A search leaves a transcript of this hour as it is; indexing the sessions takes it in, half a line aside."""
    file = talk(records=TALK[:2])
    index(workspace)
    talk(tail='{"role": "user", "content": "half')
    assert search(workspace, "gasket", "sessions") == []
    assert search(workspace, "Osei", "sessions") != []  # and what was known of it stays
    index(workspace)
    assert search(workspace, "gasket", "sessions") != []
    assert search(workspace, "half", "sessions") == []
    os.utime(file, (time.time() - 7200,) * 2)
    assert index(workspace).files_changed == 0


def test_a_search_takes_in_sessions_that_rest(workspace, talk):
    """After a rebuild by whatever command, old sessions come back by themselves."""
    os.utime(talk(), (time.time() - 7200,) * 2)
    assert search(workspace, "gasket", "sessions") != []


def test_no_search_waits_for_many_transcripts(workspace, talk, monkeypatch):
    """Years of sessions are taken in by the hourly job; what it took in stays found."""
    os.utime(talk(), (time.time() - 7200,) * 2)
    monkeypatch.setattr("infold.notebook.sessions.SEARCH_BYTES", 100)
    assert search(workspace, "gasket", "sessions") == []
    index(workspace)
    assert search(workspace, "gasket", "sessions") != []


def test_daily_notes_of_the_vaults_own_format_have_their_day(workspace, put):
    """They are found as daily, by their date, whatever their names look like."""
    put(".obsidian/daily-notes.json", '{"folder": "Journal", "format": "D MMMM YYYY"}')
    put("Journal/17 February 2026.md", "# Tuesday\n\nThe zebra was painted.\n")
    (hit,) = search(workspace, "zebra")
    assert (hit.group, hit.date) == ("daily", "2026-02-17")


def test_an_absent_folder_takes_nothing_from_the_index(workspace, talk):
    """A disk that is not mounted is no deletion; neither for a search nor for the hourly job."""
    talk()
    index(workspace)
    away = workspace.vault / "sessions"
    away.rename(workspace.vault.parent / "away")
    assert index(workspace).emptied
    search(workspace, "gasket", "sessions")
    (workspace.vault.parent / "away").rename(away)
    assert search(workspace, "gasket", "sessions") != []


@pytest.mark.usefixtures("costly")
def test_forgetting_reaches_every_place(workspace, talk):
    """The transcript, its passages and their embeddings are gone; those of others stay."""
    workspace = replace(workspace, params=Params.model_validate({"search": {"embedding": "static"}}))
    file = talk()
    talk("other", [{"role": "user", "content": "The violin needs a new bridge."}])
    index(workspace)
    store = EmbeddingStore(workspace.embeddings)
    assert store.count() == 2
    with open_workspace(workspace) as vault:
        gone, _ = vault.forget_session("2026-02")
    assert (gone.passages, gone.embeddings) == (1, 1)
    assert not file.exists()
    assert search(workspace, "plumber Osei gasket", "sessions") == []
    assert [hit.path for hit in search(workspace, "violin", "sessions")] == ["sessions/other.jsonl"]
    assert store.count() == 1
    with open_workspace(workspace) as vault:
        vault.forget_session("other")
    assert search(workspace, "violin", "sessions") == []


def test_a_name_must_mean_one_session(workspace, talk):
    """A path, a name or a unique beginning; else nothing is touched."""
    talk("a-one")
    talk("a-two")
    assert find_session(workspace, "sessions/a-one.jsonl")[0] == "a-one.jsonl"
    assert find_session(workspace, "a-o")[0] == "a-one.jsonl"
    for name in ("a-", "", "b", "../a-one"):
        with pytest.raises(UsageError):
            find_session(workspace, name)


def test_transcripts_are_listed_with_what_is_wrong(workspace, talk):
    """By day, with turns and title; a broken line is counted and named."""
    talk("b", tail="{oops\n")
    talk("2026-01-01", [{"role": "user", "content": "Happy new year"}])
    first, second = list_sessions(workspace)
    assert (first.path, first.day, first.turns, first.problem) == ("sessions/2026-01-01.jsonl", "2026-01-01", 1, "")
    assert second.problem == "1 line cannot be read: 5"


def test_added_transcripts_are_kept_apart(workspace, tmp_path):
    """They go to the archive; the same one may come again longer, another of its name may not."""
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps(TALK[0]) + "\n")
    (added,) = add_transcripts(workspace, [file])
    assert added.turns == 1
    assert (workspace.state / "kept" / "sessions" / "talk.jsonl").is_file()
    file.write_text("".join(json.dumps(record) + "\n" for record in TALK))
    assert add_transcripts(workspace, [file])[0].turns == 4
    file.write_text(json.dumps({"role": "user", "content": "other"}) + "\n")
    with pytest.raises(UsageError, match="another conversation"):
        add_transcripts(workspace, [file])
    (tmp_path / "empty.jsonl").write_text("{}\n")
    for wrong in (tmp_path / "empty.jsonl", tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(UsageError):
            add_transcripts(workspace, [wrong])


def test_the_folder_of_transcripts_is_found(workspace, talk, tmp_path, monkeypatch):
    """INFOLD_SESSIONS, else the vault's own folder where it holds any, else one in the state folder."""
    assert workspace.sessions == workspace.state / "kept" / "sessions"
    talk()
    assert workspace.sessions == workspace.vault / "sessions"
    monkeypatch.setenv("INFOLD_SESSIONS", str(tmp_path / "mine"))
    assert workspace.sessions == tmp_path / "mine"


def test_the_lines_of_a_transcript_can_be_read(workspace, talk):
    """Who said what on these lines, and nothing outside the folder."""
    talk()
    text = turns_text(workspace.sessions, "sessions/2026-02-20.jsonl", 2, 3)
    assert text == "Assistant: Plumber Osei has the number 555-7788.\n\nUser: Thanks, and the gasket?"
    for path in ("sessions/../x.jsonl", "/etc/x.jsonl", "sessions/notes.md"):
        with pytest.raises(PathRefused):
            turns_text(workspace.sessions, path)

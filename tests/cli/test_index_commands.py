"""`infold index`, `watch`, `rebuild` and what `status` says of the index, as a person or a program calls them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

from infold.search.embed.embedder import EmbedderTraits
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.word_writer import WordWriter
from tests.fakes.qdrant_server import FakeQdrant, Fault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Three notes and an inbox."""
    folder = tmp_path / "vault"
    for path, text in {
        "index.md": "# Home\n\n[[Peas]] and [[Beans]]\n",
        "Peas.md": "# Peas\n\nPeas climb a trellis.\n",
        "Beans.md": "# Beans\n\nBeans want warm soil.\n",
        "inbox.md": "Something new.\n",
    }.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    return folder


def about_index(infold, vault: Path) -> dict:
    return json.loads(infold("status", "--vault", vault, "--json").stdout)["index"]


def test_index_brings_words_and_meaning(infold, vault):
    """Afterwards each note is found; told once for a person, and under the names of the specification for a program."""
    done = infold("index", "--vault", vault)
    assert done.exit_code == 0
    assert "3 passages indexed; 3 embeddings computed, 0 reused" in done.stdout
    assert "Peas.md" in infold("search", "--vault", vault, "trellis").stdout
    (vault / "Peas.md").write_text("# Peas\n\nPeas climb anything.\n")
    again = json.loads(infold("index", "--vault", vault, "--json").stdout)
    assert again.pop("durationMs") >= 0
    of_the_specification = {
        "filesScanned": 3,
        "filesChanged": 1,
        "chunksCreated": 1,
        "embeddingsComputed": 1,
        "embeddingsCached": 0,
    }
    assert {name: again[name] for name in of_the_specification} == of_the_specification
    assert (again["notes"], again["changed"], again["unchanged"], again["skipped"]) == (4, 1, 3, [])


def test_index_says_what_need_not_be_kept(infold, vault, monkeypatch):
    """The bundled model's vectors that an earlier infold kept are given back to the disk, and a person is told."""
    with monkeypatch.context() as patched:
        patched.setattr(StaticEmbedder, "traits", EmbedderTraits(weight=0.3))
        patched.setattr("infold.search.index.sync.SCHEMA", "index/1")
        infold("index", "--vault", vault)
    said = infold("index", "--vault", vault).stdout
    assert "3 kept embeddings taken away: to compute them again costs nothing." in said
    assert "taken away" not in infold("index", "--vault", vault).stdout


def test_a_rebuild_of_a_vault_that_is_suddenly_empty_says_that_nothing_was_done(infold, vault):
    """It is never told that no note was indexed anew, for the index from before is still in use."""
    infold("index", "--vault", vault)
    for note in vault.glob("*.md"):
        note.unlink()
    done = infold("rebuild", "--vault", vault)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "left as it is" in done.stderr
    assert about_index(infold, vault)["files"]["total"] == 3


def test_status_says_how_the_index_stands(infold, vault):
    """None yet, then what it holds and when it was synced, then what changed since; and it never makes one itself."""
    assert "none yet" in infold("status", "--vault", vault).stdout
    assert about_index(infold, vault)["indexed"] is False
    infold("index", "--vault", vault)
    assert "3 notes, 3 passages; up to date" in infold("status", "--vault", vault).stdout
    (vault / "Peas.md").unlink()
    (vault / "Leeks.md").write_text("Leeks are blanched.\n")
    assert "2 notes changed since" in infold("status", "--vault", vault).stdout
    found = about_index(infold, vault)
    assert (found["files"], found["chunks"]) == (
        {"total": 3, "stale": 2},
        {"total": 3, "withEmbeddings": 3, "cachedEmbeddings": 0},  # the bundled model's are not kept
    )


def test_status_loads_nothing_heavy(vault, tmp_path):
    """A look at how things stand waits neither for tables nor for an engine."""
    code = (
        "import sys; from infold.cli.app import app\n"
        f"try: app(['status', '--vault', {str(vault)!r}])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('polars', 'qdrant_edge', 'qdrant_client', 'openai', 'watchfiles') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_ctrl_c_while_meaning_is_indexed_leaves_words(infold, vault, monkeypatch):
    """What is there already can be searched, that is said, and the next call does the rest."""

    def interrupted(self, texts):
        raise KeyboardInterrupt

    with monkeypatch.context() as slow:
        slow.setattr(StaticEmbedder, "embed", interrupted)
        done = infold("index", "--vault", vault)
    assert done.exit_code == 130
    told = " ".join(done.stderr.split())
    assert "`infold index` goes on" in told
    assert "3 notes with 3 passages can be searched; 3 of them are found by words only so far" in told
    assert "found by words only" in " ".join(infold("status", "--vault", vault).stdout.split())
    assert (
        "Peas.md" in infold("search", "--vault", vault, "trellis", "--set", "search.embedding=none", "--no-sync").stdout
    )
    assert json.loads(infold("index", "--vault", vault, "--json").stdout)["embeddingsComputed"] == 3


def test_ctrl_c_before_anything_is_indexed_does_not_claim_to_go_on(infold, vault, monkeypatch):
    """There is nothing to go on from, and that is said."""

    def interrupted(*args, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(WordWriter, "commit", interrupted)
    done = infold("index", "--vault", vault)
    assert done.exit_code == 130
    told = " ".join(done.stderr.split())
    assert "can be searched" not in told
    assert "before the first notes were indexed; `infold index` begins again" in told
    assert "goes on" not in told


def test_the_status_of_a_vault_that_is_suddenly_empty_says_so(infold, vault):
    """Not that all its notes changed: the index is as it was."""
    infold("index", "--vault", vault)
    for note in vault.glob("*.md"):
        note.unlink()
    told = " ".join(infold("status", "--vault", vault).stdout.split())
    assert "3 passages; the vault seems empty, so the index was left as it is" in told
    assert "changed since" not in told


@pytest.mark.usefixtures("costly")
def test_rebuild_computes_no_embedding_again(infold, vault, monkeypatch):
    """All notes are read anew, and the vectors come from what is kept; interrupted, the old index is still in use."""
    infold("index", "--vault", vault)

    def refused(self, texts):
        raise AssertionError("a kept vector was computed again")

    monkeypatch.setattr(StaticEmbedder, "embed", refused)
    assert "3 notes, 3 passages indexed anew; 0 embeddings computed" in infold("rebuild", "--vault", vault).stdout
    done = json.loads(infold("rebuild", "--vault", vault, "--json").stdout)
    assert done["completed"] is True
    assert set(done["result"]) == {"filesScanned", "filesChanged", "chunksCreated", "embeddingsComputed", "durationMs"}

    def interrupted(*args, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(WordWriter, "commit", interrupted)
    stopped = infold("rebuild", "--vault", vault)
    assert stopped.exit_code == 130
    assert "still in use" in stopped.stderr
    assert about_index(infold, vault)["files"] == {"total": 3, "stale": 0}


@pytest.mark.usefixtures("costly")
def test_an_index_on_a_server(infold, vault, monkeypatch):
    """With an address set the same commands work, in one collection; a wrong key and an absent server are said.

    A collection that is gone is made anew, though no note changed. Without the server words still find, and `index`
    fails only where it is to write vectors, changed notes or not.
    """
    with closing(FakeQdrant(key="sesame").start()) as server:
        monkeypatch.setenv("INFOLD_QDRANT_URL", server.url)
        monkeypatch.setenv("INFOLD_QDRANT_API_KEY", "sesame")
        assert "3 passages indexed; 3 embeddings computed" in infold("index", "--vault", vault).stdout
        assert len(server.collections) == 1
        assert "Peas.md" in infold("search", "--vault", vault, "trellis").stdout
        assert infold("rebuild", "--vault", vault).exit_code == 0
        assert len(server.collections) == 1
        assert "Qdrant server at 127.0.0.1" in infold("doctor", "--vault", vault).stdout
        server.client.delete_collection(server.collections[0])
        assert "3 passages indexed; 0 embeddings computed" in infold("index", "--vault", vault).stdout
        assert len(server.collections) == 1
        server.script(Fault(302, headers={"location": "/login"}))
        faulty = infold("search", "--vault", vault, "trellis")
        assert (faulty.exit_code, "Peas.md" in faulty.stdout) == (0, True)
        assert "Found by words alone" in faulty.stderr
        monkeypatch.setenv("INFOLD_QDRANT_API_KEY", "wrong")
        refused = infold("search", "--vault", vault, "trellis")
        assert refused.exit_code == 3
        assert "INFOLD_QDRANT_API_KEY" in refused.stderr
    unchanged = infold("index", "--vault", vault)
    (vault / "Leeks.md").write_text("Leeks are blanched.\n")
    changed = infold("index", "--vault", vault)
    for unreachable in (unchanged, changed):
        assert unreachable.exit_code == 3
        assert "INFOLD_QDRANT_URL" in unreachable.stderr
    for word, note in (("trellis", "Peas.md"), ("blanched", "Leeks.md")):
        by_words = infold("search", "--vault", vault, word)
        assert (by_words.exit_code, note in by_words.stdout) == (0, True)
        assert "Found by words alone" in by_words.stderr
        assert "INFOLD_QDRANT_URL" in by_words.stderr
    without = ("--vault", vault, "--state", vault.parent / "words", "--set", "search.embedding=none")
    assert infold("index", *without).exit_code == 0
    assert infold("doctor", "--vault", vault).exit_code == 1
    monkeypatch.delenv("INFOLD_QDRANT_URL")
    assert "Peas.md" in infold("search", "--vault", vault, "trellis").stdout


@pytest.fixture
def watcher(vault) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `infold watch` as a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        arguments = [
            sys.executable,
            "-m",
            "infold",
            "watch",
            "--vault",
            str(vault),
            "--set",
            "watch.debounce_seconds=0.1",
        ]
        started.append(
            subprocess.Popen([*arguments, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


def put_whole(file: Path, data: bytes) -> None:
    """Puts a note there at once, so that a watcher never meets the moment in which it is empty."""
    outside = file.parent.with_name("whole")
    outside.write_bytes(data)
    outside.replace(file)


def line_with(stream: IO[str], part: str) -> str:
    return next(line for line in stream if part in line)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_watch_tells_what_it_indexed_and_ends_cleanly(infold, vault, watcher, ending):
    """A line for the start, one for each note that was saved; ended by a signal it exits with 0."""
    process = watcher()
    assert str(vault) in line_with(process.stdout, "Following")
    line_with(process.stdout, "3 indexed")
    line_with(process.stdout, "found by meaning too")
    assert about_index(infold, vault)["watcherActive"] is True
    assert infold("watch", "--vault", vault).exit_code == 3
    put_whole(vault / "Leeks.md", b"Leeks are blanched.\n")
    assert "Leeks.md, 1 indexed" in line_with(process.stdout, "Leeks")
    assert "Leeks.md" in infold("search", "--vault", vault, "blanched", "--no-sync").stdout
    process.send_signal(ending)
    assert "Ended" in line_with(process.stdout, "Ended")
    assert process.wait(120) == 0
    assert process.stderr.read() == ""
    assert about_index(infold, vault)["watcherActive"] is False


def test_watch_for_programs(vault, watcher):
    """One object a line, with the names of the specification."""
    process = watcher("--json", "--set", "search.embedding=none")
    assert json.loads(process.stdout.readline())["event"] == "following"
    first = json.loads(process.stdout.readline())
    assert (first["event"], first["paths"], first["filesChanged"], first["pending"]) == ("indexed", None, 3, 0)
    put_whole(vault / "bad.md", b"\xff\xfe")
    second = json.loads(process.stdout.readline())
    assert second["paths"] == ["bad.md"]
    assert "UTF-16" in second["skipped"][0]["reason"]
    process.terminate()
    assert json.loads(process.stdout.readline())["event"] == "ended"

"""Nothing but `durable` writes notes: whatever else touches a file is named here, with why it may."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
OWNER = "src/infold/durable/"

# Modules that call something below themselves, each with what it touches. None of it is a note of the vault, but where
# it says so.
ALLOWED = {
    "src/infold/agent/session.py": "appends to the transcript of a chat",
    "src/infold/catalogue/embeddings.py": "sets a damaged store aside",
    "src/infold/catalogue/parquet.py": "what was exported and is empty now",
    "src/infold/catalogue/store.py": "the catalogue's own file, read anew",
    "src/infold/catalogue/summaries.py": "part files that were put together",
    "src/infold/cli/config.py": "the person's params.yaml, before their editor opens it",
    "src/infold/cli/demo.py": "a new folder with a copy of the demo vault",
    "src/infold/cli/graph.py": "the picture that was asked for by name",
    "src/infold/cli/init.py": "params.yaml, and an inbox that is not there yet: made empty, never opened for more",
    "src/infold/cli/resident_start.py": "the time of the last search",
    "src/infold/evaluation/retrieval/asking.py": "a vault of its own in a temporary folder",
    "src/infold/evaluation/trial.py": "the same",
    "src/infold/librarian/decisions.py": "an answer that is to be asked for again",
    "src/infold/navigator/proximity.py": "a matrix, beside its place and then in it",
    "src/infold/notebook/archive.py": "a transcript that is to be forgotten",
    "src/infold/operations/spending.py": "estimates that were agreed to or grew old",
    "src/infold/search/embed/download.py": "models",
    "src/infold/search/embed/quick_tokenizer.py": "a copy of a model's vocabulary",
    "src/infold/search/index/generations.py": "folders of the index",
    "src/infold/search/index/manifest.py": "the index's own mark",
    "src/infold/search/index/process_lock.py": "a lock file",
    "src/infold/search/index/integrity.py": "the index's own seal",
    "src/infold/search/index/writing.py": "the index's own mark",
    "src/infold/search/shared/edge.py": "the mark of a flush that is under way",
    "src/infold/search/shared/rendezvous.py": "addresses of processes",
    "src/infold/stages/snapshot.py": "the copy of the vault that DVC keeps",
    "src/infold/vault/files.py": "os.open with flags of reading",
    "src/infold/vault/scanning.py": "os.open of folders, to read them",
    "flows/one_run.py": "the log of a run's process",
    "flows/processes.py": "the log of a server's process",
    "flows/serve.py": "the record of a server that ends",
}

_METHODS = {"write_text", "write_bytes", "unlink", "touch", "rmdir", "symlink_to", "hardlink_to"}
_MOVES = {"rename", "replace"}  # of a path with one argument; a text's `replace` has two
_OS = {"remove", "unlink", "rename", "renames", "replace", "rmdir", "removedirs", "truncate", "link", "symlink", "open"}
_SHUTIL = {"move", "rmtree", "copy", "copy2", "copyfile", "copytree", "unpack_archive"}
_READING = ("r", "rb", "rt")


def writes(source: str) -> Iterator[str]:
    """What of `source` may write, move or remove a file: the call, and its line."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in {"os", "shutil"}:
            risky = _OS if node.module == "os" else _SHUTIL
            yield from (f"{node.lineno}: from {node.module} import {n.name}" for n in node.names if n.name in risky)
        elif isinstance(node, ast.Call) and _is_write(node):
            yield f"{node.lineno}: {ast.unparse(node)[:80]}"


def _is_write(call: ast.Call) -> bool:
    called = call.func
    if isinstance(called, ast.Name):
        return called.id == "open" and _is_for_writing(call, 1)
    if not isinstance(called, ast.Attribute):
        return False
    owner = called.value.id if isinstance(called.value, ast.Name) else ""
    if owner == "os":
        return called.attr in _OS and not (called.attr == "open" and _is_for_reading(call))
    if owner == "shutil":
        return called.attr in _SHUTIL
    if called.attr == "open":
        return _is_for_writing(call, 1 if owner in {"io", "gzip", "codecs"} else 0)
    is_move = (
        called.attr in _MOVES and len(call.args) == 1 and not call.keywords and owner not in {"disk", "dataclasses"}
    )
    return called.attr in _METHODS or is_move


def _is_for_writing(call: ast.Call, at: int) -> bool:
    """Whether `open` has a mode that is not for reading. What has none reads, or opens no file."""
    modes = [*call.args[at : at + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    found = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(mode not in _READING and set(mode) <= set("rwaxbt+") for mode in found)


def _is_for_reading(call: ast.Call) -> bool:
    """Whether `os.open` says at once that it reads, or opens what keeps nothing."""
    return any(word in ast.unparse(call) for word in ("O_RDONLY", "os.devnull"))


def modules() -> Iterator[tuple[str, list[str]]]:
    """Every module of the package, the flows and the tasks, with its writes."""
    for top in ("src/infold", "flows", "tasks"):
        for file in sorted((REPOSITORY / top).rglob("*.py")):
            if found := list(writes(file.read_text(encoding="utf-8"))):
                yield file.relative_to(REPOSITORY).as_posix(), found


def test_only_durable_writes_and_what_is_named_here():
    """A new way to a file goes through `durable`, or is named above with why it may not, and is no note."""
    found = {path: calls for path, calls in modules() if not path.startswith(OWNER) and path not in ALLOWED}
    assert not found


def test_what_is_named_still_writes():
    """An exception that is no longer needed goes."""
    assert set(ALLOWED) <= {path for path, _ in modules()}


@pytest.mark.parametrize(
    "source",
    [
        "note.write_text('x')",
        "open('n.md', 'w')",
        "open('n.md', mode='a')",
        "note.open('r+b')",
        "io.open('n.md', 'x')",
        "os.open(note, os.O_WRONLY)",
        "os.open(note, flags)",
        "os.replace(a, b)",
        "from os import replace",
        "from shutil import move",
        "part.replace(note)",
        "note.rename(other)",
        "(folder / 'n.md').unlink()",
        "shutil.move(a, b)",
    ],
)
def test_a_write_is_seen(source):
    """Each way to write, move or remove a file."""
    assert list(writes(source))


@pytest.mark.parametrize(
    "source",
    ["open('n.md')", "note.open('rb')", "os.open(note, os.O_RDONLY)", "text.replace('a', 'b')", "index.open(folder)"],
)
def test_what_reads_is_none(source):
    """Reading, and names that only sound alike."""
    assert not list(writes(source))

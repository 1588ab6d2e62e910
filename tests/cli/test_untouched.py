"""What only reads leaves the vault alone, and what infold makes itself is never found as if somebody had written it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

KEYWORD = ("--set", "search.embedding=none")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Notes with all that a careless tool would change: no last newline, CRLF, a byte order mark, front matter."""
    folder = tmp_path / "vault"
    for path, data in {
        "index.md": b"# Home\n[[Peas]]",
        "Peas.md": b"\xef\xbb\xbf---\r\ntags: [garden]\r\n---\r\n# Peas\r\nPeas climb a trellis.\r\n",
        "reference/me.md": b"Trellises are dear to me.\n\n\n",
        ".obsidian/app.json": b"{}",
        "picture.png": b"\x89PNG",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def seen(vault: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of the vault, with its bytes and its time."""
    return {
        file.relative_to(vault).as_posix(): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in vault.rglob("*")
        if file.is_file()
    }


def test_what_only_reads_changes_nothing_in_the_vault(infold, vault, tmp_path):
    """No file is made, none gets another byte or another time: the state lies elsewhere."""
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Where is the trellis?"}) + "\n")
    before = seen(vault)
    for words in (
        ("index",),
        ("search", "trellis"),
        ("search", "trellis", "--explain", "--json"),
        ("get", "Peas:2:3"),
        ("context",),
        ("sessions", "add", talk),
        ("sessions", "index"),
        ("sessions", "forget", "talk", "--yes"),
        ("rebuild",),
        ("status",),
        ("doctor",),
    ):
        assert infold(*words, "--vault", vault, *KEYWORD).exit_code == 0, words
    assert seen(vault) == before


def test_what_infold_made_itself_is_not_found(infold, vault):
    """A state folder in the vault, hidden as it must be, holds reports and texts of notes: none of them is a result."""
    place = ("--vault", vault, "--state", vault / ".infold")
    (vault / "inbox.md").write_text("Peas want a trellis of willow, six feet high at the least.\n")
    assert infold("integrate", *place, *KEYWORD, "--runner", "direct").exit_code in {0, 1}
    assert list((vault / ".infold").rglob("report.md"))
    infold("log", "The trellis came today", *place, *KEYWORD)
    found = json.loads(infold("search", "trellis", *place, *KEYWORD, "--json").stdout)["results"]
    paths = {hit["filePath"] for group in found.values() for hit in group}
    assert "Peas.md" in paths
    assert not [path for path in paths if path.startswith(".") or "report" in path or path == "inbox.md"]

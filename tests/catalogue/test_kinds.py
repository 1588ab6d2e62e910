"""What kind of note a path names."""

from pathlib import Path

import pytest

from infold.catalogue.kinds import kind_of
from infold.settings import Params, SummaryParams, VaultParams


@pytest.mark.parametrize(
    "path,kind",
    [
        ("inbox.md", "inbox"),
        ("sub/inbox.md", "standard"),
        ("index.md", "index"),
        ("a/Plants Index.md", "index"),
        ("index/plants.md", "standard"),
        ("2024-02-29.md", "daily"),
        ("daily/2024-01-01.md", "daily"),
        ("2023-02-29.md", "standard"),
        ("2024-01-01 meeting.md", "standard"),
    ],
)
def test_the_kind_is_told_by_the_name(path, kind):
    """Inbox by its path, index by the pattern in the file's name whatever the case, daily by a real date."""
    assert kind_of(Params())(path) == kind


def test_kinds_follow_the_parameters():
    """Another inbox, another pattern; an empty pattern makes no note an index."""
    params = Params(vault=VaultParams(inbox_file="./in/box.md"), summary=SummaryParams(index_filename_pattern="MOC"))
    kind = kind_of(params)
    assert [kind(path) for path in ("in/box.md", "inbox.md", "Plants moc.md", "index.md")] == [
        "inbox",
        "standard",
        "index",
        "standard",
    ]
    assert kind_of(Params(summary=SummaryParams(index_filename_pattern="")))("index.md") == "standard"


def test_the_vaults_own_daily_notes_are_daily(tmp_path: Path):
    """What Obsidian is set to name its daily notes counts, in their folder only."""
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "daily-notes.json").write_text(
        '{"folder": "Journal", "format": "YYYY/[W]WW/D MMMM YYYY"}'
    )
    kind = kind_of(Params(), tmp_path)
    assert kind("Journal/2026/W08/17 February 2026.md") == "daily"
    assert kind("2026/W08/17 February 2026.md") == "standard"
    assert kind("elsewhere/2026-02-17.md") == "daily"

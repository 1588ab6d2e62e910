"""Rows of the notes and links tables."""

from pathlib import Path

import pytest

from infold.catalogue.kinds import kind_of
from infold.catalogue.links import dangling_links, links_schema, load_links
from infold.catalogue.notes import load_notes, note_row, notes_schema, read_row
from infold.errors import NoteUnreadable
from infold.settings import Params, SummaryParams, VaultParams
from infold.text import content_hash, token_count
from infold.vault.note import parse

TEXT = "---\ntags: [t]\naliases: A\n---\n# Title\n\nSee [[B|the b]] %%not this%%.\n\n## Two\n\n![[p.png]]\n"


def test_a_row_holds_what_a_card_needs():
    """Title, words as shown, tokens of the whole text, heading lines, tags, aliases, links."""
    row = note_row(parse("a.md", TEXT), "hash")
    assert (row.title, row.headings, row.tags, row.aliases) == ("Title", ["# Title", "## Two"], ["t"], ["A"])
    assert row.words == 5  # Title See the b Two
    assert row.tokens == token_count(TEXT)
    assert [(link.name, link.alias, link.line, link.is_attachment) for link in row.links] == [
        ("B", "the b", 7, False),
        ("p.png", None, 11, True),
    ]


def test_a_file_whose_hash_is_known_is_not_parsed_again(tmp_path):
    """The content decides: no row where nothing changed, a row where anything did."""
    (tmp_path / "a.md").write_bytes(b"# A\n")
    digest = content_hash(b"# A\n")
    assert read_row(tmp_path, "a.md", 1000, digest) is None
    row = read_row(tmp_path, "a.md", 1000, "other")
    assert row is not None
    assert row.content_hash == digest
    with pytest.raises(NoteUnreadable):
        read_row(tmp_path, "b.md", 1000, None)


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


def test_tables_that_were_never_made_are_empty(tmp_path: Path):
    """Loading before the first sync gives no rows, with all columns."""
    assert dict(load_notes(tmp_path).schema) == notes_schema()
    assert dict(load_links(tmp_path).schema) == links_schema()
    assert dangling_links(load_links(tmp_path)).height == 0


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

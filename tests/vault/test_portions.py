"""Some lines of a note: named as results are, by path or name; nothing where nothing is, refused where it leads out."""

from __future__ import annotations

import pytest

from infold.errors import NoteUnreadable, PathRefused, UsageError
from infold.settings import VaultParams
from infold.vault.portions import read_portion


@pytest.fixture
def vault(tmp_path):
    """A few notes, a colon in a name, and what is no note."""
    folder = tmp_path / "vault"
    for name, text in {
        "reference/contacts.md": "# Contacts\n\n## Sarah Chen\n- Phone: 555-1234\n",
        "lists/shopping.md": "one\r\ntwo\r\nthree",
        "a/same.md": "first",
        "b/same.md": "second",
        "meeting 9:30.md": "by the clock\nline two\n",
        "empty.md": "",
        ".obsidian/app.md": "settings",
        "picture.png": "no note",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (tmp_path / "outside.md").write_text("secret")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    return folder


@pytest.mark.parametrize(
    "asked, path, text, start, lines, total",
    [
        ("reference/contacts.md", "reference/contacts.md", "# Contacts\n\n## Sarah Chen\n- Phone: 555-1234\n", 1, 4, 4),
        ("reference/contacts.md:3", "reference/contacts.md", "## Sarah Chen\n", 3, 1, 4),
        ("reference/contacts.md:3:9", "reference/contacts.md", "## Sarah Chen\n- Phone: 555-1234\n", 3, 2, 4),
        ("reference/contacts.md:3-4", "reference/contacts.md", "## Sarah Chen\n- Phone: 555-1234\n", 3, 2, 4),
        ("reference/contacts:4", "reference/contacts.md", "- Phone: 555-1234\n", 4, 1, 4),
        ("contacts:4", "reference/contacts.md", "- Phone: 555-1234\n", 4, 1, 4),
        ("CONTACTS.md:4", "reference/contacts.md", "- Phone: 555-1234\n", 4, 1, 4),
        ("lists/shopping.md:2:2", "lists/shopping.md", "two\r\nthree", 2, 2, 3),
        ("meeting 9:30.md", "meeting 9:30.md", "by the clock\nline two\n", 1, 2, 2),
        ("meeting 9:30", "meeting 9:30.md", "by the clock\nline two\n", 1, 2, 2),
        ("meeting 9:30:2", "meeting 9:30.md", "line two\n", 2, 1, 2),
        ("meeting 9:30.md:2:5", "meeting 9:30.md", "line two\n", 2, 1, 2),
        ("./a/same.md", "a/same.md", "first", 1, 1, 1),
        ("empty.md", "empty.md", "", 1, 0, 0),
        ("lists/shopping.md:99", "lists/shopping.md", "", 99, 0, 3),
        ("lists/shopping.md:2:0", "lists/shopping.md", "", 2, 0, 3),
    ],
)
def test_lines_as_they_are_named(vault, asked, path, text, start, lines, total):
    """A path, a name, a line, a count, a range, a colon in the name, a line that is not there."""
    portion = read_portion(vault, VaultParams(), asked)
    assert (portion.path, portion.text, portion.start, portion.lines, portion.total) == (
        path,
        text,
        start,
        lines,
        total,
    )


def test_an_absolute_path_within_the_vault_is_one_of_its(vault):
    """What a shell completes is understood."""
    assert read_portion(vault, VaultParams(), str(vault / "a/same.md")).text == "first"


@pytest.mark.parametrize(
    "asked, near",
    [
        ("contcats.md", "reference/contacts.md"),
        ("reference/contact:3", "reference/contacts.md"),
        ("same", "b/same.md"),
        ("picture.png", ""),
        ("zzzzqqqq", ""),
        ("", ""),
        ("x" * 5000, ""),
    ],
)
def test_what_is_not_there_is_empty_and_names_what_is_near(vault, asked, near):
    """No error: an empty answer, and a hint where there is one."""
    portion = read_portion(vault, VaultParams(), asked)
    assert (portion.path, portion.text, portion.lines, portion.total) == ("", "", 0, 0)
    assert near in portion.near or (not near and portion.near == ())


@pytest.mark.parametrize(
    "asked",
    [
        "../outside.md",
        "/etc/passwd.md",
        "a/../../outside.md",
        "link.md",
        ".obsidian/app.md",
        "a\x00b.md",
        "~/../x/../../outside",
    ],
)
def test_what_leads_out_of_the_vault_is_refused(vault, asked):
    """Climbing, absolute paths, symbolic links, hidden folders."""
    with pytest.raises(PathRefused):
        read_portion(vault, VaultParams(), asked)


def test_line_nought_is_wrong_use(vault):
    """Lines count from 1, and that is said."""
    with pytest.raises(UsageError, match="from 1"):
        read_portion(vault, VaultParams(), "lists/shopping.md:0")


def test_a_note_that_cannot_be_read_says_why(vault):
    """It is there, so it is no empty answer."""
    (vault / "broken.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NoteUnreadable, match="UTF-16"):
        read_portion(vault, VaultParams(), "broken.md")


@pytest.mark.parametrize("asked", ["reference/contacts.md:4-3", "contacts:7-1"])
def test_lines_that_run_backwards_are_wrong_use(vault, asked):
    """Nobody is told that the note is shorter than it is."""
    with pytest.raises(UsageError, match="run backwards"):
        read_portion(vault, VaultParams(), asked)


def test_a_name_that_ends_like_a_range_is_a_name(vault):
    """A note that is there under the whole name is meant."""
    (vault / "ratio:4-3.md").write_text("of a screen")
    assert read_portion(vault, VaultParams(), "ratio:4-3").text == "of a screen"

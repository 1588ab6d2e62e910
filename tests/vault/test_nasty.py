"""Every hard input of the shared collection is survived, and what cannot be read is named."""

import tarfile
from pathlib import Path

import pytest

from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.errors import NoteUnreadable
from infold.settings import Params
from infold.vault.files import decode, read_bytes
from infold.vault.note import parse, plain_text
from infold.vault.scanning import scan


@pytest.fixture(scope="module")
def nasty(shared_data, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    with tarfile.open(shared_data / "markdown" / "nasty.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "nasty-synth"


@pytest.fixture(scope="module")
def is_folding(nasty) -> bool:
    """Whether this file system takes names that differ in case for one."""
    return (nasty / "case.md").samefile(nasty / "Case.md")


def test_every_entry_is_a_note_or_named_with_a_reason(nasty, is_folding):
    """The scan names clashes and the note over the limit; reading names what is not UTF-8; all else parses."""
    found = scan(nasty, Params().vault)
    named = {item.path: item.reason for item in found.skipped}
    for file in found.files:
        try:
            text = decode(read_bytes(nasty, file.path, Params().vault.max_note_bytes), file.path)
        except NoteUnreadable as error:
            named[file.path] = str(error)
            continue
        note = parse(file.path, text)
        assert note.text == text
        assert plain_text(note) is not None
    assert "max_note_bytes" in named.pop("one-line-5MB.md")
    assert "UTF-16" in named.pop("utf16le-bom.md")
    assert "NUL" in named.pop("nul.md")
    assert "not UTF-8" in named.pop("invalid-utf8.md")
    assert is_folding or len(named) == 4
    assert all("case or Unicode form" in reason for reason in named.values())


def test_the_catalogue_is_made_beside_hard_inputs_and_no_byte_changes(nasty):
    """One bad file never stops the others: rows for all that can be read, names for the rest, files untouched."""
    before = {file.name: file.read_bytes() for file in nasty.iterdir() if file.is_file()}
    catalogue = Catalogue(nasty.parent / "catalogue.sqlite", nasty, Params())
    result = sync_catalogue(catalogue)
    files = [file for file in nasty.iterdir() if file.suffix == ".md"]
    assert len(catalogue.notes()) + len(result.skipped) == len(files)
    assert {item.path for item in result.warnings} == {"unclosed-frontmatter.md", "yaml-bomb.md"}
    assert sync_catalogue(catalogue).skipped == result.skipped
    assert {file.name: file.read_bytes() for file in nasty.iterdir() if file.is_file()} == before


def test_link_forms_lead_where_obsidian_takes_them(nasty):
    """Of the collection's forms each that names `bom` finds it; none of the empty or broken ones is a link."""
    note = parse("link-forms.md", (nasty / "link-forms.md").read_text(encoding="utf-8"))
    assert all("bom" in link.target for link in note.links)
    assert len(note.links) == 14

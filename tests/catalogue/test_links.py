"""The links that a catalogue has."""

import pytest

from infold.catalogue.link_blob import pack_targets
from infold.catalogue.links import all_names, as_written, dangling_links, links_of, links_to, shown_names
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.settings import Params


@pytest.fixture
def catalogue(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("[[b|the b]] [[b#Part|a part]] ![[b|shown]] [[gone]] [x](b.md) ![[p.png|9]] [[b]]\n")
    (vault / "b.md").write_text("[[a]] [back](a.md) [[b|me]]\n")
    (vault / "c.md").write_text("no link\n")
    found = Catalogue(tmp_path / "catalogue.sqlite", vault, Params())
    sync_catalogue(found)
    yield found
    found.close()


def test_links_are_told_with_where_they_lead(catalogue):
    """Those of one note, those to one note, those that lead nowhere; a picture is no link that dangles."""
    assert [target for _, target in links_of(catalogue, "a.md")] == ["b.md"] * 3 + [None, "b.md", None, "b.md"]
    assert [(path, as_written(link)) for path, link in links_to(catalogue, "a.md")] == [
        ("b.md", "[[a]]"),
        ("b.md", "[back](a.md)"),
    ]
    assert [(path, as_written(link)) for path, link in dangling_links(catalogue)] == [("a.md", "[[gone]]")]
    assert links_of(catalogue, "c.md") == links_to(catalogue, "c.md") == links_to(catalogue, "no.md") == []


def test_shown_names_are_those_of_whole_notes(catalogue):
    """A link to a part, one that shows all of a note, and one that leads nowhere name no note."""
    assert shown_names(catalogue) == [("b.md", "the b"), ("b.md", "x"), ("a.md", "back"), ("b.md", "me")]
    assert ("b.md", "a.md", "back", False) in all_names(catalogue)
    assert len(all_names(catalogue)) == 10


def test_a_number_within_two_others_is_not_found(catalogue):
    """Links are looked for by the bytes of a note's number, which may stand across two others."""
    with catalogue.writing() as db:
        (note,) = db.execute("SELECT id FROM files WHERE path = 'b.md'").fetchone()
        db.execute("UPDATE links SET targets = ? WHERE note = ?", (pack_targets([0x100, 0x10000, note]), note))
    assert [path for path, _ in dangling_links(catalogue)] == ["a.md"]

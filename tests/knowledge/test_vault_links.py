"""The links of a vault as its catalogue has them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.knowledge.communities import communities
from infold.knowledge.graph import Graph
from infold.knowledge.vault_links import (
    aliases_of,
    communities_of,
    dangling_of,
    graph_of,
    named_note,
    resolver_of,
    statistics_of,
)
from infold.settings import Params

NOTES = {
    "index.md": "# Index\n\n[[Pump]] [[house/Pump]] [[Nowhere]] [[nowhere]] [[a b]]\n",
    "Pump.md": "# Pump\n\n[[index]]\n",
    "house/Pump.md": "---\naliases: [Heater, ' the Pump ']\n---\n[[house/a b]]\n",
    "house/deep/a b.markdown": "[[Pump]]\n",
    "house/a b.md": "---\naliases: [heater, a]\n---\n",
    "straße.md": "alone\n",
}


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    """The catalogue of a small vault with names that are alike."""
    folder = tmp_path_factory.mktemp("links")
    for path, text in NOTES.items():
        file = folder / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    found = Catalogue(folder / "state" / "catalogue.sqlite", folder / "vault", Params())
    sync_catalogue(found)
    yield found
    found.close()


PARTS = st.sampled_from(
    [
        "Pump",
        "pump",
        "house",
        "deep",
        "a b",
        "a%20b",
        "Heater",
        "the pump",
        "STRASSE",
        "straße",
        ".md",
        "/",
        "./",
        "../",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PARTS, max_size=4).map("".join))
def test_a_name_means_what_a_link_would(catalogue, name):
    """The quick look at one name says what the resolver of all notes says."""
    expected = resolver_of(aliases_of(catalogue)).resolve(name, "") if name else None
    assert named_note(catalogue, name) == expected


def test_what_is_kept_of_the_graph_is_of_the_notes_as_they_are(catalogue):
    """Graph, numbers and groups are what the links say, asked once or again, and follow a note that changes."""

    def check() -> None:
        graph = Graph(catalogue.outgoing())
        for _ in range(2):
            assert graph_of(catalogue).packed() == graph.packed()
            assert communities_of(catalogue) == communities(graph)
            assert statistics_of(catalogue) == graph.statistics(statistics_of(catalogue).dangling)

    check()
    assert statistics_of(catalogue).dangling == 2
    assert len(dangling_of(catalogue)) == 1
    (catalogue.vault / "straße.md").write_text("[[Pump]] [[gone]]\n", encoding="utf-8")
    (catalogue.vault / "house" / "a b.md").unlink()
    sync_catalogue(catalogue)
    assert "straße.md" in graph_of(catalogue).backlinks("Pump.md")
    check()
    assert statistics_of(catalogue).dangling == 4
    (catalogue.vault / "straße.md").write_text("alone\n", encoding="utf-8")
    (catalogue.vault / "house" / "a b.md").write_text(NOTES["house/a b.md"], encoding="utf-8")
    sync_catalogue(catalogue)
    check()

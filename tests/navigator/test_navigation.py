"""Moving about: explore, zoom, move, links, lenses, places, themes; as operations, each for its caller."""

from __future__ import annotations

from collections import Counter

import pytest

from infold.errors import NodeUnknown, UsageError
from infold.operations.navigator import (
    CallerRequest,
    ExploreRequest,
    FilterRequest,
    FollowLinkRequest,
    MoveRequest,
    NodeRequest,
    SummarizeRequest,
    back,
    explore,
    filter_,
    follow_link,
    move,
    summarize,
    zoom_in,
    zoom_out,
)
from infold.operations.navigator_import import ImportRequest, import_
from infold.operations.navigator_themes import ThemeMapRequest, ThemesRequest, theme_map, themes


def test_before_anything_is_imported_it_says_so(vault):
    """An empty answer names what to do."""
    answer = explore(vault, ExploreRequest(query="tomatoes"))
    assert answer.nodes == ()
    assert "browse_vault" in answer.notice
    with pytest.raises(NodeUnknown):
        zoom_in(vault, NodeRequest())


def test_explore_finds_the_right_node_at_its_level(imported):
    """What answers the question comes first, as the part that says it; the best becomes the centre."""
    answer = explore(imported, ExploreRequest(query="when to water tomato plants"))
    assert answer.nodes[0].path == "garden/tomatoes.md"
    assert answer.centre.id == answer.nodes[0].id
    assert answer.breadcrumbs[0] == "Tomatoes"
    only = explore(imported, ExploreRequest(query="server script", types=("article",)))
    assert {node.type for node in only.nodes} == {"article"}
    assert only.nodes[0].path == "work/release.md"


def test_a_heading_that_repeats_the_title_is_one_crumb(imported):
    """The article and its first heading say the same once: in the breadcrumbs, and in the trail of what is below."""
    answer = explore(imported, ExploreRequest(query="never wet the leaves of a tomato plant"))
    assert answer.breadcrumbs[:2] == ("Tomatoes", "Watering")
    trails = {node.trail for node in explore(imported, ExploreRequest(query="tomatoes water", radius=2)).nodes}
    assert ("Compost", "Heat") in trails
    assert all(len(set(trail)) == len(trail) for trail in trails)


def test_a_summary_of_lists_shows_no_marks(vault, folder):
    """Without a model: of sections that are lists, what their items say."""
    (folder / "shopping.md").write_text(
        "# Shopping\n\n## Bakery\n\n- [ ] rye bread\n- a brioche\n\n## Dairy\n\n1. butter\n"
    )
    vault.import_notes(["shopping.md"])
    nodes = vault.navigator_store.of_article("shopping.md")
    said = summarize(vault, SummarizeRequest(node_ids=tuple(node.id for node in nodes if node.title))).summary
    assert all(item in said for item in ("rye bread", "brioche", "butter"))
    assert not any(mark in said for mark in ("#", "- ", "[ ]", "1."))
    assert [node.summary for node in nodes if node.type == "paragraph"] == ["rye bread. a brioche.", "butter."]


def test_filters_by_folder_tag_and_day(imported):
    """Only notes that meet all of them are looked at; a tag includes those below it."""
    assert {n.path for n in explore(imported, ExploreRequest(query="server", folder="work", radius=2)).nodes} <= {
        "work/release.md",
        "work/database.md",
    }
    assert {n.path for n in explore(imported, ExploreRequest(query="server", tags=("work",), radius=2)).nodes} == {
        "work/release.md"
    }
    last_year = ExploreRequest(query="garden", since="2025-01-01", until="2025-12-31", radius=2)
    assert {n.path for n in explore(imported, last_year).nodes} == {"garden/tomatoes.md"}


def test_zooming_goes_down_and_up_the_same_way(imported):
    """Zoom in gives the parts in reading order, zoom out what they are part of; "this one" is the centre."""
    article = explore(imported, ExploreRequest(query="tomatoes", types=("article",))).nodes[0]
    below = zoom_in(imported, NodeRequest(node_id=article.id)).nodes
    assert [node.title for node in below] == ["Tomatoes"]
    parts = zoom_in(imported, NodeRequest(node_id=below[0].id)).nodes
    assert [node.title for node in parts] == ["", "Watering", "Pests"]
    up = zoom_out(imported, NodeRequest(node_id="this one"))
    assert up.centre.id == article.id
    assert up.centre.summary
    beside = zoom_out(imported, NodeRequest()).nodes
    assert {node.path for node in beside} == {"garden/tomatoes.md", "garden/compost.md"}
    assert back(imported, CallerRequest()).centre.id == below[0].id


def test_move_gives_the_nearest_of_the_same_level_and_nothing_of_its_own(imported):
    """Neither what holds the node nor what it holds; across levels where asked."""
    article = explore(imported, ExploreRequest(query="tomatoes", types=("article",))).nodes[0]
    moved = move(imported, MoveRequest(node_id=article.id))
    assert {node.type for node in moved.nodes} == {"article"}
    assert "garden/tomatoes.md" not in {node.path for node in moved.nodes}
    paths = [node.path for node in moved.nodes]
    assert paths.index("garden/compost.md") < paths.index("work/database.md")
    across = move(imported, MoveRequest(across=True))
    assert len({node.type for node in across.nodes}) > 1


def test_links_are_followed_both_ways_with_their_line(imported):
    """A link to a heading leads to that section; backlinks name the node that holds the link."""
    section = next(node for node in imported.navigator_store.of_article("garden/tomatoes.md") if node.title == "Pests")
    out = follow_link(imported, FollowLinkRequest(node_id=section.id)).nodes
    assert [(node.path, node.title) for node in out] == [("garden/compost.md", "Heat")]
    assert "Aphids" in out[0].reason
    release = imported.navigator_store.of_article("work/release.md")[0]
    backlinks = follow_link(imported, FollowLinkRequest(node_id=release.id)).nodes
    assert {node.path for node in backlinks} == {"index.md", "work/database.md"}
    held = follow_link(imported, FollowLinkRequest(node_id=section.id, link_type="containment")).nodes
    assert [node.title for node in held[:2]] == ["Tomatoes", "Tomatoes"]


@pytest.mark.parametrize("name", [None, "", "this", "this one", "This idea", "here"])
def test_this_one_is_the_centre(imported, name):
    """Said in any of these ways, or not at all, the node meant is where the caller is; there are ways back."""
    centre = explore(imported, ExploreRequest(query="tomatoes want sun and water", types=("paragraph",))).centre
    assert move(imported, MoveRequest(node_id=name)).centre.id == centre.id
    risen = zoom_out(imported, NodeRequest(node_id=centre.id))
    assert risen.breadcrumbs == ("Tomatoes",)
    assert back(imported, CallerRequest()).centre.id == centre.id
    assert explore(imported, ExploreRequest(query="leaves", center_node_id=name or "this one")).nodes


def test_what_is_from_outside_says_so_at_each_step(vault, folder):
    """A note from outside, and a paragraph from outside in one's own note, with all that holds it; nothing else."""
    (folder / "web.md").write_text("---\norigin: https://example.org/a\n---\n# Zinnias\n\nZinnias bloom in July.\n")
    own = folder / "garden" / "compost.md"
    own.write_text(own.read_text() + "\n## Read\n\nWorms love it. (from outside, https://example.org/w, 2026-01-02)\n")
    vault.import_notes(["."])
    found = explore(
        vault, ExploreRequest(query="zinnias bloom in July", types=("paragraph",), radius=2, limit=50)
    ).nodes
    assert {node.path for node in found if node.trust == "external"} == {"web.md", "garden/compost.md"}
    assert {node.trust for node in found if node.path == "work/release.md"} == {"vault"}
    worms = explore(vault, ExploreRequest(query="worms love it", types=("paragraph",))).centre
    assert worms.trust == "external"
    assert zoom_out(vault, NodeRequest()).centre.trust == "external"
    assert {
        node.title: node.trust for node in zoom_out(vault, NodeRequest()).nodes if node.title in ("Heat", "Read")
    } == {
        "Heat": "vault",
        "Read": "external",
    }
    assert summarize(vault, SummarizeRequest(node_ids=(worms.id,))).trust == "external"
    outside = {"web.md", "garden/compost.md"}
    for theme in themes(vault, ThemesRequest()).themes:
        assert theme.trust == ("external" if outside & set(theme.representatives) else "vault")


def test_a_folder_of_many_shows_those_beside(vault, folder):
    """Zooming out of an article shows a hundred of its folder, itself among them, and how many more there are."""
    for n in range(130):
        (folder / f"note {n:03}.md").write_text(f"# Note {n}\n\nThis is about number {n}.\n")
    vault.import_notes(["."])
    (at,) = vault.navigator_store.articles_of(["note 090.md"])
    answer = zoom_out(vault, NodeRequest(node_id=at.id))
    names = [node.path for node in answer.nodes]
    assert (len(names), "note 090.md" in names, names) == (100, True, sorted(names))
    assert "31 more articles" in answer.notice


def test_each_caller_has_a_place_of_their_own(imported):
    """Where one goes moves no other, and is kept."""
    mine = explore(imported, ExploreRequest(query="tomatoes", caller="one")).centre
    theirs = explore(imported, ExploreRequest(query="server", caller="two")).centre
    assert mine.id != theirs.id
    assert zoom_in(imported, NodeRequest(caller="one")).centre.id == mine.id


def test_a_lens_raises_its_own(imported):
    """With example notes and words the order changes towards them; without a lens it is as before."""
    plain = explore(imported, ExploreRequest(query="water", radius=2, types=("article",)))
    filter_(imported, FilterRequest(lens="machines", notes=("work/release.md",), tags=("work",)))
    through = explore(imported, ExploreRequest(query="water", radius=2, types=("article",)))
    place = {node.path: n for n, node in enumerate(through.nodes)}
    before = {node.path: n for n, node in enumerate(plain.nodes)}
    assert place["work/release.md"] < before["work/release.md"]
    assert set(place) == set(before)
    assert through.lens == "machines"
    answer = filter_(imported, FilterRequest())
    assert answer.lens is None
    assert {"machines", "technical", "personal", "recent"} <= set(answer.lenses)
    assert [n.path for n in explore(imported, ExploreRequest(query="water", radius=2, types=("article",))).nodes] == [
        node.path for node in plain.nodes
    ]
    with pytest.raises(UsageError):
        filter_(imported, FilterRequest(lens="  "))


def test_a_summary_of_several_nodes_is_kept(imported):
    """It says what they say, from where asked, and is not made twice."""
    nodes = explore(imported, ExploreRequest(query="water tomatoes", types=("paragraph",), folder="garden")).nodes[:3]
    request = SummarizeRequest(node_ids=tuple(node.id for node in nodes), perspective="what to do in the morning")
    first = summarize(imported, request)
    assert "morning" in first.summary
    assert all(source.startswith("garden/") for source in first.sources)
    assert summarize(imported, request) == first


def test_themes_and_map_cover_every_imported_note(imported):
    """Each note is of one theme and has one place; asked again, both come from what is kept."""
    found = themes(imported, ThemesRequest(level=2)).themes
    assert sum(theme.notes for theme in found) == 5
    spots = theme_map(imported, ThemeMapRequest(level=2)).notes
    assert Counter(spot.theme for spot in spots) == {theme.number: theme.notes for theme in found}
    assert {spot.path for spot in spots} == {node.path for node in imported.navigator_store.every(("article",))}
    assert all(-1 <= spot.x <= 1 and -1 <= spot.y <= 1 for spot in spots)
    assert theme_map(imported, ThemeMapRequest(level=2)).notes == spots
    broad = theme_map(imported, ThemeMapRequest()).notes
    assert [(spot.x, spot.y) for spot in broad] == [(spot.x, spot.y) for spot in spots]


def test_what_connects_themes_and_what_grew(vault, folder):
    """Links and notes between two themes are named; a theme of later notes grew, one of earlier notes faded."""
    for n in range(24):
        bed, server = folder / f"bed {n}.md", folder / f"server {n}.md"
        bed.write_text(f"---\ndate: {2010 + n // 6}-01-01\n---\n# Bed {n}\n\nSoil, seeds, compost and worms.\n")
        server.write_text(f"---\ndate: {2020 + n // 6}-01-01\n---\n# Server {n}\n\nDatabase, deploy, logs [[bed 3]].\n")
    vault.import_notes(["."])
    found = themes(vault, ThemesRequest()).themes
    of = {theme.representatives[0].split()[0]: theme for theme in found if theme.notes >= 6}
    assert (of["server"].trend, of["bed"].trend) == ("growing", "fading")
    ties = [each for theme in found for each in theme.connections]
    assert max(each.links for each in ties) >= 3
    assert all(each.notes for each in ties)
    assert all(theme.connected == tuple(each.name for each in theme.connections) for theme in found)


def test_an_import_names_its_price_first_and_takes_a_token(vault, monkeypatch):
    """With a model nothing is imported before the estimate is agreed to; it says what each note takes."""
    paid = vault.params.librarian.model_copy(update={"kind": "model"})
    located = vault.located
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    from dataclasses import replace

    from infold.app import OpenVault

    params = vault.params.model_copy(update={"librarian": paid})
    workspace = replace(vault.workspace, params=params)
    with OpenVault(located._replace(workspace=workspace)) as with_model:
        answer = import_(with_model, ImportRequest(paths=("garden",)))
        assert answer.quote is not None
        assert answer.notes == 0
        assert {each.path for each in answer.by_note} == {"garden/compost.md", "garden/tomatoes.md"}
        assert sum(each.tokens[0] for each in answer.by_note) == answer.quote.tokens[0]
        assert with_model.navigator_store.choices.imports() == {}

"""The graph of notes."""

from hypothesis import given
from hypothesis import strategies as st

from infold.knowledge.dangling import DanglingLinks
from infold.knowledge.graph import Graph

GRAPH = Graph(
    {"root": ["a", "b", "a", "gone"], "a": ["c"], "b": ["c", "root"], "c": ["d", "c"], "d": [], "alone": ["alone"]}
)


def test_links_count_once_and_only_between_notes():
    """Repeated links are one, and a target that is no note is none."""
    assert GRAPH.outgoing("root") == ("a", "b")
    assert GRAPH.backlinks("c") == ("a", "b", "c")
    assert GRAPH.backlinks("gone") == GRAPH.outgoing("gone") == ()


def test_reach_tells_the_distance():
    """All that links lead to from the root, the root at 0."""
    assert GRAPH.reach("root") == {"root": 0, "a": 1, "b": 1, "c": 2, "d": 3}
    assert GRAPH.reach("d") == {"d": 0}
    assert GRAPH.reach("no such note") == {}


def test_orphans_have_no_neighbour():
    """A note is an orphan when no link joins it to another note; the root never is."""
    assert GRAPH.orphans() == ["alone"]
    assert Graph({"root": [], "b": []}).orphans("root") == ["b"]


def test_neighbours_count_links_in_either_direction():
    """A note that links here is as near as one that is linked from here."""
    assert GRAPH.neighbours("c", 1) == {"c": 0, "d": 1, "a": 1, "b": 1}
    assert GRAPH.neighbours("d", 2) == {"d": 0, "c": 1, "a": 2, "b": 2}
    assert GRAPH.neighbours("root", 0) == {"root": 0}
    assert GRAPH.neighbours("no such note") == {}


def test_a_path_is_a_shortest_chain():
    """Along links in either direction; empty where the two are not joined."""
    assert GRAPH.path("root", "d") == ("root", "a", "c", "d")
    assert GRAPH.path("d", "root") == ("d", "c", "a", "root")
    assert GRAPH.path("a", "a") == ("a",)
    assert GRAPH.path("alone", "root") == GRAPH.path("root", "no such note") == ()


def test_dead_ends_hubs_and_numbers():
    """A dead end is linked to and links nowhere; a hub has most backlinks; a link of a note to itself counts nowhere."""
    assert GRAPH.dead_ends() == ["d"]
    assert [(hub.path, hub.incoming, hub.outgoing) for hub in GRAPH.hubs(2)] == [("c", 2, 1), ("b", 1, 2)]
    told = GRAPH.statistics(1)
    assert (told.notes, told.links, told.dangling, told.orphans, told.dead_ends) == (6, 6, 1, 1, 1)
    assert (told.components, told.largest_component) == (2, 5)


def test_dangling_links_name_the_nearest_note():
    """Most often said first, equal names as one and once a source, with the note whose name is nearest, or none."""
    paths = ["meeting notes.md", "b.md"]
    links = DanglingLinks({"b.md": ["Meeting-Notes", "zzz", "zzz"], "meeting notes.md": ["meeting-notes"], "c.md": []})
    found = links.first(None, paths)
    assert [(link.nearest, link.sources) for link in found] == [
        ("meeting notes.md", ("b.md", "meeting notes.md")),
        (None, ("b.md",)),
    ]
    assert links.first(1, paths) == found[:1]
    assert len(links) == 2


NAMES = st.sampled_from("abcdef")


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=4)), NAMES, st.integers(0, 6))
def test_neighbours_grow_with_hops_and_end(outgoing, root, hops):
    """One more hop finds at least as much, at the same distances, and no distance exceeds the hops."""
    graph = Graph(outgoing)
    near, far = graph.neighbours(root, hops), graph.neighbours(root, hops + 1)
    assert near.items() <= far.items()
    assert all(distance <= hops for distance in near.values())
    assert graph.reach(root).keys() <= graph.neighbours(root, len(outgoing)).keys()
    assert all(path in graph.backlinks(target) for path in graph.notes for target in graph.outgoing(path))


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=4)))
def test_a_packed_graph_is_the_same_graph(outgoing):
    """Notes, links of either direction and their orders come back from the bytes."""
    graph = Graph(outgoing)
    again = Graph.unpacked(graph.packed())
    assert list(again.notes) == list(graph.notes)
    assert [again.outgoing(path) for path in outgoing] == [graph.outgoing(path) for path in outgoing]
    assert [again.backlinks(path) for path in outgoing] == [graph.backlinks(path) for path in outgoing]
    assert again.statistics() == graph.statistics()

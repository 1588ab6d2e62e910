"""The graph of notes."""

from hypothesis import given
from hypothesis import strategies as st

from infold.vault.graph import Graph

GRAPH = Graph(
    {"root": ["a", "b", "a", "gone"], "a": ["c"], "b": ["c", "root"], "c": ["d", "c"], "d": [], "alone": ["alone"]},
    {"a": ["x", "x"], "b": []},
)


def test_links_count_once_and_only_between_notes():
    """Repeated links are one, and a target that is no note is none."""
    assert GRAPH.outgoing("root") == ("a", "b")
    assert GRAPH.backlinks("c") == ("a", "b", "c")
    assert GRAPH.backlinks("gone") == GRAPH.outgoing("gone") == ()


def test_reach_tells_the_distance():
    """Every note within so many hops of the root, the root at 0; without a limit all that links lead to."""
    assert GRAPH.reach("root", 1) == {"root": 0, "a": 1, "b": 1}
    assert GRAPH.reach("root") == {"root": 0, "a": 1, "b": 1, "c": 2, "d": 3}
    assert GRAPH.reach("root", 0) == {"root": 0}
    assert GRAPH.reach("no such note") == {}


def test_orphans_have_no_neighbour():
    """A note is an orphan when no link joins it to another note; the root never is."""
    assert GRAPH.orphans() == ["alone"]
    assert Graph({"root": [], "b": []}).orphans("root") == ["b"]


def test_dangling_links_are_told_by_source():
    """What leads nowhere, each once, and no note without any."""
    assert GRAPH.dangling == {"a": ("x",)}


NAMES = st.sampled_from("abcdef")


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=4)), NAMES, st.integers(0, 6))
def test_reach_grows_with_hops_and_ends(outgoing, root, hops):
    """One more hop reaches at least as much, at the same distances, and no distance exceeds the hops."""
    graph = Graph(outgoing)
    near, far = graph.reach(root, hops), graph.reach(root, hops + 1)
    assert near.items() <= far.items()
    assert all(distance <= hops for distance in near.values())
    assert far.items() <= graph.reach(root).items()
    assert all(path in graph.backlinks(target) for path in graph.notes for target in graph.outgoing(path))

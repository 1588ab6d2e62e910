"""Groups of notes that link to each other."""

from __future__ import annotations

import random

from infold.knowledge.communities import communities
from infold.knowledge.graph import Graph


def _cliques(sizes: list[int]) -> dict[str, list[str]]:
    """Groups in which each note links to all others, joined by one link from each to the next."""
    outgoing: dict[str, list[str]] = {}
    for number, size in enumerate(sizes):
        names = [f"{number}/{n}" for n in range(size)]
        outgoing |= {name: [other for other in names if other != name] for name in names}
    for number in range(len(sizes) - 1):
        outgoing[f"{number}/0"].append(f"{number + 1}/0")
    return outgoing


def test_groups_that_are_joined_by_one_link_are_told_apart():
    """Each clique is a community, largest first."""
    found = communities(Graph(_cliques([5, 8, 3])))
    assert [len(group) for group in found] == [8, 5, 3]
    assert found[0] == tuple(f"1/{n}" for n in range(8))


def test_the_order_of_notes_does_not_matter_and_orphans_are_in_none():
    """The same graph, told in another order, gives the same groups."""
    outgoing = {**_cliques([4, 4, 6]), "alone": [], "self": ["self"]}
    shuffled = list(outgoing.items())
    random.Random(3).shuffle(shuffled)
    assert communities(Graph(outgoing)) == communities(Graph(dict(shuffled)))
    assert "alone" not in {path for group in communities(Graph(outgoing)) for path in group}


def test_a_ring_of_cliques_is_found_again():
    """Modularity puts two notes of one clique together and two of distant cliques apart, also in a bigger graph."""
    found = communities(Graph(_cliques([6] * 30)))
    of = {path: number for number, group in enumerate(found) for path in group}
    assert all(of[f"{clique}/0"] == of[f"{clique}/{n}"] for clique in range(30) for n in range(6))
    assert of["0/0"] != of["15/0"]

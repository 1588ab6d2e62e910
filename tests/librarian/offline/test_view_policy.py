"""Exploration by evidence: hubs are looked through, limits are kept, what is best is checked out."""

from __future__ import annotations

from infold.librarian.answers import Chunk, LookRequest, NoteCard, Paragraph
from infold.librarian.offline.view_policy import look

LINKS = {"index.md": ["hub.md", "other.md"], "hub.md": ["home.md"], "other.md": [], "home.md": []}


def backlinks(path: str) -> list[str]:
    """Who links to `path`."""
    return [source for source, targets in LINKS.items() if path in targets]


def request(
    viewed: list[str], available: list[str], *, may_view: int = 4, rounds_left: int = 2, most: int = 3
) -> LookRequest:
    """A round of exploration."""
    chunk = Chunk(1, (Paragraph(1, "one"), Paragraph(2, "two")))
    cards = {path: NoteCard(path, path) for path in (*viewed, *available)}
    return LookRequest(
        chunk,
        tuple(cards[path] for path in viewed),
        tuple(cards[path] for path in available),
        {},
        1,
        rounds_left,
        may_view,
        most,
    )


def test_a_hub_is_viewed_for_what_it_leads_to():
    """A note that is not available yet is reached through the one that links to it."""
    answer = look(request(["index.md"], ["hub.md", "other.md"]), {1: {"home.md": 0.9}}, backlinks)
    assert (answer.action, answer.files) == ("view", ["hub.md"])


def test_a_hub_is_not_viewed_when_no_round_is_left_to_go_on():
    """Without a further round what a hub links to cannot be viewed."""
    answer = look(request(["index.md"], ["hub.md"], rounds_left=0), {1: {"home.md": 0.9}}, backlinks)
    assert (answer.action, answer.files) == ("checkout", [])
    assert answer.reason


def test_the_best_viewed_notes_are_checked_out():
    """Each paragraph's best note is among them; a note that adds nothing is not."""
    homes = {1: {"hub.md": 0.8, "other.md": 0.1}, 2: {"home.md": 0.9}}
    answer = look(request(["index.md", "hub.md", "other.md", "home.md"], []), homes, backlinks)
    assert (answer.action, set(answer.files)) == ("checkout", {"hub.md", "home.md"})


def test_limits_are_kept():
    """Never more files than may be viewed or checked out."""
    homes = {n: {f"{n}.md": 0.9} for n in range(9)}
    paths = [f"{n}.md" for n in range(9)]
    assert len(look(request([], paths, may_view=4), homes, backlinks).files) == 4
    assert len(look(request(paths, [], may_view=0), homes, backlinks).files) == 3

"""Which notes to view next, and which to check out: by the homes that the evidence names for each paragraph.

The evidence knows the whole vault; what may be viewed is only what exploration has made AVAILABLE. So a note is worth
viewing for what it is itself, and for the homes that its links lead to within the rounds that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from infold.librarian.answers import NO_NOTE, Look, LookRequest

Homes = Mapping[int, Mapping[str, float]]  # paragraph to note to chance

WORTH_A_VIEW: Final = 0.02
WORTH_A_CHECKOUT: Final = 0.01
_PER_HOP: Final = 0.7
OUT_OF_REACH: Final = "no link or search hit led to the note that speaks of this text"


def look(request: LookRequest, homes: Homes, backlinks: Callable[[str], Sequence[str]], nowhere: str = NO_NOTE) -> Look:
    """The next step of an exploration. `homes` names notes and their chances; `backlinks` who links to a note.

    `nowhere` says why nothing is checked out where no paragraph has a home.
    """
    viewed = [card.path for card in request.viewed]
    available = [card.path for card in request.available]
    if request.may_view and available:
        promise = _promises(homes, viewed, available, backlinks, request.rounds_left)
        worth = [path for path, gain in promise.items() if gain >= WORTH_A_VIEW]
        best = sorted(worth, key=lambda path: (-promise[path], path))
        if best:
            return Look(action="view", files=best[: request.may_view])
    chosen = _cover(homes, viewed, request.may_check_out)
    return Look(action="checkout", files=chosen, reason="" if chosen else _why(homes, nowhere))


def _why(homes: Homes, nowhere: str) -> str:
    """Why nothing is checked out: with the best note by name, where there is one."""
    best = max((pair for chances in homes.values() for pair in chances.items()), key=lambda pair: pair[1], default=None)
    return nowhere if best is None else f"{OUT_OF_REACH} ({best[0]})"


def _promises(
    homes: Homes,
    viewed: Sequence[str],
    available: Sequence[str],
    backlinks: Callable[[str], Sequence[str]],
    rounds_left: int,
) -> dict[str, float]:
    """What viewing each note may add: for each paragraph the best home it is or leads to, above what is viewed."""
    gains: dict[str, dict[int, float]] = {}
    distances: dict[str, dict[str, int]] = {}
    for n, chances in homes.items():
        seen = max((chances.get(path, 0.0) for path in viewed), default=0.0)
        for home, chance in chances.items():
            if chance <= seen:
                continue
            if home not in distances:
                distances[home] = _ways_to(home, set(available), set(viewed), backlinks, rounds_left)
            for path, hops in distances[home].items():
                gain = chance * _PER_HOP**hops - seen
                of_path = gains.setdefault(path, {})
                of_path[n] = max(of_path.get(n, 0.0), gain)
    return {path: sum(by_paragraph.values()) for path, by_paragraph in gains.items()}


def _ways_to(
    home: str, available: set[str], viewed: set[str], backlinks: Callable[[str], Sequence[str]], rounds: int
) -> dict[str, int]:
    """The available notes that `home` is reached from, with the number of links; at most one a round that is left."""
    if home in available:
        return {home: 0}
    ways: dict[str, int] = {}
    met, edge = {home}, [home]
    for hops in range(1, rounds + 1):
        edge = [source for target in edge for source in backlinks(target) if source not in met and source not in viewed]
        met.update(edge)
        ways.update({path: hops for path in edge if path in available and path not in ways})
    return ways


def _cover(homes: Homes, viewed: Sequence[str], most: int) -> list[str]:
    """At most `most` viewed notes that between them give the paragraphs their best homes."""
    chosen: list[str] = []
    reached = dict.fromkeys(homes, 0.0)
    while len(chosen) < most:
        gains = {
            path: sum(max(0.0, chances.get(path, 0.0) - reached[n]) for n, chances in homes.items())
            for path in viewed
            if path not in chosen
        }
        best = max(gains, key=lambda path: gains[path], default=None)
        if best is None or gains[best] < WORTH_A_CHECKOUT:
            break
        chosen.append(best)
        reached = {n: max(reached[n], chances.get(best, 0.0)) for n, chances in homes.items()}
    return chosen

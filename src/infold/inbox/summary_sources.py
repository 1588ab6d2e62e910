"""The notes as the summariser needs them, and the order in which it takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from infold.catalogue.kinds import inbox_of, kind_of
from infold.vault.front_matter import without_front_matter

if TYPE_CHECKING:
    from infold.catalogue.records import ListedNote
    from infold.catalogue.store import Catalogue


class SummarySource(NamedTuple):
    """A note as the summariser needs it. `read` gives its text without front matter, only when it is needed."""

    path: str
    title: str
    content_hash: str
    words: int
    is_index: bool
    links: tuple[str, ...]
    read: Callable[[], str]


def notes_to_summarise(catalogue: Catalogue) -> list[ListedNote]:
    """The notes, the inbox aside."""
    inbox = inbox_of(catalogue.params)
    return [note for note in catalogue.listed() if note.path != inbox]


def sources_of(catalogue: Catalogue, notes: Sequence[ListedNote]) -> list[SummarySource]:
    """These notes; each is read when its text is asked for."""
    kind, links = kind_of(catalogue.params, catalogue.vault), catalogue.outgoing()
    return [
        SummarySource(
            *(note.path, note.title, note.sha256, note.words, kind(note.path) == "index", links.get(note.path, ())),
            partial(_body, catalogue, note.path),
        )
        for note in notes
    ]


def _body(catalogue: Catalogue, path: str) -> str:
    return without_front_matter(catalogue.text(path))


def in_order(sources: Sequence[SummarySource]) -> list[list[SummarySource]]:
    """The notes in the order that their summaries are made: index notes come after what they link to."""
    plain = [source for source in sources if not source.is_index]
    return [plain, *_ranks([source for source in sources if source.is_index])]


def _ranks(index_notes: Sequence[SummarySource]) -> list[list[SummarySource]]:
    """Index notes in ranks: each links only to index notes of ranks before its own; a link back into a circle apart.

    Notes of one rank can be summarised side by side. Without recursion: a chain of ten thousand index notes must not
    reach the interpreter's limit.
    """
    by_path = {source.path: source for source in index_notes}
    rank: dict[str, int] = {}
    entered: set[str] = set()
    for first in by_path:
        stack = [first]
        while stack:
            path = stack[-1]
            ahead = [link for link in by_path[path].links if link in by_path and link not in entered]
            entered.add(path)
            if ahead and path not in rank:
                stack.append(ahead[0])
                continue
            stack.pop()
            if path not in rank:
                rank[path] = 1 + max((rank[link] for link in by_path[path].links if link in rank), default=-1)
    ranks: list[list[SummarySource]] = [[] for _ in range(1 + max(rank.values(), default=-1))]
    for path, at in rank.items():
        ranks[at].append(by_path[path])
    return ranks

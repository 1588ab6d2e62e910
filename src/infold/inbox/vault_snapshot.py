"""The vault as exploration sees it: a card for every note, taken from the catalogue at one moment.

It is one moment: chunks explored side by side see the same one. It never holds full texts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from infold.catalogue.records import ListedNote
from infold.librarian.answers import NoteCard
from infold.settings import ChunkingParams
from infold.text import content_hash


class NoteCards(Mapping[str, NoteCard]):
    """The card of each note, made when it is first looked at: a run looks at some of tens of thousands."""

    def __init__(self, notes: Iterable[ListedNote], links: Mapping[str, tuple[str, ...]]) -> None:
        self._notes = {note.path: note for note in notes}
        self._links = links
        self._made: dict[str, NoteCard] = {}

    def __getitem__(self, path: str) -> NoteCard:
        """The card of the note at `path`."""
        card = self._made.get(path)
        if card is None:
            note = self._notes[path]
            card = self._made[path] = NoteCard(path, note.title, note.headings, self._links.get(path, ()))
        return card

    def __contains__(self, path: object) -> bool:
        """Whether there is such a note; its card is not made for it."""
        return path in self._notes

    def __iter__(self) -> Iterator[str]:
        """The paths, sorted."""
        return iter(self._notes)

    def __len__(self) -> int:
        """How many notes there are."""
        return len(self._notes)


@dataclass(frozen=True)
class VaultSnapshot:
    """Cards by path, the words of each note, what kind a path names, and the root (None where there is no such note).

    `summaries` by path; of notes that all have theirs they are read where somebody looks at one.
    """

    cards: Mapping[str, NoteCard]
    words: Mapping[str, int]
    kind: Callable[[str], str]
    root: str | None
    hashes: Mapping[str, str] = field(default_factory=dict)
    summaries: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever anything that exploration may show changes: part of its decision keys."""
        return content_hash(
            "\n".join(
                f"{path}\0{self.summaries.get(path, '')}\0{'|'.join(card.headings)}\0{'|'.join(card.links)}"
                for path, card in sorted(self.cards.items())
            )
            + f"\0root={self.root}"
        )

    def sample_names(self, params: ChunkingParams) -> tuple[str, ...]:
        """The names that show how fine the notes are: a seeded sample of long notes, index notes left out (spec 1)."""
        long_enough = sorted(
            path
            for path, words in self.words.items()
            if words > params.granularity_sample_min_words and self.kind(path) != "index"
        )
        size = min(params.granularity_sample_size, len(long_enough))
        return tuple(random.Random(params.seed).sample(long_enough, size))

"""How notes are read for the catalogue: the part of the settings that its workers get."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # workers do without the settings
    from infold.settings import Params


class Cutting(NamedTuple):
    """How notes are read: the most bytes of one, and how passages are cut."""

    max_bytes: int
    passage_tokens: int
    overlap_tokens: int
    max_passages: int


def cutting_of(params: Params) -> Cutting:
    """How the settings say that notes are read."""
    search = params.search
    return Cutting(params.vault.max_note_bytes, search.passage_tokens, search.overlap_tokens, search.max_passages)

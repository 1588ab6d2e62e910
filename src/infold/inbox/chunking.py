"""Phase 1: numbered paragraphs become chunks of at most 600 words (spec 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from infold.errors import AnswerInvalid, AnswerRefused, AnswerTruncated
from infold.librarian.answers import Chunk, GroupRequest, Paragraph
from infold.librarian.base import Librarian
from infold.settings import ChunkingParams
from infold.text import word_count

_MOST_PARAGRAPHS: Final = 400  # of one window: grouping looks at each two of them


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks in the order of their first paragraph, and what went wrong on the way, in words."""

    chunks: tuple[Chunk, ...]
    warnings: tuple[str, ...] = ()


async def group_paragraphs(
    paragraphs: Sequence[Paragraph], sample_names: tuple[str, ...], librarian: Librarian, params: ChunkingParams
) -> Chunks:
    """Groups the paragraphs by the librarian's judgement; an inbox too long for one request is asked in windows.

    A paragraph that is too long to be one is not shown to the librarian: it is a chunk of its own, which `too_long`
    tells. A librarian that cannot give a valid grouping costs no paragraph: each then is a chunk of its own, with a
    warning.
    Raises what is no matter of judgement: EnvironmentFault, EndpointFault, CapReached.
    """
    groups: list[list[int]] = []
    warnings: list[str] = []
    groups += [[paragraph.n] for paragraph in paragraphs if too_long(paragraph, params)]
    for window in _windows([p for p in paragraphs if not too_long(p, params)], params.max_words_per_request):
        if len(window) == 1:
            groups.append([window[0].n])
            continue
        request = GroupRequest(tuple(window), sample_names, params.max_chunk_words)
        try:
            groups += (await librarian.group(request)).groups
        except (AnswerInvalid, AnswerRefused, AnswerTruncated) as error:
            groups += [[p.n] for p in window]
            warnings.append(f"Paragraphs {window[0].n} to {window[-1].n} were not grouped, each stands alone: {error}")
    known = {p.n: p for p in paragraphs}
    ordered = sorted(sorted(group) for group in groups)
    chunks = tuple(Chunk(number, tuple(known[n] for n in group)) for number, group in enumerate(ordered, start=1))
    return Chunks(chunks, tuple(warnings))


def too_long(paragraph: Paragraph, params: ChunkingParams) -> str:
    """Why a paragraph is left in the inbox unread: a page pasted without a blank line, or data; "" for all others."""
    if len(paragraph.text) <= params.max_paragraph_characters:
        return ""
    return (
        f"it has {len(paragraph.text):,} characters without a blank line, more than chunking.max_paragraph_characters "
        f"({params.max_paragraph_characters:,}): split it, or make it a note of its own"
    )


def _windows(paragraphs: Sequence[Paragraph], max_words: int) -> Iterator[list[Paragraph]]:
    window: list[Paragraph] = []
    total = 0
    for paragraph in paragraphs:
        words = word_count(paragraph.text)
        if window and (total + words > max_words or len(window) >= _MOST_PARAGRAPHS):
            yield window
            window, total = [], 0
        window.append(paragraph)
        total += words
    if window:
        yield window

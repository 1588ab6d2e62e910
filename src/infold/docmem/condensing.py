"""Summaries by the librarian: memories that have gathered are folded, and what changed below a summary is said anew.

Each summary is one transaction, after its words were had: killed anywhere, a run of memories is as before or under its
summary, and an answer that was paid for is kept with the librarian's decisions. `Docmem.unsummarise` takes one back.
What is due belongs to `summary_candidates`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from infold.docmem import marks, summarising, writing
from infold.docmem.node import SUMMARY, Context, expected_hashes
from infold.docmem.points import label_of
from infold.docmem.stale import OF_CHILDREN, OWN_WORDS, digest_of
from infold.docmem.summary_candidates import COMPRESSION, SummaryDue, new_runs, to_be_renewed
from infold.docmem.tree_builder import shortened
from infold.errors import CapReached, LibrarianFault, LockConflict, NodeNotFound, NotSummarisable
from infold.librarian.answers import SummaryRequest
from infold.text import content_hash, token_count, word_count

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.docmem.rows import Rows
    from infold.librarian.base import Librarian
    from infold.settings import Params

_CHANGED: Final = "changed meanwhile; the next time looks at it again"


@dataclass(frozen=True, slots=True)
class PlannedSummaries:
    """What would be asked for: runs of memories without a summary, and summaries to be made again."""

    due: tuple[SummaryDue, ...]

    def texts_to_read(self) -> list[int]:
        """The tokens of each text that a librarian would read."""
        return [token_count(due.text) for due in self.due]


@dataclass(slots=True)
class Condensed:
    """What was done. `left` says of what is still due why it was not done, by the first of its nodes."""

    made: list[Node] = field(default_factory=list)
    renewed: list[Node] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


def plan(memory: Docmem, params: Params, root_id: str | None = None, *, by_itself: bool = False) -> PlannedSummaries:
    """What is due in one tree, or from a node down, or in all trees; `by_itself` as in `summary_candidates`.

    Raises NodeNotFound.
    """
    with memory.store.reading() as rows:
        roots = [root_id] if root_id is not None else [root.id for root in rows.children(None)]
        return PlannedSummaries(
            tuple(
                due
                for root in roots
                for due in (
                    *to_be_renewed(rows, root),
                    *new_runs(rows, root, params, by_itself=by_itself),
                )
            )
        )


async def condense(
    memory: Docmem,
    librarian: Librarian,
    params: Params,
    root_id: str | None = None,
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
    *,
    planned: PlannedSummaries | None = None,
) -> Condensed:
    """Makes the summaries that are due, or those `planned`; twice in a row the second time makes none.

    Where one cannot be had the others go on; at the cap of costs it ends, with what is done kept. Raises NodeNotFound,
    EnvironmentFault and EndpointUnreachable.
    """
    waiting = (plan(memory, params, root_id) if planned is None else planned).due
    done = Condensed()
    side_by_side = params.integrate.concurrency
    for first in range(0, len(waiting), side_by_side):
        batch = waiting[first : first + side_by_side]
        texts = await asyncio.gather(*(_words_for(memory, librarian, params, due) for due in batch))
        for due, text in zip(batch, texts, strict=True):
            if isinstance(text, LibrarianFault):
                done.left[due.nodes[0].id] = str(text)
            else:
                _write(memory, due, text, librarian.name, done)
        progress("summaries", min(first + side_by_side, len(waiting)), len(waiting))
        if any(isinstance(text, CapReached) for text in texts):
            done.left |= {due.nodes[0].id: "the cap of costs was reached" for due in waiting[first + side_by_side :]}
            break
    return done


async def _words_for(memory: Docmem, librarian: Librarian, params: Params, due: SummaryDue) -> str | LibrarianFault:
    """The words of a summary: fewer than usual where little is left below one that is renewed."""
    low, high = params.summary.summary_target_words
    words = word_count(due.text)
    if words < COMPRESSION * low:
        low, high = max(1, words // (COMPRESSION + 1)), max(1, words // COMPRESSION)
    parent = memory.find(due.parent_id)
    title = (label_of(parent) or str(parent.context)) if parent is not None else due.parent_id
    request = SummaryRequest(f"docmem/{due.parent_id}", title, due.text, None, (low, high))
    try:
        return (await librarian.summarise(request)).summary
    except LibrarianFault as fault:
        return fault


def _write(memory: Docmem, due: SummaryDue, text: str, librarian_name: str, done: Condensed) -> None:
    if not text.strip():
        done.left[due.nodes[0].id] = "there are no words below it"
        return
    try:
        with memory.store.writing() as rows:
            if due.summary is None:
                context = Context(SUMMARY, "by", shortened(librarian_name))
                summary = summarising.summarise(rows, expected_hashes(due.nodes), text, context)
            else:
                _check_children(rows, due.summary, due.nodes)
                summary = writing.update_content(rows, due.summary.id, text, due.summary.hash)
            marks.mark(rows, summary.id, OF_CHILDREN, due.digest)
            marks.mark(rows, summary.id, OWN_WORDS, content_hash(text))
    except (LockConflict, NodeNotFound, NotSummarisable):
        done.left[due.nodes[0].id] = _CHANGED
        return
    (done.made if due.summary is None else done.renewed).append(summary)


def _check_children(rows: Rows, summary: Node, nodes: Sequence[Node]) -> None:
    """Raises NotSummarisable where the children are not those that were read."""
    if digest_of(list(rows.children(summary.id))) != digest_of(nodes):
        raise NotSummarisable(f"What stands below {summary.id!r} changed.", hint="Read it again.")

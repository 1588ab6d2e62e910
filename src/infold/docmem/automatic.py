"""Summaries that nobody asked for, as `docmem.summarise: auto` has them (spec 2, Future Requirements / Summarization).

With the offline librarian they cost nothing and are made at once, where memories are added or changed at the prompt.
With a model they are made by the flow `memory` alone, under its cap. What is left alone is said in
`summary_candidates`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.docmem.reading import ancestors
from infold.docmem.summary_candidates import SummaryDue, runs_below, to_be_renewed
from infold.errors import StoreBusy
from infold.own_loop import in_own_loop

if TYPE_CHECKING:
    from infold.docmem.condensing import Condensed
    from infold.docmem.memory import Docmem
    from infold.librarian.base import Librarian
    from infold.settings import Params

_MAY_HAVE_GATHERED: Final = """
SELECT count(*) > ?2 FROM nodes WHERE parent_id = ?1 AND NOT readonly AND context_type NOT IN ('summary', 'note')
"""


async def condense_all(memory: Docmem, librarian: Librarian, params: Params) -> Condensed:
    """What is due in all trees; nothing where `docmem.summarise` is manual. Raises as `condensing.condense` does."""
    from infold.docmem.condensing import Condensed, condense, plan

    if params.docmem.summarise == "manual":
        return Condensed()
    return await condense(memory, librarian, params, planned=plan(memory, params, by_itself=True))


def condense_at_once(memory: Docmem, params: Params, changed_id: str) -> Condensed | None:
    """What is due above a node that was added or changed, below it and among its siblings. None where nothing is.

    Nothing is with a model, or by hand, or where the node is gone. Where another process keeps writing it is left to
    the next time: what was added is there.
    """
    if params.docmem.summarise == "manual" or params.librarian.kind != "offline":
        return None
    try:
        due = _due_around(memory, params, changed_id)
        if not due:
            return None
        return _condensed_offline(memory, params, due)
    except StoreBusy:
        return None


def _condensed_offline(memory: Docmem, params: Params, due: list[SummaryDue]) -> Condensed:
    from infold.docmem.condensing import PlannedSummaries, condense
    from infold.librarian.offline import OfflineLibrarian

    async def carried_out() -> Condensed:
        librarian = OfflineLibrarian()
        try:
            return await condense(memory, librarian, params, planned=PlannedSummaries(tuple(due)))
        finally:
            await librarian.close()

    return in_own_loop(carried_out())


def _due_around(memory: Docmem, params: Params, changed_id: str) -> list[SummaryDue]:
    due: list[SummaryDue] = []
    with memory.store.reading() as rows:
        changed = rows.find(changed_id)
        if changed is None:
            return []
        for above in [summary for summary in ancestors(rows, changed_id) if summary.is_summary]:
            due.extend(found for found in to_be_renewed(rows, above.id) if found.summary == above)
        if rows.has_children(changed.id):
            from infold.docmem.condensing import plan

            due.extend(plan(memory, params, changed.id, by_itself=True).due)
        parent = rows.find(changed.parent_id) if changed.parent_id is not None else None
        if parent is not None and not parent.is_summary:
            limits = (parent.id, params.docmem.summarise_after)
            (may_have,) = rows.connection.execute(_MAY_HAVE_GATHERED, limits).fetchone()
            due.extend(runs_below(rows, parent.id, params, by_itself=True) if may_have else ())
    return due

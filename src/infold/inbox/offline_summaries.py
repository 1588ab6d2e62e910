"""Summaries as the offline librarian makes them, for whoever needs nothing else of it: it is not loaded for them."""

from __future__ import annotations

from infold.catalogue.store import Catalogue
from infold.catalogue.summaries import SummaryStore
from infold.inbox.settled_summaries import as_found, note_settled
from infold.inbox.summarising import Summaries, extract_summaries
from infold.inbox.summary_sources import notes_to_summarise, sources_of
from infold.progress import Progress
from infold.workspace import Workspace


def settle_offline(workspace: Workspace, catalogue: Catalogue, progress: Progress) -> Summaries:
    """Brings the summaries up to date, and notes where there was nothing to do. Raises StateUnwritable."""
    before = as_found(workspace, catalogue)
    done = extract_summaries(
        sources_of(catalogue, notes_to_summarise(catalogue)),
        SummaryStore(workspace.summaries),
        workspace.params.summary,
        lambda done, total: progress("summaries", done, total),
    )
    return note_settled(workspace, catalogue, before, done)

"""What folding in the inbox will cost with a model, before anything is asked of it.

Counts what there is to decide: paragraphs of the inbox, notes without a summary. What that takes in calls and tokens
belongs to `librarian.estimate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from infold.catalogue.kinds import kind_of
from infold.catalogue.store import catalogue_of
from infold.catalogue.summaries import GENERAL, NOTE, SummaryStore
from infold.catalogue.sync import sync_catalogue
from infold.inbox.paragraphs import read_paragraphs
from infold.inbox.summarising import LAST_KNOWN
from infold.librarian.estimate import Estimate, estimate
from infold.librarian.model import ModelLibrarian
from infold.librarian.prompts import DecisionKind
from infold.progress import Progress
from infold.text import content_hash
from infold.workspace import Workspace


def estimate_integration(workspace: Workspace, librarian: ModelLibrarian, progress: Progress) -> Estimate | None:
    """What the next integration takes with this model; None where the inbox holds nothing.

    The catalogue is brought up to date for it. Raises NoteUnreadable for an inbox that is no text.
    """
    params = workspace.params
    paragraphs = read_paragraphs(workspace)
    if not paragraphs:
        return None
    summariser = librarian.signature(DecisionKind.SUMMARY)
    unsummarised = list(_unsummarised(workspace, summariser, progress))
    taken = paragraphs[: params.integrate.max_paragraphs]  # how many and how long; which ones, the run decides
    return estimate(taken, unsummarised, params, librarian.spend.price)


def estimate_summaries(workspace: Workspace, librarian: ModelLibrarian, progress: Progress) -> Estimate | None:
    """What summarising the notes that have no summary yet takes; None where all have one."""
    unsummarised = list(_unsummarised(workspace, librarian.signature(DecisionKind.SUMMARY), progress))
    return estimate((), unsummarised, workspace.params, librarian.spend.price) if unsummarised else None


def _unsummarised(workspace: Workspace, summariser: str, progress: Progress) -> Iterator[int]:
    """The tokens of each note that `summariser` has not summarised; of an index note those of what it links to."""
    with closing(catalogue_of(workspace)) as catalogue:
        sync_catalogue(catalogue, progress=lambda done, total: progress("tables", done, total))
        notes, links = catalogue.notes(), catalogue.outgoing()
    known = SummaryStore(workspace.summaries).load()
    low, high = workspace.params.summary.summary_target_words
    kind_at = kind_of(workspace.params, workspace.vault)
    for note in notes:
        kind, outgoing = kind_at(note.path), links[note.path]
        is_index = kind == "index" and bool(outgoing)
        if kind == "inbox" or (note.words < low and not is_index):
            continue
        row = known.get((content_hash(note.path), NOTE, LAST_KNOWN) if is_index else (note.sha256, NOTE, GENERAL))
        if row is None or row.model != summariser:
            yield len(outgoing) * high * 2 if is_index else note.tokens

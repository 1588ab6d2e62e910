"""Whether each note has its summary, told without reading notes or summaries: by a mark in the catalogue.

The mark is of the notes, of the files the summaries lie in, and of all that a summary depends on; where any of these is
another, all summaries are looked at. Only for the offline librarian, which is known without being loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.catalogue.derived import generation_of, is_marked, put_mark
from infold.librarian.offline.version import NAME as OFFLINE
from infold.text import content_hash

if TYPE_CHECKING:
    from infold.catalogue.store import Catalogue
    from infold.inbox.steps import DirectSteps
    from infold.workspace import Workspace

_MARK: Final = "summaries are settled"


def are_settled(workspace: Workspace, catalogue: Catalogue) -> bool:
    """Whether a look at all summaries, notes and settings as they are now, found nothing to do."""
    if workspace.params.librarian.kind != "offline":
        return False
    return is_marked(catalogue, _MARK, _state(workspace))


async def settle(workspace: Workspace, catalogue: Catalogue, steps: DirectSteps) -> None:
    """Brings the summaries up to date, and notes where there was nothing to do."""
    seen = generation_of(catalogue)
    done = await steps.sync_summaries()
    if workspace.params.librarian.kind == "offline" and not done.made and not done.warnings:
        put_mark(catalogue, _MARK, _state(workspace), seen)


def _state(workspace: Workspace) -> str:
    """All that summaries depend on but the notes, and the files that they lie in."""
    params = workspace.params
    parts = sorted(
        (part.name, (stat := part.stat()).st_size, stat.st_mtime_ns)
        for part in workspace.summaries.glob("summaries-*.parquet")
    )
    return content_hash(repr((OFFLINE, params.summary.model_dump(), params.vault.inbox_file, parts)))

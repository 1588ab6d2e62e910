"""Phases 1, 3 and 4 as tasks: group, explore, edit. Each is kept by content and asked again only where that may help.

A task gives its record as JSON values, not as an object: a class that moved would come back as a bare mapping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from prefect import task
from pydantic import TypeAdapter

from infold.inbox.chunking import Chunks
from infold.inbox.exploration import Exploration
from infold.inbox.planning import Steps
from infold.inbox.vault_snapshot import VaultSnapshot
from infold.librarian.answers import Chunk, OpenNote, Paragraph
from tasks.policy import BY_CONTENT, LIBRARIAN_TAG, is_transient

Payload = dict[str, Any]
CHUNKS: Final = TypeAdapter(Chunks)
_DELAYS: Final[list[float]] = [2, 15]
_DECISION: Final[dict[str, Any]] = {
    "cache_policy": BY_CONTENT,
    "retries": len(_DELAYS),
    "retry_delay_seconds": _DELAYS,
    "retry_condition_fn": is_transient,
    "tags": [LIBRARIAN_TAG],
}


@task(name="group", task_run_name="group {count} paragraphs", **_DECISION)
async def group_paragraphs(
    key: str, count: int, paragraphs: Sequence[Paragraph], snapshot: VaultSnapshot, steps: Steps
) -> Payload:
    """The chunks of an inbox (spec 1, Phase 1)."""
    payload: Payload = CHUNKS.dump_python(await steps.group(paragraphs, snapshot), mode="json")
    return payload


@task(name="explore", task_run_name="explore chunk {number}", **_DECISION)
async def explore_chunk(key: str, number: int, chunk: Chunk, snapshot: VaultSnapshot, steps: Steps) -> Payload:
    """Which notes a chunk belongs in (spec 1, Phase 3)."""
    return (await steps.explore(chunk, snapshot)).model_dump(mode="json")


@task(name="edit", task_run_name="edit chunk {number}", **_DECISION)
async def edit_chunk(
    key: str,
    number: int,
    chunk: Chunk,
    exploration: Exploration,
    notes: tuple[OpenNote, ...],
    refused: str,
    steps: Steps,
) -> Payload:
    """The edits of a chunk in the notes that were chosen (spec 1, Phase 4)."""
    return (await steps.edit(chunk, exploration, notes, refused)).model_dump(mode="json")

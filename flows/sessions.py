"""Spec 3, Appendix C: transcripts are indexed in the background, once an hour."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.place import Settings, place_of, turn
from tasks.notebook import index_transcripts
from tasks.policy import carried_out, unseen


@flow(name="sessions", flow_run_name="sessions of {vault.name}", persist_result=False)
async def sessions(vault: Path, state: Path, params: Settings = None) -> int:
    """Brings the index up to date with the transcripts; gives the number of passages that were indexed."""
    workspace = place_of(vault, state, params)
    async with turn(workspace):
        result, _ = await carried_out(index_transcripts, unseen(workspace))
    created: int = result.chunks_created
    return created

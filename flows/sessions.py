"""Spec 3, Appendix C: transcripts are indexed in the background, once an hour."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.place import Settings, place_of
from tasks.notebook import index_transcripts
from tasks.policy import unseen


@flow(name="sessions", flow_run_name="sessions {vault.name}", persist_result=False)
def sessions(vault: Path, state: Path, params: Settings = None) -> int:
    """Brings the index up to date with the transcripts; gives the number of passages that were indexed."""
    return index_transcripts(unseen(place_of(vault, state, params))).chunks_created

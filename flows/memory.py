"""Memory trees once an hour: what changed is sent to the search index, what has gathered is summarised."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.place import Settings, place_of, turn
from infold.docmem.condensing import Condensed
from tasks.memory import condense_trees, index_trees
from tasks.policy import carried_out, unseen


@flow(name="memory", flow_run_name="memory of {vault.name}", persist_result=False, log_prints=True)
async def memory(vault: Path, state: Path, params: Settings = None) -> str:
    """Indexes and condenses all memory trees; gives what was done. Twice in a row the second time does nothing."""
    place = place_of(vault, state, params)
    if not place.docmem.exists():
        return _told("There are no memory trees.")
    async with turn(place):
        indexed, first = await carried_out(index_trees, unseen(place))
        done, second = await carried_out(condense_trees, unseen(place), wait_for=[first])
        sent, removed = indexed.chunks_created, indexed.files_removed
        if done.made or done.renewed:
            again, _ = await carried_out(index_trees, unseen(place), wait_for=[second])
            sent, removed = sent + again.chunks_created, removed + again.files_removed
    return _told(
        f"{sent} nodes sent to the index, {removed} taken away; "
        f"{len(done.made)} summaries made, {len(done.renewed)} renewed{_left(done)}."
    )


def _left(done: Condensed) -> str:
    if not done.left:
        return ""
    node_id, reason = next(iter(done.left.items()))
    return f", {len(done.left)} left to the next time, the first at {node_id}: {reason}"


def _told(message: str) -> str:
    print(message)
    return message

"""What memory trees need now and then, as tasks. Never cached by Prefect: each looks for itself at what there is."""

from __future__ import annotations

from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from infold.app import open_workspace
from infold.docmem.automatic import condense_all
from infold.docmem.condensing import Condensed
from infold.workspace import Workspace
from tasks.policy import LIBRARIAN_TAG, is_transient
from tasks.preparing import as_found


@task(name="index memory", task_run_name="index memory", cache_policy=NO_CACHE, persist_result=False, tags=["derives"])
async def index_trees(workspace: Workspace) -> Any:
    """The search index in step with the trees; where there is none it is made, with all that belongs in it.

    Gives SyncResult.
    """
    with open_workspace(workspace) as vault:
        done = vault.index_memory()
    is_changed = done.chunks_created or done.files_removed or done.embeddings_computed
    return done if is_changed else as_found(done, "All memories are in the index as they are.")


@task(
    name="condense memory",
    task_run_name="condense memory",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=2,
    retry_delay_seconds=[10, 60],
    retry_condition_fn=is_transient,
    tags=["derives", LIBRARIAN_TAG],
)
async def condense_trees(workspace: Workspace) -> Any:
    """The summaries that are due in all trees, under one cap of costs. Gives Condensed."""
    with open_workspace(workspace) as vault:
        async with vault.summariser() as librarian:
            done: Condensed = await condense_all(vault.docmem, librarian, vault.params)
    return done if done.made or done.renewed or done.left else as_found(done, "No summary is due.")

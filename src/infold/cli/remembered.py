"""Memory trees in a search of everything: the index hears of what changed in them, and hits get their texts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

from infold.errors import VaultBusy

if TYPE_CHECKING:
    from infold.search.embed.embedder import Embedder
    from infold.search.query.excerpts import Texts
    from infold.workspace import Workspace


def memory_texts(
    workspace: Workspace, embedder: Embedder | None, stack: ExitStack, *, sync: bool | None = None
) -> Mapping[str, Texts]:
    """The texts of memory nodes by source, where there are trees; open until `stack` ends.

    Called once the index is there. What changed in the trees is sent first: words now, meaning later. `sync` overrides
    `search.sync_on_search`.
    """
    if not workspace.docmem.exists():
        return {}
    from infold.docmem.indexing import index_memory
    from infold.docmem.memory import open_docmem
    from infold.docmem.points import MemoryTexts
    from infold.search.index.contract import Source

    memory = stack.enter_context(closing(open_docmem(workspace.docmem)))
    if workspace.params.search.sync_on_search if sync is None else sync:
        with suppress(VaultBusy):  # the next search sends what waits
            index_memory(memory, workspace, embedder, vectors=False, wait_seconds=0)
    return {Source.MEMORY: MemoryTexts(memory)}

"""What an opened vault does with its memory trees beyond the trees themselves: search them, let the librarian at them.

`VaultParts.docmem` has every operation on trees; here they meet the search index and the librarian.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from infold import lazy
from infold.errors import VaultBusy
from infold.own_loop import in_own_loop
from infold.text import token_count
from infold.vault_steps import VaultSteps

if TYPE_CHECKING:
    from infold.docmem.classifying import Proposal
    from infold.docmem.condensing import Condensed, PlannedSummaries
    from infold.docmem.import_routing import Document
    from infold.docmem.node import Node
    from infold.docmem.recalling import Recall
    from infold.librarian.estimate import Estimate
    from infold.librarian.spend import Usage
    from infold.search.index.sync_stats import SyncResult
    from infold.vault.portions import Portion
    from infold.workspace import Workspace

_MOST_AT_ONCE: Final = 2_000  # nodes that a search embeds while it is waited for; more wait for the next sync
_PLACE_ANSWER_TOKENS: Final = (20, 200)


class VaultMemory(VaultSteps):
    """A vault whose memory trees can be searched, condensed and filed into."""

    def recall(self, query: str, *, within: str | None = None, limit: int = 10) -> tuple[Recall, tuple[str, ...]]:
        """What memory says about `query`, in all trees or from the node `within` down; and what to know about that.

        What changed in the trees is indexed first. Raises NodeNotFound and IndexFault.
        """
        notices = self.memory_indexed()
        return lazy.docmem.recalling.recall(self.docmem, self.searcher, query, within=within, limit=limit), notices

    def memory_relevance(self, query: str, *, within: str | None = None) -> Mapping[str, float]:
        """How well nodes answer `query`, by id. Raises NodeNotFound and IndexFault."""
        self.memory_indexed()
        return lazy.docmem.recalling.relevance(self.docmem, self.searcher, query, within=within)

    def tagged(self, tag: str, *, limit: int = 20) -> Sequence[Node]:
        """The nodes that carry `@tag` in their text, and those that are named so."""
        self.memory_indexed()
        return lazy.docmem.recalling.tagged(self.docmem, self.searcher, tag.lstrip("@").casefold(), limit=limit)

    def memory_portion(self, name: str) -> Portion | None:
        """Lines of the document of a memory tree, or of a node and what is below it; None for what names none.

        By the paths that search shows: memory/TREE, memory/TREE/NODE, with lines behind a colon.
        """
        path, _, where = name.partition(":")
        if not path.startswith(lazy.docmem.points.PREFIX) or not self.workspace.docmem.exists():
            return None
        node = self.docmem.find(path.rpartition("/")[2])
        if node is None:
            return None
        texts = (node.text.strip(), self.docmem.serialise(node.id))
        return lazy.vault.portions.portion_of(path, "\n\n".join(text for text in texts if text), where)

    def index_memory(self) -> SyncResult:
        """Sends what changed in the trees to the index, which is made where there is none; vectors too."""
        self._index_made(vectors=True)
        return lazy.docmem.feed.index_memory(self.docmem, self.workspace, self.embedder, self.progress)

    def summarise_due(self, node_id: str) -> Condensed:
        """Makes the summaries that are due where a node was added or changed, as `docmem.summarise` has it."""
        return (
            lazy.docmem.automatic.condense_at_once(self.docmem, self.params, node_id)
            or lazy.docmem.condensing.Condensed()
        )

    def plan_condensing(self, root: str | None = None) -> PlannedSummaries:
        """Which summaries are due in all trees, or from a node down. Raises NodeNotFound."""
        return lazy.docmem.condensing.plan(self.docmem, self.params, root)

    def estimate_condensing(self, planned: PlannedSummaries) -> Estimate | None:
        """What a model takes for the summaries that are due; None where none is. Raises KeyMissing, SettingInvalid."""
        price = self.model_librarian().spend.price
        return (
            lazy.librarian.estimate.estimate((), planned.texts_to_read(), self.params, price) if planned.due else None
        )

    def condense(self, root: str | None = None, workspace: Workspace | None = None) -> tuple[Condensed, Usage]:
        """Lets the librarian write the summaries that are due; and what that cost."""
        return in_own_loop(self._condense(root, workspace))

    def propose_place(self, document: Document, workspace: Workspace | None = None) -> Proposal:
        """The tree, and the part of it, that a document belongs to, by the librarian. Raises LibrarianFault."""
        self.memory_indexed()
        return in_own_loop(self._propose(document, workspace))

    def estimate_placing(self, document: Document) -> Estimate:
        """What a model takes to say where a document belongs: one answer, or that and its corrections."""
        self.memory_indexed()
        asked = lazy.librarian.trees.home_messages(
            lazy.docmem.classifying.request_for(self.docmem, self.searcher, document.name, document.text)
        )
        prompt = sum(token_count(str(message["content"])) for message in asked)
        answer = _PLACE_ANSWER_TOKENS
        most = 1 + self.params.editing.max_corrections
        price = self.model_librarian().spend.price
        usd = (price(prompt, 0, answer[0]), most * price(prompt, 0, answer[1])) if price else None
        return lazy.librarian.estimate.Estimate(
            calls=(1, most),
            prompt_tokens=(prompt, most * prompt),
            completion_tokens=(answer[0], most * answer[1]),
            usd=usd,
        )

    async def _condense(self, root: str | None, workspace: Workspace | None) -> tuple[Condensed, Usage]:
        async with self.steps(workspace) as steps:
            done = await lazy.docmem.condensing.condense(self.docmem, steps.librarian, self.params, root, self.progress)
            return done, steps.usage

    async def _propose(self, document: Document, workspace: Workspace | None) -> Proposal:
        async with self.steps(workspace) as steps:
            return await lazy.docmem.classifying.propose(
                self.docmem, steps.librarian, self.searcher, document.name, document.text
            )

    def memory_indexed(self) -> tuple[str, ...]:
        """Brings the index up to date with the trees; what a search should know where it could not be."""
        self._index_made()
        with suppress(VaultBusy):
            with self.docmem.store.reading() as rows:
                few = lazy.docmem.outbox.waiting_count(rows) <= _MOST_AT_ONCE
            space = self.workspace
            done = lazy.docmem.feed.index_memory(
                self.docmem, space, self.embedder, self.progress, vectors=few, wait_seconds=1.0
            )
            if not done.pending:
                return ()
            return (f"{done.pending} nodes are found by words only until `infold index` has run.",)
        return ("Another process is bringing the index up to date; what changed just now may be missing.",)

    def _index_made(self, *, vectors: bool = False) -> None:
        """The index, where there is none yet; the trees are not in it."""
        if lazy.search.index.generations.Generations(self.workspace.index).is_damaged:
            self.sync_index(feeds=self.file_feeds(), vectors=vectors)

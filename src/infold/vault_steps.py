"""An opened vault's librarian and the steps of its main job, for as long as a caller uses them.

Each caller gets a librarian whose meter begins at nothing; what costs time to open (embeddings, memory trees) is the
vault's, and shared.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from infold import lazy
from infold.parts import VaultParts

if TYPE_CHECKING:
    from infold.catalogue.store import Catalogue
    from infold.inbox.steps import DirectSteps, Suggest
    from infold.librarian.base import Librarian
    from infold.librarian.model import ModelLibrarian
    from infold.search.query.searcher import Searcher
    from infold.settings import LibrarianParams
    from infold.workspace import Workspace

SUMMARISER_MAX_TOKENS: Final = 40_000  # that a summariser may use, corrections included, where the settings cap nothing


class VaultSteps(VaultParts):
    """A vault that a librarian works on."""

    def model_librarian(
        self, params: LibrarianParams | None = None, *, concurrency: int | None = None
    ) -> ModelLibrarian:
        """The model of the settings, or of `params`. Opens no connection yet. Raises KeyMissing and SettingInvalid."""
        return lazy.librarian.factory.model_librarian(
            self.workspace, self.environment, params=params, concurrency=concurrency
        )

    @asynccontextmanager
    async def summariser(self) -> AsyncIterator[Librarian]:
        """The librarian of the settings, with a cap where they name none; closed at the end. Raises KeyMissing."""
        librarian: Librarian
        params = self.params.librarian
        if params.kind == "model":
            if params.max_usd is None and params.max_tokens is None:
                params = params.model_copy(update={"max_tokens": SUMMARISER_MAX_TOKENS})
            librarian = self.model_librarian(params, concurrency=1)
        else:
            librarian = lazy.librarian.offline.OfflineLibrarian()
        try:
            yield librarian
        finally:
            await librarian.close()

    @asynccontextmanager
    async def steps(self, workspace: Workspace | None = None) -> AsyncIterator[DirectSteps]:
        """The steps of the main job with the librarian of the settings; closed at the end.

        `workspace` is this one with other settings. Raises KeyMissing or SettingInvalid before anything is read.
        """
        space = workspace or self.workspace
        async with AsyncExitStack() as stack:
            catalogue = lazy.catalogue.store.catalogue_of(space)
            librarian, on_open_index = self._open_librarian(space, catalogue)
            stack.push_async_callback(librarian.close)
            steps = lazy.inbox.steps.DirectSteps(
                space,
                librarian,
                self.progress,
                embedder=self.embedder,
                on_open_index=on_open_index,
                feeds=self.feeds(),
                catalogue=catalogue,
            )
            stack.callback(steps.close)
            yield steps

    def _open_librarian(
        self, space: Workspace, catalogue: Catalogue
    ) -> tuple[Librarian, Callable[[Searcher], Suggest]]:
        """The librarian, and where its search candidates come from once the index is open.

        The offline one takes its evidence from the index and suggests by it, paragraph by paragraph. For a model one
        search a chunk has to do: weighing the evidence takes longer than a model should be kept waiting.
        """
        if space.params.librarian.kind == "model":
            return lazy.librarian.factory.model_librarian(space, self.environment), lazy.inbox.steps.by_search
        offline = lazy.librarian.offline.OfflineLibrarian()

        def take_up(searcher: Searcher) -> Suggest:
            evidence = lazy.librarian.offline.vault_scorer.scorer_of(catalogue, searcher, self.embedder)
            offline.look_into(evidence)
            return evidence.suggest

        return offline, take_up

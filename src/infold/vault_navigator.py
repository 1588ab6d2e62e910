"""What an opened vault does with the navigator: import notes at a price that is told first, move about, see themes.

`infold.navigator` has the parts; here they meet the vault's embeddings, its search and its librarian.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from infold import lazy
from infold.errors import IndexFault, SettingInvalid
from infold.own_loop import in_own_loop
from infold.parts import Part
from infold.progress import Progress, silent
from infold.search.index.contract import Filter, PointGroup
from infold.vault_memory import VaultMemory

if TYPE_CHECKING:
    from infold.environment import Environment
    from infold.librarian.estimate import Estimate
    from infold.librarian.spend import Usage
    from infold.locate import LocatedWorkspace
    from infold.navigator.importing import Importer, Refreshed, Summarised
    from infold.navigator.navigation import Navigator
    from infold.navigator.proximity import NodeVectors, VectorCache
    from infold.navigator.records import StoredNode
    from infold.navigator.store import NavigatorStore
    from infold.navigator.themes import MapPlace, Theme
    from infold.workspace import Workspace

_FRESH_SECONDS: Final = 2.0  # between two looks at the imported notes
_KEYWORD_RESULTS: Final = 30

State = Literal["not imported", "fresh", "dirty"]


class BrowsedFolder(NamedTuple):
    """A folder: its notes and their tokens by size, all below it counted, and how many of them are imported."""

    path: str
    notes: int
    tokens: int
    imported: int
    dirty: int


class BrowsedNote(NamedTuple):
    """A note, what is known of it without reading it again, and its state in the navigator."""

    path: str
    tokens: int
    state: State
    title: str = ""
    day: str | None = None
    tags: tuple[str, ...] = ()


class Imported(NamedTuple):
    """What an import did: notes, nodes, new summaries, what it cost, and why something still waits."""

    notes: int
    nodes: int
    summaries: int
    usage: Usage
    estimated_tokens: int
    warnings: tuple[str, ...] = field(default=())


class VaultNavigator(VaultMemory):
    """A vault whose notes can be imported into the navigator and walked through."""

    def __init__(
        self, located: LocatedWorkspace, progress: Progress = silent, environment: Environment | None = None
    ) -> None:
        super().__init__(located, progress, environment)
        self._navigator_store = Part(self._open_navigator_store, lambda store: store.close())
        self._node_vectors = Part(self._open_node_vectors)
        self._looked_at = float("-inf")

    def close(self) -> None:
        """Lets go of every part that was built; what needs one afterwards raises VaultClosed."""
        self._node_vectors.close()
        self._navigator_store.close()
        super().close()

    @property
    def navigator_store(self) -> NavigatorStore:
        """Imported articles, and what was chosen. Raises NavigatorDamaged."""
        return self._navigator_store.get()

    def navigator(self, caller: str = "person") -> Navigator:
        """The navigator as `caller` sees it: each has a place and a lens of its own. Changed notes are read first.

        Raises SettingInvalid where search is without embeddings.
        """
        self.refresh_nodes()
        return lazy.navigator.navigation.Navigator(
            self.navigator_store, self.navigator_vectors(), caller, keywords=self._keyword_places
        )

    def node_vectors(self) -> NodeVectors:
        """The vectors of all nodes; those that are missing are computed."""
        return self.navigator_vectors().vectors(self.progress)

    def navigator_vectors(self) -> VectorCache:
        """What compares questions with nodes."""
        return self._node_vectors.get()

    def refresh_nodes(self, *, at_once: bool = False) -> Refreshed:
        """Reads imported notes that changed, at most every few seconds unless `at_once`; costs nothing."""
        now = time.monotonic()
        if not at_once and now - self._looked_at < _FRESH_SECONDS:
            return lazy.navigator.importing.Refreshed()
        done = self.importer.refresh(progress=self.progress)
        self._looked_at = time.monotonic()
        return done

    @property
    def importer(self) -> Importer:
        """Imports notes of this vault."""
        return lazy.navigator.importing.Importer(self.workspace.vault, self.params, self.navigator_store, self.scanned)

    def browse(self, path: str = "") -> tuple[list[BrowsedFolder], list[BrowsedNote]]:
        """The folders and notes right below a folder of the vault. Raises UsageError for a folder there is not."""
        self.refresh_nodes()
        inside = path.strip().removeprefix("./").strip("/")
        inside = "" if inside == "." else inside
        notes = self.importer.notes()
        below = {name: file for name, file in notes.items() if not inside or name.startswith(f"{inside}/")}
        if inside and not below:
            self.importer.chosen([inside])  # which says what comes near, or gives the note itself
            below = {name: file for name, file in notes.items() if name.startswith(inside)}
            inside = inside.rpartition("/")[0]
        store = self.navigator_store
        stored, dirty = store.articles(), store.dirty()
        right_here = [name for name in below if "/" not in (name[len(inside) + 1 :] if inside else name)]
        with self.catalogued() as catalogue:
            facts = {note.path: (note.title, note.day, note.tags) for note in catalogue.notes(right_here)}
        folders: dict[str, list[str]] = {}
        found: list[BrowsedNote] = []
        for name, file in below.items():
            rest = name[len(inside) + 1 :] if inside else name
            folder, slash, _ = rest.partition("/")
            if slash:
                folders.setdefault(f"{inside}/{folder}".lstrip("/"), []).append(name)
                continue
            title, day, tags = facts.get(name, ("", None, ()))
            state: State = "not imported" if name not in stored else "dirty" if name in dirty else "fresh"
            found.append(BrowsedNote(name, _tokens(file.size), state, title, day, tags))
        listed = [
            BrowsedFolder(
                folder,
                len(names),
                sum(_tokens(below[name].size) for name in names),
                sum(name in stored for name in names),
                sum(name in dirty for name in names),
            )
            for folder, names in sorted(folders.items())
        ]
        return listed, found

    def estimate_import(self, paths: Sequence[str]) -> tuple[Estimate | None, Mapping[str, tuple[int, int]]]:
        """What a model takes to summarise these notes, in all and as tokens by note; None where nothing waits.

        The notes are read, and are imported only when `import_notes` is called. Raises UsageError.
        """
        chosen = self.importer.chosen(paths)
        whole, by_note = self.importer.expected_of(chosen)
        if not whole.calls:
            return None, {}
        estimate = self._expected(whole.calls, whole.prompt_tokens, whole.answer_tokens)
        return estimate, {path: each.tokens for path, each in by_note.items()}

    def import_notes(self, paths: Sequence[str], workspace: Workspace | None = None) -> Imported:
        """Imports notes and folders: reads them, and lets the librarian summarise what has no summary.

        `workspace` is this one with other caps. Stopped, it goes on where it was. Raises UsageError.
        """
        chosen = self.importer.chosen(paths)
        store = self.navigator_store
        store.choices.choose(chosen)
        seen = self.importer.refresh(chosen, self.progress)
        is_paid = self.params.librarian.kind == "model"
        estimated = sum(self.importer.expected(chosen)[0].tokens) // 2 if is_paid else 0
        done, usage = in_own_loop(self._summarise(chosen, workspace))
        if usage.tokens:
            store.choices.bill(estimated, usage.tokens)
        warnings = (*(f"{each.path}: {each.reason}" for each in seen.skipped), *done.warnings)
        return Imported(len(chosen), store.count(chosen), done.made, usage, estimated, warnings)

    def themes(self, level: int = 1, folder: str = "") -> tuple[Theme, ...]:
        """What the imported notes are about, from a few broad themes (1) to many fine ones (3)."""
        self.refresh_nodes()
        store = self.navigator_store
        found = lazy.navigator.themes.themes(store, self.node_vectors(), level, folder.strip("/"))
        return lazy.navigator.theme_names.with_names(store, found)

    def name_themes(self, level: int, folder: str, workspace: Workspace | None = None) -> tuple[int, Usage]:
        """Has the librarian name the themes that it has not named yet: how many, and what it cost."""
        found = self.themes(level, folder)
        wanted = lazy.navigator.theme_names.unnamed(self.navigator_store, found, self.params.librarian.kind)
        if not wanted:
            return 0, lazy.librarian.spend.Usage()
        return len(wanted), in_own_loop(self._named(wanted, workspace))

    def estimate_theme_names(self, level: int, folder: str) -> Estimate | None:
        """What a model takes to name the themes it has not named yet; None where it named all."""
        calls, prompt, answer = lazy.navigator.theme_names.expected_names(
            self.navigator_store, self.themes(level, folder), self.params.librarian.kind
        )
        return self._expected(calls, prompt, answer) if calls else None

    def theme_map(self, level: int = 1) -> tuple[MapPlace, ...]:
        """Where each imported note stands on a map of two dimensions, and its theme of that level."""
        self.refresh_nodes()
        return lazy.navigator.themes.places(self.navigator_store, self.node_vectors(), level)

    def summarise_nodes(
        self, nodes: Sequence[StoredNode], perspective: str = "", workspace: Workspace | None = None
    ) -> tuple[str, Usage]:
        """One summary of several nodes from a perspective, kept for the same nodes; and what it cost."""
        kept = lazy.navigator.combined_summaries.kept_together(self.navigator_store, nodes, perspective)
        if kept is not None:
            return kept, lazy.librarian.spend.Usage()
        return in_own_loop(self._together(nodes, perspective, workspace))

    def estimate_together(self, nodes: Sequence[StoredNode], perspective: str) -> Estimate | None:
        """What a model takes for one summary of these nodes; None where it is kept."""
        if lazy.navigator.combined_summaries.kept_together(self.navigator_store, nodes, perspective) is not None:
            return None
        prompt, answer = lazy.navigator.combined_summaries.expected_together(self.navigator_store, nodes, perspective)
        return self._expected(1, prompt, answer)

    def _expected(self, calls: int, prompt: int, answer: tuple[int, int]) -> Estimate:
        """So many calls, with the tokens of their questions, and of their answers from low to high."""
        price = self.model_librarian().spend.price
        usd = (price(prompt, 0, answer[0]), price(prompt, 0, answer[1])) if price else None
        return lazy.librarian.estimate.Estimate(
            calls=(calls, calls), prompt_tokens=(prompt, prompt), completion_tokens=answer, usd=usd
        )

    async def _named(self, themes: Sequence[Theme], workspace: Workspace | None) -> Usage:
        async with self.steps(workspace) as steps:
            await lazy.navigator.theme_names.name_themes(
                self.navigator_store, themes, self.params.librarian.kind, steps.librarian
            )
            return steps.usage

    async def _summarise(self, paths: Sequence[str], workspace: Workspace | None) -> tuple[Summarised, Usage]:
        async with self.steps(workspace) as steps:
            done = await self.importer.summarise(paths, steps.librarian, self.progress)
            return done, steps.usage

    async def _together(
        self, nodes: Sequence[StoredNode], perspective: str, workspace: Workspace | None
    ) -> tuple[str, Usage]:
        async with self.steps(workspace) as steps:
            return await lazy.navigator.combined_summaries.summarise_together(
                self.navigator_store, nodes, perspective, steps.librarian
            ), steps.usage

    def _keyword_places(self, query: str) -> Sequence[tuple[str, int, int, float]]:
        """Where the index finds a question, as lines of notes; nothing where there is no index."""
        where = Filter(groups=(PointGroup.NOTEBOOK, PointGroup.DAILY))
        try:
            found = self.live_search.search(query, where, _KEYWORD_RESULTS, 0.0)
        except IndexFault:
            return ()
        return [(each.path, each.start_line, each.end_line, each.score) for each in found.places]

    def _open_navigator_store(self) -> NavigatorStore:
        return lazy.navigator.store.NavigatorStore(self.workspace.navigator_nodes, self.workspace.navigator)

    def _open_node_vectors(self) -> VectorCache:
        embedder = self.embedder
        if embedder.traits.is_empty:
            raise SettingInvalid(
                "The navigator needs embeddings, and search.embedding is none.", hint="Set search.embedding to auto."
            )
        folder = self.workspace.navigator_nodes.with_name("navigator-vectors")
        return lazy.navigator.proximity.VectorCache(
            self.navigator_store, lazy.catalogue.embeddings.EmbeddingStore(self.workspace.embeddings), embedder, folder
        )


def _tokens(size_bytes: int) -> int:
    return -(-size_bytes // 4)

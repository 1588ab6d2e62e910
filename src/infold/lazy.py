"""The packages of infold for those who need little of them: a module is loaded when it is first named.

    from infold import lazy

    lazy.notebook.daily.daily_log(workspace, entry)  # loads `infold.notebook.daily`, and nothing else of it

So a process that asks one question loads what that takes. To a type checker, and to the linter that holds the direction
of imports, these are the packages themselves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import infold.catalogue.embeddings
    import infold.catalogue.store
    import infold.catalogue.sync
    import infold.docmem.automatic
    import infold.docmem.budgeted_expansion
    import infold.docmem.chats
    import infold.docmem.classifying
    import infold.docmem.condensing
    import infold.docmem.exporting
    import infold.docmem.feed
    import infold.docmem.import_routing
    import infold.docmem.importing
    import infold.docmem.maintenance
    import infold.docmem.memory
    import infold.docmem.node
    import infold.docmem.outbox
    import infold.docmem.points
    import infold.docmem.recalling
    import infold.durable.change
    import infold.durable.change_store
    import infold.durable.changes
    import infold.durable.files
    import infold.durable.records
    import infold.evaluation
    import infold.evaluation.report
    import infold.evaluation.report_text
    import infold.evaluation.retrieval.report
    import infold.evaluation.summaries
    import infold.inbox.all_changes
    import infold.inbox.cost_estimate
    import infold.inbox.integration
    import infold.inbox.offline_summaries
    import infold.inbox.replanning
    import infold.inbox.review
    import infold.inbox.run
    import infold.inbox.run_store
    import infold.inbox.runs
    import infold.inbox.settled_summaries
    import infold.inbox.steps
    import infold.knowledge
    import infold.knowledge.context_cache
    import infold.knowledge.gathering
    import infold.knowledge.lint
    import infold.knowledge.new_note
    import infold.knowledge.note_changes
    import infold.knowledge.packing
    import infold.knowledge.source_notes
    import infold.knowledge.sources.feed
    import infold.knowledge.sources.store
    import infold.knowledge.suggesting
    import infold.knowledge.vault_links
    import infold.librarian
    import infold.librarian.compressing
    import infold.librarian.estimate
    import infold.librarian.factory
    import infold.librarian.offline
    import infold.librarian.offline.vault_scorer
    import infold.librarian.spend
    import infold.librarian.trees
    import infold.navigator.combined_summaries
    import infold.navigator.importing
    import infold.navigator.lens
    import infold.navigator.navigation
    import infold.navigator.proximity
    import infold.navigator.store
    import infold.navigator.theme_names
    import infold.navigator.themes
    import infold.notebook.archive
    import infold.notebook.context
    import infold.notebook.daily
    import infold.notebook.daily_summary
    import infold.notebook.older_layout
    import infold.notebook.pages
    import infold.notebook.sessions
    import infold.search
    import infold.search.embed
    import infold.search.embed.providers
    import infold.search.follow.moments
    import infold.search.follow.while_unchanged
    import infold.search.index.feeds
    import infold.search.index.generations
    import infold.search.index.sync
    import infold.search.index_status
    import infold.search.query.fresh_search
    import infold.search.query.searcher
    import infold.vault.daily_notes
    import infold.vault.files
    import infold.vault.front_matter
    import infold.vault.ignore
    import infold.vault.portions
    import infold.vault.scanning

    catalogue = infold.catalogue
    docmem = infold.docmem
    durable = infold.durable
    evaluation = infold.evaluation
    inbox = infold.inbox
    knowledge = infold.knowledge
    librarian = infold.librarian
    navigator = infold.navigator
    notebook = infold.notebook
    search = infold.search
    vault = infold.vault

__all__ = [
    "catalogue",
    "docmem",
    "durable",
    "evaluation",
    "inbox",
    "knowledge",
    "librarian",
    "navigator",
    "notebook",
    "search",
    "vault",
]


class _Package:
    """A package whose modules, and packages within it, are attributes that are loaded when they are read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        wanted = f"{self._name}.{name}"
        try:
            module = import_module(wanted)
        except ModuleNotFoundError as missing:
            if missing.name != wanted:
                raise
            return getattr(import_module(self._name), name)  # what the package itself declares
        found = _Package(wanted) if hasattr(module, "__path__") else module
        setattr(self, name, found)  # the next time it is simply there
        return found


if not TYPE_CHECKING:
    globals().update({name: _Package(f"infold.{name}") for name in __all__})

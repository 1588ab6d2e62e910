"""Tree memory that serialises into documents (spec 2).

    from infold.docmem import Context, open_docmem

    with open_docmem(file) as memory:
        tree = memory.create_root("", Context("root", "purpose", "project"), root_id="garden")

`Docmem` has every operation on trees; what joins them with files, the librarian and the search index are functions that
take it. Names come from where they are declared when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infold.docmem.condensing import condense
    from infold.docmem.exporting import export_text
    from infold.docmem.feed import index_memory, memory_feed
    from infold.docmem.importing import import_file, import_note, import_text
    from infold.docmem.memory import Docmem, open_docmem
    from infold.docmem.node import Context, Node, expected_hashes
    from infold.docmem.place import Place, after, before, child_of
    from infold.docmem.recalling import recall, relevance
    from infold.docmem.writing import NewNode

_HOMES = {
    "condensing": ("condense",),
    "exporting": ("export_text",),
    "importing": ("import_file", "import_note", "import_text"),
    "feed": ("index_memory", "memory_feed"),
    "memory": ("Docmem", "open_docmem"),
    "node": ("Context", "Node", "expected_hashes"),
    "place": ("Place", "after", "before", "child_of"),
    "recalling": ("recall", "relevance"),
    "writing": ("NewNode",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - by what they are for
    "Docmem", "open_docmem", "Context", "Node", "NewNode", "expected_hashes", "Place", "after", "before", "child_of",
    "import_file", "import_note", "import_text", "export_text", "condense", "index_memory", "memory_feed", "recall",
    "relevance",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        return getattr(import_module(f"infold.docmem.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

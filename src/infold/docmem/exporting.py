"""Trees written out: as the document they read as, as TOML that makes an equal tree, as a line of JSON a node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, get_args

from infold.docmem import marks
from infold.docmem.chats import VIEW_MARKS
from infold.docmem.history import Version, versions
from infold.docmem.lookup import Lookup
from infold.docmem.memory import Docmem
from infold.docmem.node import Node
from infold.docmem.reading import serialise
from infold.docmem.toml_trees import written_toml

ExportForm = Literal["markdown", "toml", "jsonl"]
FORMS: Final[tuple[ExportForm, ...]] = get_args(ExportForm)
_FORM_OF_SUFFIX: Final[dict[str, ExportForm]] = {".toml": "toml", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def form_of(name: str) -> ExportForm:
    """What a file of that name is written as: TOML, JSON lines, else Markdown."""
    return _FORM_OF_SUFFIX.get(Path(name).suffix.casefold(), "markdown")


def export_text(memory: Docmem, node_id: str, form: ExportForm) -> str:
    """A node and what is below it in one of three forms. Raises NodeNotFound.

    - markdown: the document (spec 2, Serialization): what is below the node, its own text not included;
    - toml: the node and all below it, so that `importing` makes an equal tree of it;
    - jsonl: the same, a node a line with the properties of the specification, its depth and its marks.
    """
    with memory.store.reading() as rows:
        rows.get(node_id)
        if form == "markdown":
            document = serialise(rows, node_id)
            return f"{document}\n" if document else ""
        lines = written_toml(_with_marks(rows, node_id)) if form == "toml" else _json_lines(rows, node_id)
        return "\n".join(lines) + "\n"


def _with_marks(rows: Lookup, node_id: str) -> Iterator[tuple[Node, dict[str, str], list[Version]]]:
    for node, _ in rows.tree(node_id):
        flags = {name: value for name, value in marks.marks_of(rows, node.id).items() if name not in VIEW_MARKS}
        yield node, flags, versions(rows, node.id)


def _json_lines(rows: Lookup, node_id: str) -> Iterator[str]:
    for node, depth in rows.tree(node_id):
        values = {**node.as_dict(), "depth": depth, "marks": marks.marks_of(rows, node.id)}
        yield json.dumps(values, ensure_ascii=False)

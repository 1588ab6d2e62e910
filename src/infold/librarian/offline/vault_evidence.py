"""The evidence of a vault that was made ready: its tables, its notes on disk, its search index."""

from __future__ import annotations

from infold.catalogue.links import load_links
from infold.catalogue.notes import load_notes
from infold.errors import NoteUnreadable, PathRefused
from infold.librarian.offline.evidence import Evidence, Search
from infold.librarian.offline.names import names_of
from infold.search.embed.embedder import Embedder
from infold.vault.files import decode, read_bytes
from infold.vault.note import parse
from infold.vault.records import Note
from infold.workspace import Workspace


def evidence_of(workspace: Workspace, search: Search, embedder: Embedder | None) -> Evidence:
    """The evidence of the vault as its tables and its index have it. Make it anew after a sync."""
    limit = workspace.params.vault.max_note_bytes

    def read(path: str) -> Note | None:
        try:
            return parse(path, decode(read_bytes(workspace.vault, path, limit), path))
        except (NoteUnreadable, PathRefused):
            return None

    rows = load_notes(workspace.tables).select("path", "kind", "outgoing", "title", "aliases").rows()
    links = {path: tuple(outgoing) for path, kind, outgoing, *_ in rows if kind != "inbox"}
    titles = [(path, title, aliases) for path, _, _, title, aliases in rows if path in links]
    return Evidence(read, search, embedder, links, names_of(titles, _shown(workspace)))


def _shown(workspace: Workspace) -> list[tuple[str, str]]:
    """Each note that a link leads to, as a whole, with what the link shows."""
    columns = ("target", "alias", "anchor", "is_embed")
    rows = load_links(workspace.tables).select(columns).iter_rows()
    return [
        (target, alias) for target, alias, anchor, is_embed in rows if target and alias and not (anchor or is_embed)
    ]

"""The links of a vault as its catalogue has them: what the graph, a move and a new note are made from.

Reads the catalogue, which whoever asks has brought up to date. No note is parsed here, and no table is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import starmap
from typing import Final
from urllib.parse import unquote

from infold.catalogue.derived import kept
from infold.catalogue.links import all_names, dangling_links, links_of, links_to
from infold.catalogue.store import Catalogue
from infold.errors import NoteUnreadable, PathRefused
from infold.knowledge.communities import communities
from infold.knowledge.dangling import DanglingLinks
from infold.knowledge.graph import Graph, GraphStatistics
from infold.knowledge.moves import LinkName
from infold.vault.links import LinkResolver, alias_table
from infold.vault.names import folded, without_suffix

_CONTEXT: Final = 300  # characters around a link


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link to a note: where it stands, and what that line says."""

    path: str
    line: int
    context: str


@dataclass(frozen=True, slots=True)
class ForwardLink:
    """A link of a note: the note it leads to, None where it leads nowhere, and what it says."""

    target: str | None
    name: str
    line: int


def graph_of(catalogue: Catalogue) -> Graph:
    """The graph of all notes, in the order of their paths. Kept with the catalogue until a note changes."""
    return Graph.unpacked(kept(catalogue, "graph", lambda: Graph(catalogue.outgoing()).packed()))


def dangling_of(catalogue: Catalogue) -> DanglingLinks:
    """The links that should lead to a note and lead to none."""
    by_source: dict[str, list[str]] = {}
    for path, link in dangling_links(catalogue):
        by_source.setdefault(path, []).append(link.name)
    return DanglingLinks(by_source)


def statistics_of(catalogue: Catalogue) -> GraphStatistics:
    """The graph in numbers. Kept as the graph is."""

    def make() -> bytes:
        dangling = len({(path, link.name) for path, link in dangling_links(catalogue)})
        return json.dumps(asdict(graph_of(catalogue).statistics(dangling))).encode()

    return GraphStatistics(**json.loads(kept(catalogue, "statistics", make)))


def communities_of(catalogue: Catalogue) -> list[tuple[str, ...]]:
    """Groups of notes that link to each other more than to the rest. Kept as the graph is."""
    found = kept(catalogue, "communities", lambda: json.dumps(communities(graph_of(catalogue))).encode())
    return [tuple(group) for group in json.loads(found)]


def backlinks_of(catalogue: Catalogue, path: str) -> list[Backlink]:
    """The links of other notes to `path`, each with its line. Of notes that cannot be read now the line is empty."""
    return [
        Backlink(source, link.line, _context(catalogue, source, link.start, link.end))
        for source, link in links_to(catalogue, path)
        if source != path
    ]


def forward_links_of(catalogue: Catalogue, path: str) -> list[ForwardLink]:
    """The links of `path` in order, those to files that are no notes left out."""
    return [
        ForwardLink(target, link.name, link.line)
        for link, target in links_of(catalogue, path)
        if target is not None or not link.is_attachment
    ]


def link_names(catalogue: Catalogue) -> list[LinkName]:
    """Every link of the vault, as far as it decides where it leads."""
    return list(starmap(LinkName, all_names(catalogue)))


def aliases_of(catalogue: Catalogue) -> dict[str, Sequence[str]]:
    """All notes, with their aliases."""
    known = catalogue.aliases()
    return {path: known.get(path, ()) for path in catalogue.paths()}


def named_note(catalogue: Catalogue, name: str) -> str | None:
    """The note that a link [[name]] from the root of the vault leads to.

    As a resolver of all notes would say, which it is not made for: only notes of that name can be meant.
    """
    forms = {folded(form.strip()) for form in (name, unquote(name))}
    ends = {end for form in forms for part in form.split("/") for end in (part, without_suffix(part))}
    paths = [path for path in catalogue.paths() if without_suffix(folded(path.rpartition("/")[2])) in ends]
    aliases = [
        (path, [alias for alias in known if folded(alias.strip()) in forms])
        for path, known in catalogue.aliases().items()
    ]
    return LinkResolver(paths, alias_table(aliases)).resolve(name, "") if name else None


def resolver_of(notes: dict[str, Sequence[str]]) -> LinkResolver:
    """What links lead to, among these notes with their aliases."""
    return LinkResolver(notes, alias_table(notes.items()))


def _context(catalogue: Catalogue, path: str, start: int, end: int) -> str:
    try:
        text = catalogue.text(path)
    except (NoteUnreadable, PathRefused):
        return ""
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    last = min((at for at in (text.find("\n", end), text.find("\r", end)) if at >= 0), default=len(text))
    line = text[first:last].strip()
    if len(line) <= _CONTEXT:
        return line
    begin = max(0, start - first - _CONTEXT // 2)
    return f"…{line[begin : begin + _CONTEXT].strip()}…"

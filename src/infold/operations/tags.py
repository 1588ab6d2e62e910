"""The tags of the notes."""

from __future__ import annotations

from collections import defaultdict

from pydantic import Field

from infold.app import OpenVault
from infold.errors import StateUnwritable, VaultNotFound
from infold.operations.contract import Effect, Group, Message
from infold.operations.table import operation


class KnowledgeTagsRequest(Message):
    """Which tags."""

    tag: str = ""
    """Only this one and those below it, with their notes; every tag without one."""
    limit: int = Field(default=200, ge=1)
    """At most so many tags, and notes of each."""


class TagFacts(Message):
    """A tag, and the notes that have it."""

    tag: str
    count: int
    """How many notes have it."""
    notes: tuple[str, ...] = ()
    """Their paths, where one tag was asked for."""


class KnowledgeTagsAnswer(Message):
    """The tags, those of most notes first."""

    total: int
    """How many there are, shown or not."""
    tags: tuple[TagFacts, ...]


@operation(Group.KNOWLEDGE, Effect.READS, errors=(VaultNotFound, StateUnwritable))
def knowledge_tags(vault: OpenVault, request: KnowledgeTagsRequest) -> KnowledgeTagsAnswer:
    """List the tags of the notes, of front matter and text, with how many notes have each; or the notes of one tag.

    Case aside a tag is one; it is shown as it is written first.
    """
    wanted = request.tag.lstrip("#").rstrip("/").casefold()
    with vault.catalogued() as catalogue:
        known = catalogue.notes()
    shown: dict[str, str] = {}
    notes: defaultdict[str, list[str]] = defaultdict(list)
    for note in known:
        for tag in dict.fromkeys(each.casefold() for each in note.tags):
            notes[tag].append(note.path)
        for each in note.tags:
            shown.setdefault(each.casefold(), each)
    found = [tag for tag in notes if not wanted or tag == wanted or tag.startswith(f"{wanted}/")]
    found.sort(key=lambda tag: (-len(notes[tag]), tag))
    return KnowledgeTagsAnswer(
        total=len(found),
        tags=tuple(
            TagFacts(tag=shown[tag], count=len(notes[tag]), notes=tuple(notes[tag][: request.limit] if wanted else ()))
            for tag in found[: request.limit]
        ),
    )

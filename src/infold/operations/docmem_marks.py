"""Memory trees flagged: what comes first in an expansion, what sticks together, or what a caller likes."""

from __future__ import annotations

from infold.app import OpenVault
from infold.errors import TextNotStorable
from infold.operations.contract import Effect, Group, Message
from infold.operations.docmem import READ_ERRORS, DocmemNodeRequest
from infold.operations.table import operation


class DocmemMarkRequest(DocmemNodeRequest):
    """A flag."""

    name: str
    """priority (a number, higher comes first in an expansion), sticky (the name of a group), or one of your own."""
    value: str = "1"
    """Its value."""


class DocmemMarksAnswer(Message):
    """The flags of a node."""

    node: str
    marks: dict[str, str]


@operation(Group.DOCMEM, Effect.WRITES, errors=(TextNotStorable, *READ_ERRORS))
def docmem_mark(vault: OpenVault, request: DocmemMarkRequest) -> DocmemMarksAnswer:
    """Flag a node: what comes first in an expansion, what sticks together, or what you like."""
    vault.docmem.mark(request.node, request.name, request.value)
    return DocmemMarksAnswer(node=request.node, marks=vault.docmem.marks_of(request.node))


class DocmemUnmarkRequest(DocmemNodeRequest):
    """Which flag."""

    name: str
    """The flag; one that is not there is fine."""


@operation(Group.DOCMEM, Effect.WRITES, errors=READ_ERRORS)
def docmem_unmark(vault: OpenVault, request: DocmemUnmarkRequest) -> DocmemMarksAnswer:
    """Take a flag away from a node."""
    vault.docmem.unmark(request.node, request.name)
    return DocmemMarksAnswer(node=request.node, marks=vault.docmem.marks_of(request.node))

"""Memory trees and what is around them: documents and the inbox, the librarian's summaries, backups."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import Field

from infold.app import OpenVault
from infold.docmem import exporting, importing, maintenance
from infold.docmem.chats import import_session, import_transcript
from infold.docmem.place import Place, Side
from infold.docmem.to_inbox import send_to_inbox
from infold.errors import (
    EnvironmentFault,
    ImportRefused,
    LibrarianFault,
    NodeExists,
    NodeIdInvalid,
    NoParent,
    NoteChanged,
    NoteUnreadable,
    PathRefused,
    StateUnwritable,
    UsageError,
    VaultBusy,
)
from infold.librarian.estimate import Estimate
from infold.librarian.spend import Usage
from infold.operations.contract import Effect, Face, Group, Message, Nothing
from infold.operations.docmem import READ_ERRORS, STORE_ERRORS, DocmemNodeRequest, MemoryNode, node_of
from infold.operations.docmem_writing import MadeSummary, summarised
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation

OF_THIS_MACHINE: Final = "the files are of the machine that infold runs on; over a wire, give the text itself"
_NO_FILES: Final = dict.fromkeys((Face.MCP, Face.HTTP, Face.AGENT), OF_THIS_MACHINE)
_IMPORT_ERRORS: Final = (ImportRefused, NodeExists, NodeIdInvalid, NoParent, PathRefused, UsageError, *READ_ERRORS)


class ImportPlace(Message):
    """Where what is imported goes: a tree of its own, or a part of one."""

    root: str | None = None
    """The id of the new root, where it becomes a tree; else eight random characters."""
    side: Side = "child"
    """child: as the last child of the target; before or after: as its sibling."""
    target: str | None = None
    """The id of the node that the place is told by; without one it becomes a tree."""

    @property
    def place(self) -> Place | None:
        """The place; None for a tree of its own. Raises UsageError where both are named."""
        if self.target is not None and self.root is not None:
            raise UsageError("A name is for a tree of its own.", hint="Leave it out, or leave out the place.")
        return None if self.target is None else Place(self.side, self.target)


class DocmemImportAnswer(Message):
    """What was done. `new`: a tree or part was made; else the document was there, and followed where it had changed."""

    node: MemoryNode
    new: bool
    nodes: int
    """How many nodes were made."""
    removed: int
    """How many went, because the document no longer says them; they can be restored."""
    kept: int
    """How many stayed as they were."""
    summaries: tuple[MadeSummary, ...] = ()


class DocmemImportRequest(ImportPlace):
    """A document."""

    source: str
    """A file, or a note of the vault by its path there."""
    form: importing.ImportForm | None = None
    """markdown, text, toml or transcript; else by the file's name."""
    again: bool = False
    """Also where it was imported from there before: a second tree of it."""


@operation(Group.DOCMEM, Effect.WRITES, takes_long=True, errors=_IMPORT_ERRORS, not_in=_NO_FILES)
def docmem_import(vault: OpenVault, request: DocmemImportRequest) -> DocmemImportAnswer:
    """Read a document into a tree. One that was imported before and changed is brought up to date: equal texts stay.

    Markdown by headings, lists and sentences, text by paragraphs and sentences, TOML as it was exported, a transcript
    by its turns. All nodes are readonly, but those of TOML. All of it, or nothing.
    """
    note = importing.note_named(vault.workspace, request.source)
    how = {"root_id": request.root, "again": request.again}
    if note is not None and request.form in (None, "markdown"):
        done = importing.import_note(vault.docmem, vault.workspace, note, request.place, **how)  # type: ignore[arg-type]
    elif Path(request.source).exists():
        done = importing.import_file(vault.docmem, Path(request.source), request.form, request.place, **how)  # type: ignore[arg-type]
    else:
        raise UsageError(
            f"There is no file and no note {request.source!r}.", hint="Give a path, or a note's path in the vault."
        )
    return _imported(vault, done)


class DocmemImportTextRequest(ImportPlace):
    """A text."""

    name: str
    """What it is called, as a file is: beds.md."""
    text: str
    """The text."""
    form: importing.ImportForm | None = None
    """markdown, text, toml or transcript; else by the name."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_IMPORT_ERRORS)
def docmem_import_text(vault: OpenVault, request: DocmemImportTextRequest) -> DocmemImportAnswer:
    """Read a text into a tree, as a file of that name would be. All nodes are readonly, but those of TOML."""
    done = importing.import_text(
        vault.docmem, request.text, request.name, request.form, request.place, root_id=request.root
    )
    return _imported(vault, done)


class DocmemImportSessionRequest(Message):
    """Which conversation."""

    source: str
    """A session of the notebook by its name, or the file of a transcript."""


class DocmemImportSessionAnswer(Message):
    """The tree of a conversation."""

    session: str
    added: int
    """How many of its turns are new in the tree."""
    turns: int
    malformed: tuple[int, ...]
    """Lines of the transcript that cannot be read."""
    node: MemoryNode


@operation(Group.DOCMEM, Effect.WRITES, errors=_IMPORT_ERRORS, not_in=_NO_FILES)
def docmem_import_session(vault: OpenVault, request: DocmemImportSessionRequest) -> DocmemImportSessionAnswer:
    """Read a conversation into a tree that is a view of it: imported again, it has what was said since."""
    memory, space, file = vault.docmem, vault.workspace, Path(request.source)
    is_file = file.is_file()
    tree = import_transcript(memory, space, file) if is_file else import_session(memory, space, request.source)
    return DocmemImportSessionAnswer.of(tree, node=node_of(tree.root))


class DocmemExportRequest(DocmemNodeRequest):
    """What is to be written out."""

    form: exporting.ExportForm = "markdown"
    """markdown: the document below the node; toml: the node too, to be imported again; jsonl: a line a node."""


class DocmemExportAnswer(Message):
    """A tree as a text."""

    node: str
    form: exporting.ExportForm
    text: str


@operation(Group.DOCMEM, Effect.READS, errors=READ_ERRORS)
def docmem_export(vault: OpenVault, request: DocmemExportRequest) -> DocmemExportAnswer:
    """Get a tree, or a part of one, as a document, as TOML that makes an equal tree, or as a line of JSON a node."""
    text = exporting.export_text(vault.docmem, request.node, request.form)
    return DocmemExportAnswer(node=request.node, form=request.form, text=text)


class DocmemToInboxRequest(DocmemNodeRequest):
    """What is to be sent."""

    again: bool = False
    """Also where the same texts were sent before."""


class DocmemToInboxAnswer(Message):
    """What became of it. Not sent: these texts were sent on `day` before."""

    sent: bool
    paragraphs: int
    inbox: str
    day: str
    node: MemoryNode


@operation(
    Group.DOCMEM,
    Effect.WRITES,
    errors=(ImportRefused, NoteUnreadable, NoteChanged, VaultBusy, StateUnwritable, *READ_ERRORS),
)
def docmem_to_inbox(vault: OpenVault, request: DocmemToInboxRequest) -> DocmemToInboxAnswer:
    """Send a node and what is below it to the vault's inbox, as paragraphs to be folded into notes."""
    sent = send_to_inbox(vault.docmem, vault.workspace, request.node, again=request.again)
    return DocmemToInboxAnswer.of(sent, sent=sent.is_new, node=node_of(sent.node))


class DocmemCondenseRequest(Spending):
    """Where to look, and what it may cost."""

    node: str | None = None
    """Only from this node down; else all trees."""
    dry_run: bool = False
    """Say what is due, and stop."""


class DueSummary(Message):
    """Memories that are to be summarised."""

    parent: str
    summary: str | None
    """The summary that is to be made again; null for a new one."""
    nodes: tuple[MemoryNode, ...]


class DocmemCondenseAnswer(Message):
    """What was done, or is due. With a `quote` nothing was done: it says what it would take."""

    due: tuple[DueSummary, ...] = ()
    """With `dryRun`."""
    estimate: Estimate | None = None
    """With `dryRun` and a paid model: calls, tokens and dollars."""
    made: tuple[MemoryNode, ...] = ()
    renewed: tuple[MemoryNode, ...] = ()
    left: dict[str, str] = Field(default_factory=dict)
    """Why something that is due was not done, by the first of its nodes."""
    usage: Usage = Usage()
    quote: Quote | None = None


@operation(
    Group.DOCMEM,
    Effect.SPENDS,
    takes_long=True,
    is_idempotent=False,
    errors=(EnvironmentFault, LibrarianFault, UsageError, *READ_ERRORS),
)
def docmem_condense(vault: OpenVault, request: DocmemCondenseRequest) -> DocmemCondenseAnswer:
    """Let the librarian summarise memories that have gathered, and renew summaries that are stale.

    Memories stay as they are, below their summary. Where a model would be paid, the first answer is an estimate with a
    token.
    """
    if not request.dry_run:
        quote = quote_first(vault, "docmem_condense", request, lambda: _estimate(vault, request))
        if quote is not None:
            return DocmemCondenseAnswer(quote=quote)
    return condense_memory(vault, request)


def condense_memory(vault: OpenVault, request: DocmemCondenseRequest) -> DocmemCondenseAnswer:
    """The same for who has agreed to the caps of the settings."""
    if request.dry_run:
        due = tuple(
            DueSummary(
                parent=due.parent_id,
                summary=due.summary.id if due.summary else None,
                nodes=tuple(node_of(node) for node in due.nodes),
            )
            for due in vault.plan_condensing(request.node).due
        )
        is_paid = vault.params.librarian.kind == "model"
        return DocmemCondenseAnswer(due=due, estimate=_estimate(vault, request) if is_paid else None)
    caps = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    done, usage = vault.condense(request.node, caps)
    made, renewed = (tuple(node_of(node) for node in nodes) for nodes in (done.made, done.renewed))
    return DocmemCondenseAnswer(made=made, renewed=renewed, left=done.left, usage=usage)


class DocmemCheckAnswer(Message):
    """How the store stands."""

    file: str
    problems: tuple[str, ...]
    """What is wrong, a sentence each; empty where nothing is."""
    stale: tuple[MemoryNode, ...] = ()
    """Summaries that no longer say what is below them."""
    trees: int = 0
    nodes: int = 0
    versions: int = 0
    waiting: int = 0
    """Nodes that the search index has not heard of."""
    rebalances: int = 0
    rebalanced_nodes: int = 0
    size_bytes: int = 0


@operation(Group.DOCMEM, Effect.READS, takes_long=True, errors=STORE_ERRORS)
def docmem_check(vault: OpenVault, request: Nothing) -> DocmemCheckAnswer:  # noqa: ARG001
    """Check the store of all trees: the file, the trees, every hash; and name the summaries that are stale."""
    memory = vault.docmem
    wrong = tuple(maintenance.problems(memory.store))
    if wrong:
        return DocmemCheckAnswer(file=str(memory.store.file), problems=wrong)
    stale = tuple(node_of(summary, stale=True) for summary in memory.stale_summaries())
    return DocmemCheckAnswer.of(maintenance.facts(memory.store), file=str(memory.store.file), problems=(), stale=stale)


class DocmemBackupRequest(Message):
    """Where to."""

    file: Path
    """The file of the backup; an earlier backup is written over, any other file is not."""


class DocmemBackupAnswer(Message):
    """What was written."""

    file: str


@operation(Group.DOCMEM, Effect.READS, errors=(StateUnwritable, *STORE_ERRORS), not_in=_NO_FILES)
def docmem_backup(vault: OpenVault, request: DocmemBackupRequest) -> DocmemBackupAnswer:
    """Write all trees into one file, whole or not at all, while others go on reading and writing."""
    maintenance.backup(vault.docmem.store, request.file)
    return DocmemBackupAnswer(file=str(request.file.absolute()))


def _imported(vault: OpenVault, done: importing.ImportedTree) -> DocmemImportAnswer:
    changed = done.nodes or done.removed
    return DocmemImportAnswer(
        node=node_of(done.node),
        new=done.is_new,
        nodes=done.nodes,
        removed=done.removed,
        kept=done.kept,
        summaries=summarised(vault, done.node.id) if changed else (),
    )


def _estimate(vault: OpenVault, request: DocmemCondenseRequest) -> Estimate | None:
    return vault.estimate_condensing(vault.plan_condensing(request.node))

"""The vault as a whole: how things stand, what is derived from it brought up to date, what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from infold.app import OpenVault
from infold.diagnostics.finding import Finding, Level
from infold.errors import (
    EndpointFault,
    EnvironmentFault,
    IndexFault,
    StateUnwritable,
    UsageError,
    VaultBusy,
    VaultNotFound,
)
from infold.inbox.paragraphs import read_paragraphs
from infold.librarian.spend import Usage
from infold.notebook.flush import last_flush
from infold.operations.contract import Effect, Face, Group, Message, Nothing
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation
from infold.search import index_status

_SYNC_ERRORS = (VaultNotFound, VaultBusy, StateUnwritable, IndexFault, EnvironmentFault, EndpointFault)


class FileCount(Message):
    """How many files the index holds."""

    total: int
    stale: int
    """Changed since, or gone."""


class ChunkCount(Message):
    """How many passages the index holds."""

    total: int
    with_embeddings: int
    cached_embeddings: int


class IndexStatusAnswer(Message):
    """Health and numbers of the index (spec 3, section 10)."""

    indexed: bool
    last_sync: str | None
    last_sync_duration: int | None
    """Milliseconds."""
    files: FileCount
    chunks: ChunkCount
    embedding_model: str | None
    db_size_bytes: int
    watcher_active: bool
    served_by: int | None
    """The process that answers searches from an open index, if one does."""


@operation(Group.VAULT, Effect.READS, errors=(VaultNotFound,), not_in={Face.CLI: "`infold status` shows it"})
def index_status_get(vault: OpenVault, request: Nothing) -> IndexStatusAnswer:  # noqa: ARG001
    """Get the health and the numbers of the search index."""
    return IndexStatusAnswer.from_json(index_status.status(vault.workspace, vault.scanned()))


class IndexedFile(Message):
    """A file that is indexed."""

    path: str
    hash: str
    mtime: str
    size: int
    chunks: int
    stale: bool


class IndexFilesAnswer(Message):
    """Every file that is indexed."""

    files: tuple[IndexedFile, ...]


@operation(Group.VAULT, Effect.READS, errors=(VaultNotFound,), not_in={Face.CLI: "for debuggers, over HTTP"})
def index_files(vault: OpenVault, request: Nothing) -> IndexFilesAnswer:  # noqa: ARG001
    """List every file that is indexed, with its hash, and whether it changed since."""
    return IndexFilesAnswer.from_json(index_status.files(vault.workspace))


class SpentToday(Message):
    """What models took today, of all processes."""

    tokens: int
    usd: float


class VaultStatusRequest(Message):
    """What to show."""

    settings: bool = True
    """Show every setting in force too."""


class VaultStatusAnswer(Message):
    """How things stand."""

    vault: str
    vault_from: str
    """Why it is this one."""
    state: str
    params: str | None
    """The file of the settings; null where they are the defaults."""
    inbox: str
    waiting: int | None
    """Paragraphs in the inbox; null where there is no inbox."""
    librarian: str
    runs: int
    last_run: str | None
    last_status: str | None
    last_flush: str | None
    """When an agent was last reminded to write its memories down."""
    spent_today: SpentToday
    index: IndexStatusAnswer
    settings: dict[str, Any] = Field(default_factory=dict)


@operation(Group.VAULT, Effect.READS, errors=(VaultNotFound,))
def vault_status(vault: OpenVault, request: VaultStatusRequest) -> VaultStatusAnswer:
    """Show which vault this is, what waits in the inbox, the last run, and how the index stands.

    Reads only the inbox, the list of runs and what the index says of itself; lists the vault, reads no note.
    """
    located, space = vault.located, vault.workspace
    known = sorted(vault.runs.list(), key=lambda run: run.id)
    last = known[-1] if known else None
    waiting = read_paragraphs(space)
    flush = last_flush(space)
    return VaultStatusAnswer(
        vault=str(space.vault),
        vault_from=located.vault_from,
        state=str(space.state),
        params=str(located.params_file) if located.params_file else None,
        inbox=str(space.inbox),
        waiting=None if waiting is None else len(waiting),
        librarian=vault.params.librarian.kind,
        runs=len(known),
        last_run=last.id if last else None,
        last_status=str(last.status) if last else None,
        last_flush=flush.at if flush else None,
        spent_today=SpentToday.of(vault.ledger.today()),
        index=IndexStatusAnswer.from_json(index_status.status(space, vault.scanned())),
        settings=vault.params.model_dump(mode="json") if request.settings else {},
    )


class SkippedNote(Message):
    """A file that was passed over, and why."""

    path: str
    reason: str


class IndexSyncAnswer(Message):
    """What was brought up to date (spec 3, section 5, SyncResult, and what infold adds).

    With `status` "estimate" nothing was: `quote` says what it would take.
    """

    status: str = "done"
    files_scanned: int = 0
    files_changed: int = 0
    chunks_created: int = 0
    embeddings_computed: int = 0
    embeddings_cached: int = 0
    embeddings_dropped: int = 0
    """An earlier infold kept them; they cost nothing to compute again, so their room was given back."""
    duration_ms: int = 0
    """Of all of it: catalogue, index and summaries."""
    notes: int = 0
    """Of the catalogue, with what happened to them in the next four."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    emptied: bool = False
    """No notes, or no sessions, were found where there were some; none were taken away."""
    usage: Usage = Usage()
    """What summaries cost."""
    skipped: tuple[SkippedNote, ...] = ()
    quote: Quote | None = None


@operation(Group.VAULT, Effect.SPENDS, takes_long=True, errors=_SYNC_ERRORS)
def index_sync(vault: OpenVault, request: Spending) -> IndexSyncAnswer:
    """Bring catalogue, summaries and the search index up to date. Only what changed is read again.

    Words are searchable first, within seconds; embeddings follow. Where a model writes the summaries, the first answer
    is an estimate with a token.
    """
    quote = quote_first(vault, "index_sync", request, vault.estimate_summaries)
    if quote is not None:
        return IndexSyncAnswer(status="estimate", quote=quote)
    done = vault.sync(caps={"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    return IndexSyncAnswer.of(
        done.index,
        duration_ms=done.duration_ms,
        notes=done.catalogue.scanned,
        added=done.catalogue.added,
        changed=done.catalogue.changed,
        removed=done.catalogue.removed,
        unchanged=done.catalogue.unchanged,
        usage=done.usage or Usage(),
        skipped=tuple(SkippedNote(path=path, reason=reason) for path, reason in done.skipped),
    )


class RebuildCounts(Message):
    """Numbers of a rebuild."""

    files_scanned: int
    files_changed: int
    chunks_created: int
    embeddings_computed: int
    duration_ms: int


class IndexRebuildAnswer(Message):
    """What the new index was made of (spec 3, section 10)."""

    completed: bool = True
    kept: bool
    """The vault seems empty, so the index is as it was."""
    result: RebuildCounts


@operation(Group.VAULT, Effect.READS, takes_long=True, errors=_SYNC_ERRORS)
def index_rebuild(vault: OpenVault, request: Nothing) -> IndexRebuildAnswer:  # noqa: ARG001
    """Make catalogue and search index anew from the notes, while the old ones serve.

    Embeddings that take long or cost money are kept by content: none is computed again. For after a fault; changed
    notes need only `index_sync`.
    """
    done = vault.rebuild_index()
    kept = not done.files_scanned and index_status.held(vault.workspace)[0] > 0
    return IndexRebuildAnswer(kept=kept, result=RebuildCounts.of(done))


class FindingReport(Message):
    """One thing that was looked at: how much it matters, what was found, what to do (empty: nothing)."""

    level: Level
    topic: str
    text: str
    todo: str


class VaultDoctorAnswer(Message):
    """All that was looked at."""

    problems: int
    """How many keep the job from working as asked."""
    findings: tuple[FindingReport, ...]

    @classmethod
    def of_findings(cls, findings: Iterable[Finding]) -> VaultDoctorAnswer:
        """The answer that these findings make."""
        found = tuple(FindingReport.of(finding) for finding in findings)
        return cls(problems=sum(each.level is Level.PROBLEM for each in found), findings=found)

    def with_findings(self, more: Iterable[Finding]) -> VaultDoctorAnswer:
        """The same, with what a face alone can find."""
        others = self.of_findings(more)
        return VaultDoctorAnswer(problems=self.problems + others.problems, findings=(*self.findings, *others.findings))


@operation(Group.VAULT, Effect.READS, takes_long=True, errors=(VaultNotFound, StateUnwritable, UsageError))
def vault_doctor(vault: OpenVault, request: Nothing) -> VaultDoctorAnswer:  # noqa: ARG001
    """Examine the vault, the settings and the state, and say what to do about what is found."""
    from infold.diagnostics.examine import examine  # here: it reads the whole catalogue

    return VaultDoctorAnswer.of_findings(examine(vault))

"""The composition's steps as Prefect tasks: the same calls, cached by content across processes and seen in the UI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from prefect import Task
from prefect.client.schemas.objects import State

from infold.inbox.chunking import Chunks
from infold.inbox.editing import ChunkEdits
from infold.inbox.exploration import Exploration
from infold.inbox.planning import Prepared
from infold.inbox.run import Run
from infold.inbox.steps import DirectSteps
from infold.inbox.vault_snapshot import VaultSnapshot
from infold.librarian.answers import Chunk, OpenNote, Paragraph
from infold.librarian.base import Librarian
from infold.librarian.decisions import content_key
from infold.librarian.prompts import DecisionKind
from infold.librarian.spend import Usage
from infold.vault.records import Note
from infold.workspace import Workspace
from tasks.artifacts import ProgressArtifacts
from tasks.decisions import CHUNKS, Payload, edit_chunk, explore_chunk, group_paragraphs
from tasks.policy import as_upstream, shape_of, stored_in, unseen
from tasks.preparing import apply_run, prepared

_Paid = TypeVar("_Paid", Exploration, ChunkEdits)


class PrefectSteps:
    """Carries out the steps of `direct` as tasks of the flow run that is under way."""

    def __init__(self, direct: DirectSteps, workspace: Workspace) -> None:
        self._direct = direct
        # What ran, so that what builds on it says so: the edges of the graph that the UI draws.
        self._ready: list[State[Any]] = []
        self._explored: dict[int, State[Any]] = {}
        self._edited: list[State[Any]] = []
        self._params = workspace.params
        self._artifacts = ProgressArtifacts()
        options = stored_in(workspace.state / "derived" / "prefect")
        self._group: Task[..., Any] = group_paragraphs.with_options(**options)
        self._explore: Task[..., Any] = explore_chunk.with_options(**options)
        self._edit: Task[..., Any] = edit_chunk.with_options(**options)

    @property
    def librarian(self) -> Librarian:
        """Who decides."""
        return self._direct.librarian

    @property
    def usage(self) -> Usage:
        """All that was paid so far."""
        return self._direct.usage

    async def prepare(self) -> Prepared:
        """Tables, summaries and index brought up to date."""
        ready, self._ready = await prepared(self._direct)
        return ready

    async def group(self, paragraphs: Sequence[Paragraph], snapshot: VaultSnapshot) -> Chunks:
        """The chunks of an inbox (spec 1, Phase 1)."""
        params = self._params.chunking
        key = self._key("group", Chunks, params, tuple(paragraphs), snapshot.sample_names(params))
        state = await self._group(
            *(key, len(paragraphs), unseen(paragraphs), unseen(snapshot), unseen(self._direct)),
            return_state=True,
            wait_for=self._ready,
        )
        grouped = CHUNKS.validate_python(await _payload(state))
        self._ready = [as_upstream(state)]
        return grouped

    async def explore(self, chunk: Chunk, snapshot: VaultSnapshot) -> Exploration:
        """Which notes a chunk belongs in (spec 1, Phase 3)."""
        # The hashes too: search candidates come from the notes' texts, of which a card shows only a part.
        seen = (snapshot.fingerprint, snapshot.hashes, self._params.exploration, self._params.search)
        key = self._key("explore", Exploration, chunk, *seen)
        state = await self._explore(
            *(key, chunk.id, unseen(chunk), unseen(snapshot), unseen(self._direct)),
            return_state=True,
            wait_for=self._ready,
        )
        exploration = _as_reused(Exploration.model_validate(await _payload(state)), state)
        self._explored[chunk.id] = as_upstream(state)
        return exploration

    async def edit(
        self, chunk: Chunk, exploration: Exploration, notes: tuple[OpenNote, ...], refused: str
    ) -> ChunkEdits:
        """The edits of a chunk in the notes that were chosen (spec 1, Phase 4)."""
        seen = (exploration.checked_out, exploration.transcript, notes, refused, self._params.editing)
        key = self._key("edit", ChunkEdits, chunk, *seen)
        texts = (unseen(chunk), unseen(exploration), unseen(notes), unseen(refused))
        before = [self._explored[chunk.id]] if chunk.id in self._explored else self._ready
        state = await self._edit(key, chunk.id, *texts, unseen(self._direct), return_state=True, wait_for=before)
        edits = _as_reused(ChunkEdits.model_validate(await _payload(state)), state)
        self._edited.append(as_upstream(state))
        return edits

    async def apply(self, run_id: str) -> Run:
        """Writes a saved plan to the vault."""
        return await apply_run(run_id, unseen(self._direct), wait_for=self._edited or self._ready)

    def note(self, path: str) -> Note:
        """The note that the direct steps have read at a path."""
        return self._direct.note(path)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Says how far a stage is, to whoever watches the direct steps and in the UI."""
        self._direct.progress(stage, done, total)
        self._artifacts.show(stage, done, total)

    async def close(self) -> None:
        """Waits until what was shown has arrived."""
        await self._artifacts.close()

    def _key(self, kind: str, record: Any, *parts: object) -> str:
        prompts = DecisionKind.GROUP if kind == "group" else DecisionKind.CHUNK
        signature = self.librarian.signature(prompts)
        return content_key(kind, f"{signature} {shape_of(record)}", self._params.librarian.mode, *parts)


async def _payload(state: State[Any]) -> Payload:
    payload: Payload = await state.aresult()
    return payload


def _as_reused(record: _Paid, state: State[Any]) -> _Paid:
    """A record from the cache cost nothing this time."""
    if state.name != "Cached":
        return record
    return record.model_copy(update={"usage": Usage(reused=record.usage.calls + record.usage.reused)})

"""Phase 3: from the root, round by round, to the few notes a chunk belongs in (spec 1).

Three states: AVAILABLE (name and summary), VIEWED (headings and links too), CHECKED OUT. Only summaries accumulate; the
full text is read at checkout, by `inbox.editing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from infold.inbox.run import RunPart, StopReason
from infold.inbox.vault_snapshot import VaultSnapshot
from infold.librarian.answers import NO_NOTE, Chunk, Look, LookRequest
from infold.librarian.base import Librarian
from infold.librarian.spend import Usage
from infold.settings import ExplorationParams


class Exploration(RunPart):
    """Where the exploration of one chunk led. `reason` says why nothing was checked out, where that is so."""

    chunk: int
    viewed: tuple[str, ...] = ()
    checked_out: tuple[str, ...] = ()
    rounds: int = 0
    stopped: StopReason | None = None
    transcript: tuple[dict[str, Any], ...] = ()
    usage: Usage = Usage()
    reason: str | None = None


async def explore(
    chunk: Chunk, snapshot: VaultSnapshot, candidates: Sequence[str], librarian: Librarian, params: ExplorationParams
) -> Exploration:
    """Walks the note graph for one chunk, within every limit of spec 1.

    `candidates` are the best search hits: they join AVAILABLE, so that a note no link path reaches can be found. Raises
    what the librarian raises.
    """
    state = _State(snapshot, candidates, params.max_files_viewed_total)
    conversation = librarian.conversation(chunk)
    answer = Look(action="checkout", files=[])
    rounds = 0
    stopped = StopReason.NOTHING_LEFT
    for round_ in range(1, params.max_exploration_rounds + 2):
        rounds_left = params.max_exploration_rounds - round_
        stopped = _stopped_by(state, rounds_left)
        may_view = 0
        if stopped is StopReason.READY:
            may_view = min(params.max_files_viewed_per_round, state.may_view, len(state.available))
        if not may_view and not state.viewed:
            break
        answer = await conversation.look(
            LookRequest(
                chunk=chunk,
                viewed=tuple(snapshot.cards[path] for path in state.viewed),
                available=tuple(snapshot.cards[path] for path in state.available),
                summaries=snapshot.summaries,
                round=round_,
                rounds_left=max(rounds_left, 0),
                may_view=may_view,
                may_check_out=params.max_files_checked_out,
            )
        )
        if answer.action == "checkout":
            break
        rounds = round_
        state.view(answer.files)
    checked_out = tuple(answer.files) if answer.action == "checkout" else ()
    return Exploration(
        chunk=chunk.id,
        viewed=tuple(state.viewed),
        checked_out=checked_out,
        rounds=rounds,
        stopped=stopped,
        transcript=conversation.transcript,
        usage=conversation.usage,
        reason=None if checked_out else answer.reason or NO_NOTE,
    )


def _stopped_by(state: _State, rounds_left: int) -> StopReason:
    """Which rule ends the exploration here: nothing more may be viewed; READY leaves that to the librarian."""
    if rounds_left < 0:
        return StopReason.ROUNDS
    if not state.available:
        return StopReason.NOTHING_LEFT
    return StopReason.READY if state.may_view > 0 else StopReason.VIEWS


class _State:
    """Which notes are VIEWED and AVAILABLE, in the order they became so."""

    def __init__(self, snapshot: VaultSnapshot, candidates: Iterable[str], max_viewed: int) -> None:
        self._snapshot = snapshot
        self._max_viewed = max_viewed
        self.viewed: list[str] = []
        self.available: list[str] = []
        if snapshot.root is not None:
            self.view([snapshot.root])
        self._offer(candidates)

    @property
    def may_view(self) -> int:
        return self._max_viewed - len(self.viewed)

    def view(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path in self.available:
                self.available.remove(path)
            self.viewed.append(path)
            self._offer(self._snapshot.cards[path].links)

    def _offer(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path in self._snapshot.cards and path not in self.viewed and path not in self.available:
                self.available.append(path)

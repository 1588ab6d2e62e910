"""The reminder that an agent gets before its context is compacted (spec 3, section 7)."""

from __future__ import annotations

from pydantic import Field

from infold.app import OpenVault
from infold.errors import StateUnwritable, VaultBusy
from infold.notebook.flush import flush_reminder
from infold.operations.contract import Effect, Face, Group, Message
from infold.operations.table import operation


class MemoryFlushRequest(Message):
    """Whose context is about to be compacted."""

    session: str = Field(min_length=1, max_length=200)
    """The name of your session."""
    cycle: int = Field(default=0, ge=0)
    """How often this session was compacted before."""


class MemoryFlushAnswer(Message):
    """The reminder, to be injected as a silent turn; null where this session had it in this cycle."""

    reminder: str | None


@operation(
    Group.MEMORY,
    Effect.READS,
    is_idempotent=False,
    errors=(VaultBusy, StateUnwritable),
    not_in={
        Face.CLI: "a terminal has no context that is compacted",
        Face.AGENT: "the loop gives it to its agent by itself",
    },
)
def memory_flush(vault: OpenVault, request: MemoryFlushRequest) -> MemoryFlushAnswer:
    """Ask, before your context is compacted, for the reminder to write down what should last; once a cycle.

    Writing nothing is an answer too. When it was last given is in `vault_status`.
    """
    return MemoryFlushAnswer(reminder=flush_reminder(vault.workspace, request.session, request.cycle))

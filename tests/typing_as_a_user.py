"""What a user's program may rely on, as a type checker sees it: mypy checks this file strictly, nothing runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import infold
from infold.durable.change import Undone
from infold.errors import InfoldError
from infold.inbox.run import Run
from infold.inbox.settlement import UndoResult
from infold.operations.contract import Nothing
from infold.operations.memory import MemorySearchAnswer, MemorySearchRequest, memory_search
from infold.operations.vault import VaultStatusAnswer, VaultStatusRequest, vault_status
from infold.search.query.results import Result, SearchResult


def a_day(notes: Path) -> list[str]:
    """The parts of an opened vault have their types."""
    with infold.open(notes, changes=["search.max_results=5"]) as vault:
        assert_type(vault, infold.OpenVault)
        found = vault.search("radiators")
        assert_type(found, SearchResult)
        assert_type(found.results, tuple[Result, ...])
        run = vault.integrate(dry_run=True)
        assert_type(run, Run)
        assert_type(vault.undo(), UndoResult | Undone)
        return [result.path for result in found.results]


def by_operations(vault: infold.OpenVault) -> tuple[MemorySearchAnswer, VaultStatusAnswer]:
    """An operation called gives its own answer."""
    answer = memory_search(vault, MemorySearchRequest(query="radiators", max_results=5))
    assert_type(answer, MemorySearchAnswer)
    memory_search(vault, Nothing())  # type: ignore[arg-type] # another request is refused
    return answer, vault_status(vault, VaultStatusRequest())


async def by_coroutines(vault: infold.OpenVault) -> MemorySearchAnswer:
    """And so does one that is awaited."""
    answer = await vault.run(memory_search, MemorySearchRequest(query="radiators"))
    assert_type(answer, MemorySearchAnswer)
    return answer


def hint_of(error: InfoldError) -> str:
    """Errors say what to do next."""
    return error.hint

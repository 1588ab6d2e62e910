"""The librarian that the settings name, with its meter, and the ledger that its vault's days are kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infold.librarian.ledger import Ledger

if TYPE_CHECKING:
    from infold.environment import Environment
    from infold.librarian.model import ModelLibrarian
    from infold.settings import LibrarianParams
    from infold.workspace import Workspace


def ledger_of(workspace: Workspace) -> Ledger:
    """What this vault spent by days, under the caps of the settings."""
    params = workspace.params.librarian
    return Ledger(
        workspace.spending / "ledger.sqlite", max_usd=params.max_usd_per_day, max_tokens=params.max_tokens_per_day
    )


def model_librarian(
    workspace: Workspace,
    environment: Environment,
    *,
    params: LibrarianParams | None = None,
    concurrency: int | None = None,
) -> ModelLibrarian:
    """A librarian that asks the model of the settings, or of `params`; its meter begins at nothing.

    `concurrency` calls go out at once, else `integrate.concurrency`. Opens no connection yet. Raises KeyMissing or
    SettingInvalid: no call could succeed, a cap not be held.
    """
    from infold.librarian.decisions import DecisionStore
    from infold.librarian.model import ModelLibrarian

    return ModelLibrarian(
        params or workspace.params.librarian,
        workspace.params.editing,
        environment,
        DecisionStore(workspace.decisions),
        concurrency or workspace.params.integrate.concurrency,
        ledger=ledger_of(workspace),
    )

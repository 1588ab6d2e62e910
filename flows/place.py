"""The place a flow works in, as its parameters name it: ids, paths and settings only, for the server keeps them.

Whoever may start runs chooses their parameters; which vault a run of a deployment may touch is chosen by who serves it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final

from filelock import FileLock, Timeout
from prefect import get_run_logger, runtime
from pydantic import WithJsonSchema

from infold.environment import Environment
from infold.errors import StateUnwritable, UsageError
from infold.settings import Params
from infold.workspace import Workspace

# Sections of params.yaml; what is left out is the default. Loose for the server, whose page would show every setting as
# a field of its own; strict when the flow starts.
Settings = Annotated[Params | None, WithJsonSchema({"type": "object", "title": "params"})]
SERVED: Final = "INFOLD_SERVED"
_SECONDS_BETWEEN: Final = 0.5


def place_of(vault: Path, state: Path, params: Params | None, inbox: Path | None = None) -> Workspace:
    """The workspace of a flow run. Raises UsageError where a deployment's run names a place that is not served."""
    params = params or Params()
    vault, state = vault.absolute(), state.absolute()
    inbox = inbox.absolute() if inbox else vault / params.vault.inbox_file
    if runtime.deployment.id:
        _require_served(vault, state, inbox)
    return Workspace(vault, state, inbox, params)


def _require_served(vault: Path, state: Path, inbox: Path) -> None:
    served = {Path(path) for path in (Environment().get(SERVED) or "").split(os.pathsep) if path}
    wanted = {vault, state} if inbox.resolve().is_relative_to(vault.resolve()) else {vault, state, inbox}
    if other := sorted(map(str, wanted - served)):
        raise UsageError(
            f"{other[0]} is not served by this process.",
            hint=f"`infold flows up --vault DIR` serves a vault; a worker of your own names its paths in {SERVED}.",
        )


@asynccontextmanager
async def turn(workspace: Workspace) -> AsyncIterator[None]:
    """Waits until no other flow run works on this vault, and keeps others waiting meanwhile.

    A lock of the kernel: it is free as soon as its holder ends, however that ends. A run that is waiting for a person
    does not hold it. Raises StateUnwritable.
    """
    lock = FileLock(workspace.state / "flows.lock")
    is_told = False
    while True:
        try:
            workspace.state.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
            break
        except Timeout:
            if not is_told:
                get_run_logger().info("Waits until the other run on this vault has ended.")
            is_told = True
            await asyncio.sleep(_SECONDS_BETWEEN)
        except OSError as error:
            raise StateUnwritable(f"{lock.lock_file} cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def run_name(what: str) -> str:
    """What a run is called: its work and the vault, such as `sessions of notes`."""
    return f"{what} of {_vault_name(runtime.flow_run.parameters)}"


def _vault_name(parameters: dict[str, Any]) -> str:
    return Path(str(parameters.get("vault", ""))).name

"""The place a flow works in, as its parameters name it: ids, paths and settings only, for the server keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import WithJsonSchema

from infold.settings import Params
from infold.workspace import Workspace

# Sections of params.yaml; what is left out is the default. Loose for the server, whose page would show every setting as
# a field of its own; strict when the flow starts.
Settings = Annotated[Params | None, WithJsonSchema({"type": "object", "title": "params"})]


def place_of(vault: Path, state: Path, params: Params | None, inbox: Path | None = None) -> Workspace:
    """The workspace of a flow run."""
    params = params or Params()
    vault = vault.absolute()
    return Workspace(vault, state.absolute(), inbox.absolute() if inbox else vault / params.vault.inbox_file, params)

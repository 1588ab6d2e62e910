"""What completion offers as values: runs, notes, names of vaults, settings. Where there is no vault, nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infold import lazy
from infold.errors import InfoldError
from infold.locate import WorkspaceRequest, locate_workspace
from infold.places import known_vaults
from infold.settings import Params

if TYPE_CHECKING:
    from infold.workspace import Workspace

_MOST: Final = 200
_PLACE: Final = ("vault", "state", "params")


def runs(ctx: Any, incomplete: str) -> list[str]:
    """Ids of runs and other changes, the newest first, with the two names of the newest."""
    workspace = _workspace(ctx)
    ids = [] if workspace is None else lazy.durable.change_store.ChangeStore(workspace.runs).ids()[::-1]
    names = [
        "last",
        *(["w-last"] if any(each.startswith(lazy.durable.change_store.SMALL) for each in ids) else []),
        *ids,
    ]
    return [name for name in names if name.startswith(incomplete)][:_MOST]


def notes(ctx: Any, incomplete: str) -> list[str]:
    """Paths of notes that begin so; else those whose name does."""
    workspace = _workspace(ctx)
    if workspace is None:
        return []
    paths = [file.path for file in lazy.vault.scanning.scan(workspace.vault, workspace.params.vault).files]
    return [path for path in paths if path.startswith(incomplete)][:_MOST]


def vaults(ctx: Any, incomplete: str) -> list[tuple[str, str]]:  # noqa: ARG001 - typer's signature
    """Vaults that have a name."""
    return [(name, str(folder)) for name, folder in known_vaults().items() if name.startswith(incomplete)]


def settings(ctx: Any, incomplete: str) -> list[str]:  # noqa: ARG001 - typer's signature
    """Names of settings, with their section."""
    names = (f"{section}.{name}" for section, values in Params() for name in type(values).model_fields)
    return [name for name in names if name.startswith(incomplete)]


def _workspace(ctx: Any) -> Workspace | None:
    """The place that the words before name. What is half typed names none."""
    vault, state, params = (Path(said) if (said := ctx.params.get(name)) else None for name in _PLACE)
    try:
        found = locate_workspace(WorkspaceRequest(vault, state, params))
    except InfoldError:
        return None
    return found.workspace

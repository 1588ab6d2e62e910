"""Where a stage works: the repository it is started in, with its params.yaml, and its folders under data/."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infold.durable.files import SHARED, Disk
from infold.errors import InfoldError
from infold.settings import Params, load_params
from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout with a vault. `snapshot` is the vault as the stages see it: they never read the vault itself."""

    folder: Path
    vault: Path
    snapshot: Workspace
    metrics: Path


def open_repository(folder: Path) -> Repository:
    """The repository in `folder`. Raises SettingInvalid where params.yaml is missing or wrong."""
    params = _on_any_machine(load_params(folder / "params.yaml"))
    snapshot = folder / "data" / "snapshot"
    return Repository(
        folder=folder,
        vault=folder / params.vault.path,
        snapshot=Workspace(snapshot, folder / "data" / "state", snapshot / params.vault.inbox_file, params),
        metrics=folder / "data" / "metrics",
    )


def _on_any_machine(params: Params) -> Params:
    """`auto` embeddings are those of a machine; what is recorded is made with the bundled ones."""
    if params.search.embedding != "auto":
        return params
    return params.model_copy(update={"search": params.search.model_copy(update={"embedding": "static"})})


def run_stage(stage: Callable[[Repository], str]) -> None:
    """Runs a stage in the current folder and prints its one line; an error ends the process with its exit code."""
    try:
        print(stage(open_repository(Path.cwd())))
    except InfoldError as error:
        print(f"{error} {error.hint}".strip(), file=sys.stderr)
        raise SystemExit(error.exit_code) from error


def replace_file(path: Path, data: bytes, mtime_ns: int | None = None) -> None:
    """Puts `data` at `path`, whole or not at all. Raises StateUnwritable."""
    disk = Disk()
    disk.make_folder(path.parent)
    disk.write_whole(path, data, SHARED, is_durable=False, mtime_ns=mtime_ns)

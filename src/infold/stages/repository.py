"""Where a stage works: the repository it is started in, with its params.yaml, and its folders under data/."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infold.errors import InfoldError, StateUnwritable
from infold.settings import load_params
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
    params = load_params(folder / "params.yaml")
    snapshot = folder / "data" / "snapshot"
    return Repository(
        folder=folder,
        vault=folder / params.vault.path,
        snapshot=Workspace(snapshot, folder / "data" / "state", snapshot / params.vault.inbox_file, params),
        metrics=folder / "data" / "metrics",
    )


def run_stage(stage: Callable[[Repository], str]) -> None:
    """Runs a stage in the current folder and prints its one line; an error ends the process with its exit code."""
    try:
        print(stage(open_repository(Path.cwd())))
    except InfoldError as error:
        print(f"{error} {error.hint}".strip(), file=sys.stderr)
        raise SystemExit(error.exit_code) from error


def replace_file(path: Path, data: bytes, mtime_ns: int | None = None) -> None:
    """Puts `data` at `path`, whole or not at all. Raises StateUnwritable."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        if mtime_ns is not None:
            os.utime(temporary, ns=(mtime_ns, mtime_ns))
        temporary.replace(path)
    except OSError as error:
        raise StateUnwritable(f"{path} cannot be written: {error.strerror or error}.") from error

"""A small DVC project beside a vault: its stages, its settings, its history in git. Never in the vault.

The project keeps copies of the notes (data/snapshot), tables and summaries under DVC, and in git what they hash to, so
that any day's can be had again. What is needed of git and DVC is asked of their own commands.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Final

import yaml

from infold.durable.files import SHARED, Disk
from infold.errors import EnvironmentFault, UsageError
from infold.settings import Params
from infold.stages.record import COMMITS, author_options

CI_FILES: Final = {"github": ".github/workflows/infold.yml", "gitlab": ".gitlab-ci.yml"}
_IGNORED: Final = "/data/state/\n/data/snapshot/\n/.infold-ci/\n__pycache__/\n"


def make_project(folder: Path, vault: Path, params: Params, ci: str | None = None) -> Path:
    """Makes the project, or what it lacks of one, and commits it; gives the state folder in it.

    What is there is left as it is, so a project that was cloned is put to use by the same call. Raises UsageError for
    a folder in the vault or around it, EnvironmentFault without git or DVC, StateUnwritable.
    """
    folder, vault = folder.expanduser().resolve(), vault.resolve()
    if folder.is_relative_to(vault) or vault.is_relative_to(folder):
        raise UsageError(
            f"The project {folder} and the vault {vault} must lie beside each other, not in each other.",
            hint=f"Such as --dvc {vault.parent / (vault.name + '-infold')}.",
        )
    _require_tools()
    disk = Disk()
    disk.make_folder(folder)
    if not (folder / ".git").exists():
        _run("git", "-c", "init.defaultBranch=main", "init", "--quiet", folder=folder)
    if not (folder / ".dvc").is_dir():
        _run(sys.executable, "-m", "dvc", "init", "--quiet", folder=folder)
        _run(sys.executable, "-m", "dvc", "config", "core.analytics", "false", folder=folder)
    _run("git", "config", "--local", COMMITS, "true", folder=folder)
    for name, text in _contents(os.path.relpath(vault, folder), params, ci).items():
        if not (folder / name).exists():
            disk.make_folder((folder / name).parent)
            disk.write_whole(folder / name, text.encode(), SHARED)
    _run("git", "add", "--all", folder=folder)
    if subprocess.run(["git", "diff", "--cached", "--quiet"], cwd=folder, check=False).returncode:
        _run("git", *author_options(folder), "commit", "--quiet", "-m", "A project of infold", folder=folder)
    return folder / "data" / "state"


def _contents(vault: str, params: Params, ci: str | None) -> dict[str, str]:
    values = params.model_copy(update={"vault": params.vault.model_copy(update={"path": vault})})
    settings = yaml.safe_dump(values.model_dump(mode="json"), allow_unicode=True, sort_keys=False)
    said = "# Settings of infold for the vault that `vault.path` names. `infold config` shows each.\n"
    package = files("infold.stages")
    contents = {
        "dvc.yaml": (package / "project.yaml").read_text(encoding="utf-8"),
        "params.yaml": said + settings,
        ".gitignore": _IGNORED,
    }
    if ci is not None:
        contents[CI_FILES[ci]] = (package / "ci" / f"{ci}.yml").read_text(encoding="utf-8")
    return contents


def _require_tools() -> None:
    if shutil.which("git") is None:
        raise EnvironmentFault("git is not installed.", hint="The project's history is kept with it.")
    if importlib.util.find_spec("dvc") is None:
        raise EnvironmentFault("DVC is not installed.", hint="Install it: pip install 'infold[dvc]'.")


def _run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        shown = " ".join(command[1:] if command[0] == sys.executable else command)
        raise EnvironmentFault(f"`{shown}` failed in {folder}: {' '.join(done.stderr.split())[:300]}")

"""What a run changed, recorded where DVC is set up for the vault: as if `dvc repro` had made it.

A project that `infold init --dvc` made is committed to git as well, so that each day's notes and summaries can be had
again; in any other repository git is left to its owner.
"""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Final

from infold.app import open_steps
from infold.errors import EnvironmentFault
from infold.stages.repository import Repository, open_repository
from infold.stages.snapshot import take_snapshot
from infold.stages.summaries import settle
from infold.workspace import Workspace

COMMITS: Final = "infold.commits"  # the git setting of a project whose commits are infold's to make
_MOST_SECONDS: Final = 600
_MADE_BY_FLOWS: Final = ("snapshot", "tables", "summaries")  # an evaluation is not brought up to date by them


def repository_of(place: Workspace) -> Repository | None:
    """The repository that `place` is the vault and state of, where it has DVC set up and DVC is installed."""
    folder = place.state.parent.parent
    if not (folder / ".dvc").is_dir() or not (folder / "params.yaml").is_file():
        return None
    if importlib.util.find_spec("dvc") is None:
        return None
    repository = open_repository(folder)
    is_same = repository.vault.resolve() == place.vault.resolve() and repository.snapshot.state == place.state
    return repository if is_same else None


async def record(repository: Repository, place: Workspace) -> None:
    """Brings tables and summaries up to date, takes the snapshot they were made from, and commits all of it to DVC.

    Raises EnvironmentFault where DVC refuses, for example because another of its commands is under way.
    """
    params = repository.snapshot.params
    async with open_steps(place) as steps:
        steps.sync_tables()
        steps.export_tables()
        summaries = await steps.sync_summaries()
    take_snapshot(repository.vault, repository.snapshot.vault, params.vault)
    settle(repository, summaries)
    dvc = [sys.executable, "-m", "dvc", "commit", "--force", "--quiet", *_MADE_BY_FLOWS]
    await _ran(dvc, repository.folder, "`dvc repro` brings it up to date later.")
    if await commits_itself(repository.folder):
        await _commit(repository.folder)


async def commits_itself(folder: Path) -> bool:
    """Whether commits in this repository are infold's to make."""
    process = await asyncio.create_subprocess_exec(
        *("git", "config", "--local", "--bool", COMMITS), cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=-3
    )
    said, _ = await process.communicate()
    return said.strip() == b"true"


def author_options(folder: Path) -> tuple[str, ...]:
    """The options of git for a commit here: none where it knows the person's name, else infold's own."""
    known = subprocess.run(["git", "config", "user.email"], cwd=folder, capture_output=True, check=False)
    return () if known.stdout.strip() else ("-c", "user.name=infold", "-c", "user.email=infold@localhost")


async def _commit(folder: Path) -> None:
    hint = "Commit dvc.lock and data/metrics yourself."
    await _ran(["git", "add", "dvc.lock", "data/metrics"], folder, hint)
    process = await asyncio.create_subprocess_exec("git", "diff", "--cached", "--quiet", cwd=folder)
    if await process.wait():
        message = "Notes and what is derived from them"
        await _ran(["git", *author_options(folder), "commit", "--quiet", "-m", message], folder, hint)


async def _ran(command: list[str], folder: Path, hint: str) -> None:
    shown = " ".join(command[2:4] if command[0] == sys.executable else command[:2])
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await asyncio.wait_for(process.communicate(), _MOST_SECONDS)
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise EnvironmentFault(f"`{shown}` did not end within {_MOST_SECONDS} s.") from error
    if process.returncode:
        reason = " ".join(said.decode(errors="replace").split())[:300]
        raise EnvironmentFault(f"`{shown}` failed: {reason}", hint=hint)

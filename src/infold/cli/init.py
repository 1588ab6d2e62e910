"""`infold init`: look at a vault once, write down what was found, remember the vault."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.diagnostics.vault_stats import vault_stats
from infold.discovery import NameMatch, find_inbox, find_root
from infold.environment import Environment
from infold.errors import StateUnwritable, UsageError
from infold.locate import LocatedWorkspace, WorkspaceRequest, locate_workspace
from infold.place import PARAMS_FILE
from infold.places import remember

if TYPE_CHECKING:
    from infold.diagnostics.vault_stats import VaultStats
    from infold.discovery import NameMatch


class Host(StrEnum):
    """Who runs continuous integration."""

    GITHUB = "github"
    GITLAB = "gitlab"


@dataclass(frozen=True, slots=True)
class _Settled:
    """What init decided."""

    root: NameMatch | None
    inbox: NameMatch
    has_inbox: bool


@command
def init(
    call: Call,
    *,
    root: Annotated[
        str | None, typer.Option(metavar="NOTE", help="The note that exploration starts from. Else it is found.")
    ] = None,
    inbox: Annotated[
        str | None, typer.Option(metavar="FILE", help="The file that new text is dropped in. Else it is found.")
    ] = None,
    create_inbox: Annotated[
        bool, typer.Option("--create-inbox", metavar="", help="Create the inbox where it is missing.")
    ] = False,
    dvc: Annotated[
        Path | None,
        typer.Option(
            "--dvc",
            metavar="DIR",
            help="Make a DVC project there, beside the vault: its history of notes, tables and summaries.",
        ),
    ] = None,
    ci: Annotated[
        Host | None,
        typer.Option("--ci", help="With --dvc: a workflow that evaluates the vault there and posts the report."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Write the settings anew where there are some.")
    ] = False,
) -> int:
    """Find the root note and the inbox of a vault, and remember the vault.

    The settings go to params.yaml in the state folder, with `--dvc` in the project. Nothing is written into the vault,
    but an empty inbox with `--create-inbox`. Without `--vault` the current folder is the vault, where notes lie in it.
    """
    terminal = call.terminal
    place = locate_workspace(_named(call.wanted))
    with Stages(terminal) as stages:
        seen = vault_stats(place.workspace, stages)
    if not (seen.words or create_inbox or force):
        raise UsageError(
            f"No notes lie in {place.vault}.",
            hint="Name your folder of notes; --create-inbox begins a vault in an empty one.",
        )
    settled = _settle(place, seen, root, inbox)
    if create_inbox and not settled.has_inbox:
        _create(place.vault / settled.inbox.path)
        settled = dataclasses.replace(settled, has_inbox=True)
    if ci is not None and dvc is None:
        raise UsageError("--ci needs the project that it runs in.", hint="Add --dvc DIR.")
    file = (dvc.expanduser().resolve() if dvc else place.state) / PARAMS_FILE
    is_written = force or not file.exists()
    if dvc is not None:
        place = _in_project(place, dvc, settled, ci)
    elif is_written:
        _write_settings(file, place, settled)
    remember(place.vault, place.state)
    if terminal.is_json:
        terminal.emit(
            {
                "vault": str(place.vault),
                "state": str(place.state),
                "notes": len(seen.notes),
                "root": settled.root.path if settled.root else None,
                "inbox": settled.inbox.path,
                "hasInbox": settled.has_inbox,
                "settings": str(file),
                "settingsWritten": is_written,
            }
        )
        return 0
    reached = sum(seen.reach_by_hops(settled.root.path)) - 1 if settled.root else 0
    terminal.say(f"vault     {place.vault}: {len(seen.notes)} notes, {sum(seen.words.values()):,} words")
    if settled.root:
        terminal.say(
            f"root      {settled.root.path} ({settled.root.why}); its links lead to {reached} of the other notes"
        )
    else:
        terminal.say("root      none found: exploration starts from search hits alone; name one with --root NOTE")
    missing = "" if settled.has_inbox else "; it is not there yet: create it, or run this again with --create-inbox"
    terminal.say(f"inbox     {settled.inbox.path} ({settled.inbox.why}){missing}")
    terminal.say(f"state     {place.state}")
    kept = "" if is_written else " (kept as it was; --force writes it anew)"
    terminal.say(f"settings  {file}{kept}")
    terminal.say("This is now the vault of every command that names none.")
    first = "" if settled.has_inbox else "write something into the inbox, then "
    terminal.say(f"Next: {first}`infold integrate --dry-run`, or `infold doctor`.", style="bold")
    return 0


def _in_project(place: LocatedWorkspace, folder: Path, settled: _Settled, ci: Host | None) -> LocatedWorkspace:
    """The place with its state in the project, which is made where it is not there yet."""
    from infold.stages.project import make_project

    names = {"inbox_file": settled.inbox.path, **({"root_file": settled.root.path} if settled.root else {})}
    vault = place.params.vault.model_copy(update=names)
    params = place.params.model_copy(update={"vault": vault})
    state = make_project(folder, place.vault, params, ci.value if ci else None)
    return place._replace(workspace=dataclasses.replace(place.workspace, state=state))


def _named(wanted: WorkspaceRequest) -> WorkspaceRequest:
    """With the current folder as the vault where none is named and this one looks like one."""
    if (wanted.vault or Environment().vault) is not None:
        return wanted
    here = Path.cwd()
    if (here / PARAMS_FILE).is_file() and locate_workspace(wanted).params_file == here / PARAMS_FILE:
        raise UsageError(
            f"{here / PARAMS_FILE} names the vault of this folder already.",
            hint="Change it there, or name another vault with --vault DIR.",
        )
    if not (any(here.glob("*.md")) or (here / ".obsidian").is_dir()):
        raise UsageError(f"No notes lie in {here}.", hint="Name your folder of notes: infold init --vault DIR.")
    return wanted._replace(vault=here)


def _settle(place: LocatedWorkspace, seen: VaultStats, root: str | None, inbox: str | None) -> _Settled:

    everything = list(seen.words)
    root = f"{root}.md" if root is not None and f"{root}.md" in seen.words else root
    if root is not None and root not in seen.words:
        raise UsageError(f"There is no note {root} in {place.vault}.", hint="Give its path within the vault.")
    if inbox is not None:
        found_inbox = NameMatch(inbox, "as named")
    else:
        found_inbox = find_inbox(everything) or NameMatch("inbox.md", "the usual name")
    others = [path for path in everything if path != found_inbox.path]
    found_root = NameMatch(root, "as named") if root else find_root(others, place.vault.name, seen.best_linked())
    return _Settled(found_root, found_inbox, (place.vault / found_inbox.path).is_file())


def _create(inbox: Path) -> None:
    try:
        inbox.parent.mkdir(parents=True, exist_ok=True)
        inbox.open("x", encoding="utf-8").close()
    except OSError as error:
        raise StateUnwritable(f"{inbox} cannot be created: {error}", hint="Create it yourself.") from error


def _write_settings(file: Path, place: LocatedWorkspace, settled: _Settled) -> None:
    import yaml

    section = {"inbox_file": settled.inbox.path}
    if settled.root:
        section = {"root_file": settled.root.path, **section}
    body = yaml.safe_dump({"vault": section}, allow_unicode=True, sort_keys=False)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"# Settings for {place.vault}. `infold init --force` writes this file anew.\n"
            f"# `infold config` shows every setting with its value and where it comes from.\n{body}",
            encoding="utf-8",
        )
    except OSError as error:
        raise StateUnwritable(
            f"{file} cannot be written: {error}", hint="Name another state folder with --state."
        ) from error

"""`infold demo`: the whole job on a copy of a small vault, in a few seconds."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from infold.cli.integrate import show_result
from infold.cli.options import Call, placeless_command
from infold.cli.running import RunnerOption, carry_out
from infold.errors import StateUnwritable, UsageError
from infold.locate import WorkspaceRequest
from infold.operations.inbox import InboxIntegrateAnswer, InboxIntegrateRequest


class DemoAnswer(InboxIntegrateAnswer):
    """What was done, and where the copy lies."""

    vault: str
    state: str


@placeless_command
def demo(
    call: Call,
    *,
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the copy goes. Else a new temporary folder.")
    ] = None,
) -> int:
    """Fold a demo inbox into a copy of a demo vault. Nothing of yours is touched, no key and no network are needed."""
    terminal = call.terminal
    wanted = _copied(into)
    terminal.say(f"infold demo: a small vault and its inbox, copied to {wanted.vault}", style="bold")
    with Call(terminal, wanted).vault(integrate__quiet_seconds=0) as vault:
        done = carry_out(terminal, vault, InboxIntegrateRequest(), RunnerOption.DIRECT)
        if terminal.is_json:
            space = vault.workspace
            terminal.emit(DemoAnswer.of(done, vault=str(space.vault), state=str(space.state)).as_json())
        else:
            show_result(terminal, vault, done, wanted)
    return 0  # the paragraph that fits nowhere is part of the show


def _copied(into: Path | None) -> WorkspaceRequest:
    """A fresh copy of the demo vault, its state beside it."""
    if into is not None and into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise UsageError(f"{into} is there already and not empty.", hint="Name a new folder with --into.")
    try:
        folder = into or Path(tempfile.mkdtemp(prefix="infold-demo-"))
        with ExitStack() as stack:
            shutil.copytree(_source(stack), folder / "vault")
    except OSError as error:
        raise StateUnwritable(
            f"The demo vault cannot be copied: {error}", hint="Name a folder you can write with --into DIR."
        ) from error
    return WorkspaceRequest(vault=folder / "vault", state=folder / "state")


def _source(stack: ExitStack) -> Path:
    """The demo vault: inside the installed package, or in the repository that this package is run from."""
    packaged = resources.files("infold") / "demo" / "vault"
    if packaged.is_dir():
        return stack.enter_context(resources.as_file(packaged))
    return Path(__file__).resolve().parents[3] / "data" / "vault"

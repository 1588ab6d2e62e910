"""`infold flows`: the same steps as Prefect flows."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command

if TYPE_CHECKING:
    from flows.schedule_check import Scheduled
    from flows.serve import Served
    from infold.cli.terminal import Terminal

DEFAULT_PORT = 4200


@command
def up(
    call: Call,
    *,
    port: Annotated[
        int, typer.Option(metavar="N", min=1, max=65535, help="The port of the server, on this machine only.")
    ] = DEFAULT_PORT,
    cron: Annotated[
        str | None,
        typer.Option(
            metavar="FIELDS",
            help="Integrate the inbox on this schedule, such as '0 6 * * *', local time. Else schedules.integrate.",
        ),
    ] = None,
) -> int:
    """Start a local Prefect server with its UI, and serve the flows of this vault until Ctrl-C.

    The server is yours alone: its page asks for a password, which is made once and kept in the state folder. When each
    flow runs is set in the section `schedules`. While it is up, `infold integrate` runs through it unless you say
    `--runner direct`.
    """
    from flows.serve import serve_flows

    place = call.place(schedules__integrate=cron)
    terminal = call.terminal
    terminal.notice("Starting the Prefect server, which takes some 15 seconds ...")

    def ready(served: Served) -> None:
        if terminal.is_json:
            terminal.emit(
                {
                    "page": served.page,
                    "apiUrl": served.api_url,
                    "passwordFile": str(served.password_file),
                    "log": str(served.log),
                    "schedules": {each.flow: each.cron for each in served.flows},
                }
            )
        terminal.say(f"UI     {served.page}", style="bold")
        terminal.say(f"       it asks once for the line in {served.password_file}")
        terminal.say(f"vault  {place.vault}")
        terminal.say(f"log    {served.log}")
        for each in served.flows:
            terminal.say(f"runs   {each.flow}: {each.cron or 'when started by hand'}")
        terminal.say("Ctrl-C ends it.")

    serve_flows(place.workspace, port=port, ready=ready, warn=lambda said: _warn(terminal, said))
    return 0


def _warn(terminal: Terminal, sentence: str) -> None:
    terminal.notice(f"! {sentence}", style="bold red")


def next_runs(flows: list[Scheduled]) -> str:
    """The next run of each scheduled flow, in one phrase."""
    planned = [(each.next_run, each.flow) for each in flows if each.next_run is not None]
    return ", ".join(f"{flow} {datetime.fromtimestamp(at).astimezone():%a %H:%M}" for at, flow in sorted(planned))

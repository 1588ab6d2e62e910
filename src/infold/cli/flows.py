"""`infold flows`: the same steps as Prefect flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command

if TYPE_CHECKING:
    from flows.serve import Served

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
        typer.Option(metavar="FIELDS", help="Integrate the inbox on this schedule, such as '0 6 * * *', local time."),
    ] = None,
) -> int:
    """Start a local Prefect server with its UI, and serve the flows of this vault until Ctrl-C.

    While it is up, `infold integrate` runs through it unless you say `--runner direct`.
    """
    from flows.serve import serve_flows

    place = call.place()
    terminal = call.terminal
    terminal.notice("Starting the Prefect server, which takes some 15 seconds ...")

    def ready(served: Served) -> None:
        if terminal.is_json:
            terminal.emit({"page": served.page, "api_url": served.api_url, "log": str(served.log)})
        terminal.say(f"UI    {served.page}", style="bold")
        terminal.say(f"vault {place.vault}")
        terminal.say(f"log   {served.log}")
        for name, cron_fields in (
            ("integrate", cron),
            ("sessions", place.params.notebook.sessions_cron),
            ("daily summary", place.params.notebook.summary_cron),
            ("memory", place.params.docmem.cron),
        ):
            terminal.say(f"cron  {name}: {cron_fields or 'never'}")
        terminal.say("Ctrl-C ends it.")

    serve_flows(place.workspace, port=port, cron=cron, ready=ready)
    return 0

"""`infold flows`: the same steps as Prefect flows."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="Run the steps as Prefect flows: schedule, retries, a UI.")


@app.command("up")
def up() -> int:
    """Start a local Prefect server with its UI, and serve the flows."""
    return 0

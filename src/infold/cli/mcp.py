"""`infold mcp`: the vault as tools for agents, and the entry for it in a client's settings."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command, placeless_command
from infold.cli.resident import serving
from infold.environment import Environment
from infold.errors import EnvironmentFault, UsageError
from infold.mcp.clients import CLIENTS, entry, find_client, with_entry

if TYPE_CHECKING:
    from infold.operations.tool_choice import ToolChoice

_SETS = "memory, inbox, docmem, knowledge, navigator, vault, evaluation or all"
ToolsOption = Annotated[
    list[str] | None,
    typer.Option("--tools", metavar="SET", help=f"Offer only these: {_SETS}; may be repeated. Else all."),
]
PrefixOption = Annotated[
    str, typer.Option("--prefix", metavar="TEXT", help="Put TEXT before each tool's name, such as notes_.")
]
ReadOnlyOption = Annotated[
    bool, typer.Option("--read-only", metavar="", help="Offer only tools that leave every note as it is.")
]
RemoveOption = Annotated[bool, typer.Option("--remove", metavar="", help="Take the entry out again.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Write without asking.")]


@command
def serve(
    call: Call,
    *,
    tools: ToolsOption = None,
    prefix: PrefixOption = "",
    read_only: ReadOnlyOption = False,
    http: Annotated[bool, typer.Option("--http", metavar="", help="Serve streamable HTTP instead of stdin.")] = False,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where HTTP listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="The port of HTTP.")] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="What HTTP clients must show as a bearer, else INFOLD_MCP_TOKEN. This machine needs none.",
        ),
    ] = None,
) -> int:
    """Serve the vault to an agent over the Model Context Protocol, on stdin and stdout unless --http is given.

    It answers at once; the index is brought up to date behind. `infold mcp install CLIENT` writes the entry that starts
    it into a client's settings.
    """
    face, choice = _loaded(tools, prefix, read_only=read_only)
    with call.vault() as vault, serving(vault):
        if not http:
            face.serve_stdio(vault, choice)
            return 0
        app = face.http_app(vault, choice, host=host, token=token or Environment().get("INFOLD_MCP_TOKEN"))
        from infold.http.server import serve as serve_http

        call.terminal.notice(f"Serving http://{host}:{port}/mcp. Ctrl-C ends it.")
        serve_http(app, host=host, port=port)
    return 0


@command
def install(
    call: Call,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="Such as claude-code, cursor, vscode.")],
    *,
    tools: ToolsOption = None,
    prefix: PrefixOption = "",
    read_only: ReadOnlyOption = False,
    remove: RemoveOption = False,
    yes: YesOption = False,
) -> int:
    """Write the entry for this vault into a client's settings. What would change is shown first.

    The settings as they were are kept beside them; --remove takes the entry out again.
    """
    known = find_client(client)
    place = call.place()
    arguments = [part for name in tools or () for part in ("--tools", name)]
    arguments += ["--prefix", prefix] if prefix else []
    arguments += ["--read-only"] if read_only else []
    change = with_entry(known, None if remove else entry(place.workspace.vault, place.workspace.state, arguments))
    answer = {"client": known.name, "file": str(change.file), "diff": change.diff(), "written": False}
    if not change.is_needed:
        call.terminal.notice(f"{change.file} is as it should be; nothing to do.")
    else:
        call.terminal.notice(change.diff())
        if yes or _confirmed():
            change.write()
            answer["written"] = True
            call.terminal.notice(f"Written. Start {known.title} anew to take it up.")
        else:
            call.terminal.notice("Nothing was written; --yes writes it.")
    if call.terminal.is_json:
        call.terminal.emit(answer)
    return 0


@placeless_command
def clients(call: Call) -> int:
    """List the clients that `infold mcp install` knows, and where their settings lie."""
    rows = [{"name": each.name, "title": each.title, "file": str(each.settings())} for each in CLIENTS.values()]
    if call.terminal.is_json:
        call.terminal.emit({"clients": rows})
    else:
        for row in rows:
            sys.stdout.write(f"{row['name']:16} {row['title']:16} {row['file']}\n")
    return 0


def _confirmed() -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm("Write this?", err=True)


def _loaded(tools: list[str] | None, prefix: str, *, read_only: bool) -> tuple[ModuleType, ToolChoice]:
    """The module that serves, and what is offered. Raises EnvironmentFault where the library is missing."""
    try:
        from infold.mcp import serving
    except ModuleNotFoundError as error:
        if error.name not in ("mcp", "mcp_types", "anyio"):
            raise
        raise EnvironmentFault(
            "The MCP server needs a library that is not installed.", hint="Install infold with its extra: infold[mcp]."
        ) from error
    from infold.operations.tool_choice import ToolChoice

    if prefix and not prefix.replace("_", "").replace("-", "").isalnum():
        raise UsageError(f"--prefix {prefix!r} has signs that tools' names cannot have.", hint="Use a-z, 0-9 and _.")
    groups = tuple(name for given in tools or ("all",) for name in given.split(",") if name.strip())
    return serving, ToolChoice(groups, prefix, is_read_only=read_only)

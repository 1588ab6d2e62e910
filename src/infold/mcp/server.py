"""The server: tools from the table of operations, resources and prompts, over the official SDK.

It answers at once and brings the index up to date behind; an operation works in a thread, under a time limit, and says
how far it is. Transports belong to `infold.mcp.serving`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from infold import __version__
from infold.app import OpenVault
from infold.errors import IndexFault, InfoldError, UsageError
from infold.mcp.prompts import prompt_text, prompts
from infold.mcp.resources import list_resources, read_resource, templates
from infold.mcp.tool_list import ListedTool, offered_tools
from infold.mcp.warm_up import WarmUp
from infold.operations.arguments import read_arguments
from infold.operations.audit import asked_by
from infold.operations.contract import Face
from infold.operations.instructions import instructions
from infold.operations.schemas import without_nulls
from infold.operations.spending_rate import SpendingRate
from infold.operations.table import Operation
from infold.operations.tool_choice import ToolChoice, called

_log: Final = logging.getLogger(__name__)

CallContext = ServerRequestContext[Any, Any]

INDEX_WAIT_SECONDS: Final = 2.0
TIME_LIMIT_SECONDS: Final = 60.0
LONG_TIME_LIMIT_SECONDS: Final = 1800.0


def build_server(vault: OpenVault, choice: ToolChoice, warm_up: WarmUp | None = None) -> Server[Any]:
    """A server of this vault's operations. Raises UsageError for a set of tools there is not."""
    face = _ServerFace(vault, choice, warm_up)
    return Server(
        "infold",
        version=__version__,
        title="infold",
        instructions=instructions(vault, choice.prefix),
        get_tool_input_schema=face.input_schema,
        on_list_tools=face.list_tools,
        on_call_tool=face.call_tool,
        on_list_resources=face.list_resources,
        on_list_resource_templates=face.list_templates,
        on_read_resource=face.read_resource,
        on_list_prompts=face.list_prompts,
        on_get_prompt=face.get_prompt,
    )


class _ServerFace:
    """The handlers."""

    def __init__(self, vault: OpenVault, choice: ToolChoice, warm_up: WarmUp | None) -> None:
        self._vault = vault
        choice.wanted()  # what is wrong with it is said at once
        self._choice = choice
        self._warm_up = warm_up
        self._rate = SpendingRate()

    @cached_property
    def _offered(self) -> dict[str, ListedTool]:
        """The tools by their names; an operation is loaded when it is called first."""
        return offered_tools(self._choice)

    @cached_property
    def _names(self) -> dict[str, str]:
        return {each.name: name for name, each in self._offered.items()}

    async def list_tools(self, _: CallContext, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Every tool that is offered. Made once: each client asks for the list before its first call."""
        return self._listed

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """What the SDK holds a call's headers to. Not told, it would make the whole list for each call over HTTP."""
        found = self._offered.get(name)
        return found.listed["inputSchema"] if found is not None else None

    @cached_property
    def _listed(self) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[each.tool(name) for name, each in self._offered.items()])

    async def call_tool(self, context: CallContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        """What the operation answers; what went wrong, and what to do, as an answer too: the agent can act on it."""
        try:
            operation = called(params.name, self._offered).operation()
            request = read_arguments(operation, params.arguments)
            self._rate.admit(operation)
            if self._warm_up is not None and IndexFault in operation.errors:
                told = await asyncio.to_thread(self._warm_up.wait, INDEX_WAIT_SECONDS)
                if told:
                    return _error(told)
            return _answer(await self._run(context, operation, request))
        except InfoldError as error:
            return _error(f"{error}{f' {error.hint}' if error.hint else ''}")

    async def _run(self, context: CallContext, operation: Operation[Any, Any], request: Any) -> Mapping[str, Any]:
        limit = LONG_TIME_LIMIT_SECONDS if operation.takes_long else TIME_LIMIT_SECONDS
        with self._vault.reporting(_to_client(context)), asked_by(Face.MCP):
            try:
                async with asyncio.timeout(limit):
                    answer = await self._vault.run(operation, request)
            except TimeoutError as error:
                raise UsageError(
                    f"{operation.name} took longer than {limit:.0f} s; it may still end by itself.",
                    hint="Ask for less at once, or ask again later.",
                ) from error
        found: Mapping[str, Any] = answer.as_json()
        return found

    async def list_resources(
        self, _: CallContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Notes and runs, some at a time."""
        return await asyncio.to_thread(list_resources, self._vault, params.cursor if params else None)

    async def list_templates(
        self, _: CallContext, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """How the address of a note or a run is written."""
        return types.ListResourceTemplatesResult(resource_templates=templates())

    async def read_resource(self, _: CallContext, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """A note or the report of a run."""
        with _protocol_errors():
            return await asyncio.to_thread(read_resource, self._vault, str(params.uri))

    async def list_prompts(self, _: CallContext, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """The common jobs."""
        return types.ListPromptsResult(prompts=[prompt.listed() for prompt in prompts(self._names).values()])

    async def get_prompt(self, _: CallContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """One of them, filled in."""
        with _protocol_errors():
            return prompt_text(params.name, params.arguments or {}, self._names)


@contextlib.contextmanager
def _protocol_errors() -> Iterator[None]:
    """An InfoldError as the protocol's own."""
    from mcp.shared.exceptions import MCPError

    try:
        yield
    except InfoldError as error:
        said = f"{error}{f' {error.hint}' if error.hint else ''}"
        raise MCPError(types.INVALID_PARAMS, said) from error


def _answer(found: Mapping[str, Any]) -> types.CallToolResult:
    plain = without_nulls(found)
    text = json.dumps(plain, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=plain)


def _error(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _to_client(context: CallContext) -> Callable[[str, int, int], None]:
    """Progress, from the thread of the work to the client that asked; whether it arrives changes nothing."""
    loop = asyncio.get_running_loop()

    def report(stage: str, done: int, total: int) -> None:
        said = asyncio.run_coroutine_threadsafe(
            context.session.report_progress(done, total or None, f"{stage}: {done} of {total}" if total else stage),
            loop,
        )
        said.add_done_callback(_forgotten)

    return report


def _forgotten(said: Any) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        if said.exception() is not None:
            _log.debug("Progress did not reach the client: %s", said.exception())

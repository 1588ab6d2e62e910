"""What every page has: the vault's operations to ask, and the templates that show their answers."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, select_autoescape

from infold.errors import InfoldError
from infold.operations.audit import asked_by
from infold.operations.contract import Message
from infold.web.markdown_links import page_address

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.operations.table import Operation

ShownT = TypeVar("ShownT", bound=Message)

# The policy of a file that is shown as it is: it may bring a style, and runs and loads nothing.
ALONE: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


class Pages:
    """Pages of one vault; each kind of them is made of this."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault

    async def ask(self, operation: Operation[Any, ShownT], request: Message) -> ShownT:
        """The answer of an operation."""
        with asked_by("page"):
            return await self._vault.run(operation, request)

    def page(self, template: str, /, *, code: int = 200, **values: Any) -> HTMLResponse:
        """A template filled in."""
        text = (
            _templates()
            .get_template(f"{template}.html")
            .render(vault_name=self._vault.workspace.vault.name, page=template, **values)
        )
        return HTMLResponse(text, status_code=code)

    def inbox_text(self) -> str:
        """What waits in the inbox."""
        try:
            return self._vault.workspace.inbox.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


def error_page(vault: OpenVault, error: InfoldError) -> HTMLResponse:
    """An error as a page: what happened, and what to do."""
    return Pages(vault).page("error", code=error.http_status, message=str(error), hint=error.hint)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("infold.web", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"address": page_address, "ago": _ago, "size": _size}
    return made


def _ago(moment: str) -> str:
    """A moment (ISO 8601) as a person says it."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    seconds = (datetime.now(UTC) - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()
    for size, unit in ((86400 * 365, "year"), (86400 * 30, "month"), (86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' * (count != 1)} ago"
    return "just now"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1000:.1f} KB" if size_bytes >= 1000 else f"{size_bytes} bytes"

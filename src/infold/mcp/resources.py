"""Notes and runs as resources: `note:///house/boiler.md`, `run:///2026-11-22-034355-ba47`."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote, urlsplit

import mcp_types as types

from infold.app import OpenVault
from infold.errors import UsageError
from infold.vault.files import decode, read_bytes

_PAGE: Final = 200
_NEWEST_RUNS: Final = 20
_MARKDOWN: Final = "text/markdown"


def templates() -> list[types.ResourceTemplate]:
    """The two kinds."""
    return [
        types.ResourceTemplate(
            uri_template="note:///{+path}", name="note", description="A note, by its path.", mime_type=_MARKDOWN
        ),
        types.ResourceTemplate(
            uri_template="run:///{id}", name="run", description="The report of a run.", mime_type=_MARKDOWN
        ),
    ]


def list_resources(vault: OpenVault, cursor: str | None) -> types.ListResourcesResult:
    """The notes in the order of their paths, a page at a time; before the first, the newest runs."""
    start = int(cursor) if cursor and cursor.isdecimal() else 0
    paths = [file.path for file in vault.scanned().files]
    found = [
        types.Resource(uri=f"run:///{run.id}", name=f"run {run.id}", description=str(run.status), mime_type=_MARKDOWN)
        for run in (sorted(vault.runs.list(), key=lambda run: run.id)[-_NEWEST_RUNS:] if start == 0 else ())
    ]
    found += [
        types.Resource(uri=f"note:///{quote(path)}", name=path, mime_type=_MARKDOWN)
        for path in sorted(paths)[start : start + _PAGE]
    ]
    after = start + _PAGE
    return types.ListResourcesResult(resources=found, next_cursor=str(after) if after < len(paths) else None)


def read_resource(vault: OpenVault, uri: str) -> types.ReadResourceResult:
    """The text behind `uri`. Raises UsageError, PathRefused, NoteUnreadable and RunNotFound."""
    parts = urlsplit(uri)
    name = unquote(parts.path.lstrip("/"))
    match parts.scheme:
        case "note":
            data = read_bytes(vault.workspace.vault, name, vault.params.vault.max_note_bytes)
            text = decode(data, name)
        case "run":
            text = _report(vault, name)
        case _:
            raise UsageError(f"There is no resource {uri!r}.", hint="Addresses are note:///PATH and run:///ID.")
    content = types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text)
    return types.ReadResourceResult(contents=[content])


def _report(vault: OpenVault, run_id: str) -> str:
    run = vault.find_run(run_id)
    file = vault.runs.path(run.id) / "report.md"
    if not file.is_file():
        raise UsageError(f"Run {run.id} has no report.", hint="run_show tells what it did.")
    return file.read_text(encoding="utf-8")

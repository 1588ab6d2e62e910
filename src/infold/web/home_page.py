"""The first page: the cards of spec 3, 8.1, what waits in the inbox, and what was done lately."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import nlargest
from typing import Final

from fastapi.responses import Response

from infold.inbox.paragraphs import read_paragraphs
from infold.operations.inbox import RunListRequest, run_list
from infold.vault.daily_notes import daily_notes
from infold.vault.scanning import FileStat
from infold.web.rendering import Pages

_FOLDERS: Final = 12
_NAMES: Final = 3
_RUNS: Final = 5


@dataclass(frozen=True, slots=True)
class FolderCard:
    """A folder at the top of the vault: how many notes are in it, and the newest of them."""

    path: str
    notes: int
    newest: tuple[str, ...]
    at: str


class HomePage(Pages):
    """What there is, at one look."""

    async def home(self) -> Response:
        """The cards: folders with what is in them, the inbox, the newest changes."""
        space = self._vault.workspace
        cards, top = await asyncio.to_thread(lambda: _folders(self._vault.scanned().files))
        runs = await self.ask(run_list, RunListRequest(limit=_RUNS))
        waiting = await asyncio.to_thread(read_paragraphs, space)
        today = daily_notes(space.vault, space.params.notebook).path(datetime.now().astimezone())
        return self.page(
            "home",
            folders=cards[:_FOLDERS],
            more=len(cards) - _FOLDERS,
            top=top,
            runs=runs.runs,
            waiting=waiting,
            today=today,
        )


def _folders(files: Iterable[FileStat]) -> tuple[list[FolderCard], int]:
    """The folders at the top of the vault, and how many notes lie beside them."""
    inside: dict[str, list[FileStat]] = {}
    for file in files:
        folder, slash, _ = file.path.partition("/")
        inside.setdefault(folder if slash else "", []).append(file)
    top = len(inside.pop("", []))
    return [_card(folder, files) for folder, files in sorted(inside.items())], top


def _card(folder: str, files: list[FileStat]) -> FolderCard:
    newest = nlargest(_NAMES, files, key=lambda file: file.mtime_ns)
    names = tuple(file.path.rpartition("/")[2].removesuffix(".md") for file in newest)
    at = datetime.fromtimestamp(newest[0].mtime_ns / 1e9, UTC).isoformat(timespec="seconds")
    return FolderCard(folder, len(files), names, at)

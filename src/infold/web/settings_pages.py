"""The page of settings (spec 3, 8.5): the index, its storage, the settings in force, and the harmless ones to set."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from infold.errors import InfoldError, SettingInvalid
from infold.operations.vault import VaultStatusRequest, vault_status
from infold.place import PARAMS_FILE
from infold.settings import Params
from infold.settings_file import change_setting, said_in
from infold.vault.daily_notes import daily_notes
from infold.web.rendering import Pages

if TYPE_CHECKING:
    from infold.app import OpenVault

# What a page may change: nothing that names a place, asks a model, or reaches outside.
EDITABLE: Final[Mapping[str, str]] = {
    "search.max_results": "results of a search, all groups together",
    "search.min_score": "a weaker result is not shown",
    "search.language": "auto tells each note's; else one Snowball name, such as german",
    "search.sync_on_search": "notes that changed are indexed before a search",
    "notebook.repeat_seconds": "the same log entry again within this time is one entry",
    "notebook.context_days": "daily logs that an agent always has",
    "notebook.context_file_characters": "of one file in its context",
    "notebook.context_total_characters": "of all reference files in its context",
    "docmem.summarise": "auto, or only by hand",
    "docmem.summarise_after": "memories without a summary, beyond which the oldest are folded",
    "docmem.summarise_run": "memories under one summary",
    "docmem.keep_recent": "latest memories that stay as they are",
    "integrate.quiet_seconds": "a note changed less than this ago waits",
    "integrate.plan_days": "an older plan is applied only anew",
    "watch.debounce_seconds": "quiet time before a changed note is indexed",
    "watch.inbox_rest_seconds": "how long it must rest unchanged",
    "knowledge.sync_to": "what is made of a source: a note, or text in the inbox",
    "research.watch_days": "a watched source not looked at for this long is stale",
    "librarian.max_usd": "hard cap of a run in dollars; empty is none",
    "librarian.max_usd_per_day": "of all runs of a day in dollars; empty is none",
    "librarian.max_tokens": "hard cap of a run in tokens; empty is none",
    "librarian.max_tokens_per_day": "of all runs of a day in tokens; empty is none",
}
_Field = Annotated[str, Form()]


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting on the page: its value now, what it may be (empty: a number or a word), where it comes from."""

    name: str
    words: str
    value: Any
    choices: tuple[str, ...]
    is_number: bool
    origin: str


class SettingsPages(Pages):
    """How the vault's index stands, and how infold is set."""

    async def settings(self, saved: str = "", failed: InfoldError | None = None) -> Response:
        """Index, storage, places and settings; after a change, what has to be known of it."""
        status = await self.ask(vault_status, VaultStatusRequest(settings=False))
        values = {
            "status": status,
            "storage": await asyncio.to_thread(self._storage),
            "shown": await asyncio.to_thread(self._shown),
            "params": self._vault.params,
            "file": self._file(),
            "prefect": await asyncio.to_thread(self._prefect_page),
        }
        said = f"{saved} is written. What starts from now on has it; this server, when it is started again."
        code = failed.http_status if failed else 200
        return self.page("settings", code=code, notice=said if saved in EDITABLE else "", failed=failed, **values)

    async def change(self, name: str, value: str) -> Response:
        """Writes one setting."""
        try:
            if name not in EDITABLE:
                raise SettingInvalid(f"{name} is not changed from a page.", hint=f"Write it into {self._file()}.")
            await asyncio.to_thread(change_setting, self._file(), name, self._written(name, value.strip()))
        except InfoldError as error:
            return await self.settings(failed=error)
        return RedirectResponse(f"/settings?saved={name}", status_code=303)

    def _file(self) -> Path:
        """The file that is in force, else one in the state folder, where it will be looked for."""
        return self._vault.located.params_file or self._vault.workspace.state / PARAMS_FILE

    def _written(self, name: str, value: str) -> str:
        """What was typed, as YAML has it on the right of a colon: a word in quotes, whatever YAML takes it for."""
        is_word = _kind(self._vault.params, name) is str
        return json.dumps(value, ensure_ascii=False) if is_word else " ".join(value.split()) or "null"

    def _shown(self) -> dict[str, list[Shown]]:
        found: dict[str, list[Shown]] = {}
        said = said_in(self._vault.located.params_file)
        for name, words in EDITABLE.items():
            section, _, key = name.partition(".")
            kind = _kind(self._vault.params, name)
            choices = get_args(kind) if get_origin(kind) is Literal else ("true", "false") if kind is bool else ()
            value = getattr(getattr(self._vault.params, section), key)
            shown = "" if value is None else str(value).lower() if isinstance(value, bool) else value
            is_default = value == getattr(getattr(Params(), section), key)
            origin = "file" if name in said and said[name] == value else "default" if is_default else "given"
            is_number = kind is not str and not choices
            found.setdefault(section, []).append(Shown(name, words, shown, choices, is_number, origin))
        return found

    def _storage(self) -> dict[str, tuple[int, int]]:
        """Of the notebook and of the daily logs: how many files, and how many bytes."""
        space = self._vault.workspace
        days = daily_notes(space.vault, space.params.notebook)
        sizes: dict[bool, list[int]] = {False: [], True: []}
        for file in self._vault.scanned().files:
            sizes[days.day(file.path) is not None].append(file.size)
        named = {"Notebook": sizes[False], "Daily logs": sizes[True]}
        return {name: (len(found), sum(found)) for name, found in named.items()}

    def _prefect_page(self) -> str | None:
        """Where the Prefect server of this vault has its pages, where one is up."""
        from flows.runner import choose_runner

        return choose_runner("auto", self._vault.workspace).page


def _kind(params: Any, name: str) -> Any:
    section, _, key = name.partition(".")
    return type(getattr(params, section)).model_fields[key].annotation


def add_settings_pages(router: APIRouter, vault: OpenVault) -> None:
    """Their address."""
    pages = SettingsPages(vault)

    @router.get("/settings")
    async def settings(saved: str = "") -> Response:
        return await pages.settings(saved)

    @router.post("/settings")
    async def change(name: _Field, value: _Field = "") -> Response:
        return await pages.change(name, value)

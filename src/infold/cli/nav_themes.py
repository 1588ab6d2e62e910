"""`infold nav themes`, `infold nav name-themes`: what the imported notes are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.nav_options import (
    NavigatorFolderOption,
    show_indented,
)
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.cli.spending import TokenOption, TokensOption, UsdOption, quoted
from infold.operations import navigator_themes
from infold.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infold.cli.terminal import Terminal

NavigatorLevelOption = Annotated[
    int, typer.Option("--level", metavar="1-3", min=1, max=3, help="1: a few broad themes; 3: many fine ones.")
]


@command
def themes(
    call: Call,
    *,
    level: NavigatorLevelOption = 1,
    folder: NavigatorFolderOption = "",
) -> int:
    """Show what the imported notes are about: themes, their notes, how they grew, what is near."""
    with call.vault() as vault:
        answer = navigator_themes.themes(
            vault, navigator_themes.ThemesRequest.model_validate({"level": level, "folder": folder})
        )
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    _show_themes(call.terminal, answer.themes, answer.notice)
    return 0


@command
def name_themes(
    call: Call,
    *,
    level: NavigatorLevelOption = 1,
    folder: NavigatorFolderOption = "",
    token: TokenOption = None,
    max_usd: UsdOption = None,
    max_tokens: TokensOption = None,
) -> int:
    """Name the themes, and say what each is about; `themes` shows that from then on.

    With a model the estimate is shown first; --token, --max-usd or --max-tokens agrees to it.
    """
    given = {"level": level, "folder": folder, "token": token, "max_usd": max_usd, "max_tokens": max_tokens}
    with Stages(call.terminal) as stages, call.vault(stages) as vault:
        answer = navigator_themes.name_themes(vault, navigator_themes.NameThemesRequest.model_validate(given))
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    elif answer.quote is not None:
        call.terminal.say(quoted(answer.quote))
    else:
        _show_themes(call.terminal, answer.themes, answer.notice)
        call.terminal.say(f"{answer.named} named now; {answer.usage}.", style="dim")
    return 0


def _show_themes(terminal: Terminal, themes: Sequence[navigator_themes.ThemeInfo], notice: str) -> None:
    for theme in themes:
        trend = f", {theme.trend}" if theme.trend else ""
        terminal.say(f"{theme.name}  ({counted(theme.notes, 'note')}{trend})", style="bold")
        if theme.summary:
            show_indented(terminal, theme.summary, 2)
        for path in theme.representatives[:3]:
            terminal.say(f"  {path}")
        for each in theme.connections:
            links = f", {counted(each.links, 'link')}" if each.links else ""
            show_indented(terminal, f"near: {each.name}{links}, by {', '.join(each.notes)}", 2, "dim")
    if notice:
        terminal.notice(notice)

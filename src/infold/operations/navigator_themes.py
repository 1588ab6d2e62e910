"""What the imported notes are about: themes at several zoom levels, and the map of them (spec 5, Queries)."""

from __future__ import annotations

from typing import Literal

from infold.app import OpenVault
from infold.errors import LibrarianFault
from infold.librarian.spend import Usage
from infold.operations.contract import Effect, Face, Group, Message
from infold.operations.navigator import NAVIGATOR_ERRORS, NOTHING_IMPORTED, weakest_trust
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation


class ThemesRequest(Message):
    """How fine, and where."""

    level: Literal[1, 2, 3] = 1
    """1: a few broad themes; 3: many fine ones."""
    folder: str = ""
    """Only of the notes in this folder."""


class ThemeLink(Message):
    """What connects a theme with another."""

    name: str
    likeness: float
    links: int
    """Links between their notes, either way."""
    notes: tuple[str, ...]
    """The paths of notes that stand between the two."""


class ThemeInfo(Message):
    """A theme of the imported notes."""

    number: int
    """By which the map of the same level names it."""
    name: str
    """As the librarian called it, where it was asked to; else the words it says more than the others."""
    summary: str
    """What its notes are about; empty until name_themes was asked for."""
    terms: tuple[str, ...]
    notes: int
    representatives: tuple[str, ...]
    """The paths of notes that stand for it."""
    trend: str
    """growing, fading or steady over the years, where enough notes have a day."""
    years: dict[str, int]
    connected: tuple[str, ...]
    """The names of the themes nearest to it."""
    connections: tuple[ThemeLink, ...]
    """What connects it with each of these."""
    trust: str
    """vault: a person's own; external: a note that stands for it is from outside, or holds text from there."""


class ThemesAnswer(Message):
    """The themes, the biggest first."""

    themes: tuple[ThemeInfo, ...]
    notice: str


@operation(Group.NAVIGATOR, Effect.READS, takes_long=True, errors=NAVIGATOR_ERRORS)
def themes(vault: OpenVault, request: ThemesRequest) -> ThemesAnswer:
    """Show the main themes of the imported notes: what each is about, its notes, how it grew, what is near it."""
    listed = _listed(vault, request.level, request.folder)
    return ThemesAnswer(themes=listed, notice="" if listed else NOTHING_IMPORTED)


class NameThemesRequest(Spending):
    """Which themes."""

    level: Literal[1, 2, 3] = 1
    """1: a few broad themes; 3: many fine ones."""
    folder: str = ""
    """Only of the notes in this folder."""


class NameThemesAnswer(Message):
    """The themes under their names. With a `quote` none was given yet."""

    themes: tuple[ThemeInfo, ...]
    named: int
    """How many were named now; kept names cost nothing."""
    usage: Usage
    notice: str
    quote: Quote | None = None


@operation(Group.NAVIGATOR, Effect.SPENDS, takes_long=True, errors=(*NAVIGATOR_ERRORS, LibrarianFault))
def name_themes(vault: OpenVault, request: NameThemesRequest) -> NameThemesAnswer:
    """Name the themes of the imported notes, and say in a sentence or two what each is about.

    Names are kept for as long as a theme's notes stay as they are, and `themes` shows them. Where a model would be
    paid, the first answer is an estimate with a token.
    """
    quote = quote_first(
        vault, "name_themes", request, lambda: vault.estimate_theme_names(request.level, request.folder)
    )
    named, usage = 0, Usage()
    if quote is None:
        space = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
        named, usage = vault.name_themes(request.level, request.folder, space)
    listed = _listed(vault, request.level, request.folder)
    notice = "" if listed else NOTHING_IMPORTED
    return NameThemesAnswer(themes=listed, named=named, usage=usage, notice=notice, quote=quote)


def _listed(vault: OpenVault, level: int, folder: str) -> tuple[ThemeInfo, ...]:
    found = vault.themes(level, folder)
    bridges = [bridge for theme in found for each in theme.connected for bridge in each.bridges]
    shown = [node_id for theme in found for node_id in theme.representatives]
    nodes = vault.navigator_store.nodes([*shown, *bridges])
    trusts = vault.navigator_store.trusts(list(nodes.values()))
    return tuple(
        ThemeInfo.of(
            theme,
            trust=weakest_trust(trusts.get(each, "") for each in theme.representatives),
            notes=len(theme.nodes),
            representatives=tuple(nodes[each].path for each in theme.representatives if each in nodes),
            connected=tuple(found[each.theme].name for each in theme.connected),
            connections=tuple(
                ThemeLink.of(
                    each,
                    name=found[each.theme].name,
                    notes=tuple(nodes[bridge].path for bridge in each.bridges if bridge in nodes),
                )
                for each in theme.connected
            ),
            years=dict(theme.years),
        )
        for theme in found
    )


class PlacedNote(Message):
    """A note on the map."""

    node: str
    path: str
    title: str
    x: float
    y: float
    theme: int


class ThemeMapRequest(Message):
    """Whose themes."""

    level: Literal[1, 2, 3] = 1
    """Of a few broad themes (1) or many fine ones (3); the places are the same."""


class ThemeMapAnswer(Message):
    """Each imported note in two dimensions: what is alike stands together, and stays where it was."""

    notes: tuple[PlacedNote, ...]


@operation(
    Group.NAVIGATOR,
    Effect.READS,
    takes_long=True,
    errors=NAVIGATOR_ERRORS,
    not_in={Face.CLI: "places on a map are for faces that draw; a terminal does not"},
)
def theme_map(vault: OpenVault, request: ThemeMapRequest) -> ThemeMapAnswer:
    """Get the map of the imported notes: coordinates from -1 to 1, and the number of each note's theme."""
    return ThemeMapAnswer(notes=tuple(PlacedNote.of(place) for place in vault.theme_map(request.level)))

"""The calls that a plan of a question names, made: each a look into the vault that gives text with its places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from infold.agent.ask import MOST_CHARACTERS, MOST_TEXTS
from infold.app import OpenVault
from infold.errors import NodeUnknown, SettingInvalid
from infold.librarian.questions import Finder, FoundText, PlannedCall
from infold.operations import navigator, navigator_themes
from infold.operations.memory import MemoryGetRequest, MemorySearchRequest, memory_get, memory_search

CANNOT_LOOK: Final = (NodeUnknown, SettingInvalid)  # such as: nothing is imported, search is without embeddings
_SAID: Final = 6  # results of one look
_LINE_END: Final = "\n"


class PlannedCalls:
    """Makes planned calls for one caller; counts what they gave, and keeps why one could not be made."""

    def __init__(self, vault: OpenVault, caller: str) -> None:
        self._vault, self._caller = vault, caller
        self.counts: list[int] = []
        self.notices: list[str] = []

    def __call__(self, call: PlannedCall) -> Sequence[FoundText]:
        """What one call finds, as text with its places."""
        if call.folder:
            call = call.model_copy(update={"folder": self._folder(call.folder)})
        try:
            found = _LOOKS[call.find](self, call)
        except CANNOT_LOOK as error:
            self.notices.append(f"{call.find}: {error} {error.hint}".strip())
            found = []
        self.counts.append(len(found))
        return found

    def search(self, call: PlannedCall) -> list[FoundText]:
        """Passages by words and meaning."""
        paths = (call.folder,) if call.folder else ()
        answer = memory_search(
            self._vault,
            MemorySearchRequest(query=call.query, paths=paths, max_results=_SAID, tags=tuple(call.tags), **_days(call)),
        )
        self.notices += answer.notices
        results = [each for group in answer.results.values() for each in group]
        return [
            self._text(each.file_path, lines.start, lines.end, each.trust)
            for each in results
            for lines in (each.lines, *(place.lines for place in each.more))
        ]

    def explore(self, call: PlannedCall) -> list[FoundText]:
        """Nodes by likeness; they become the centre."""
        request = navigator.ExploreRequest(query=call.query, **self._narrowed(call))
        return self._nodes(navigator.explore(self._vault, request))

    def move(self, call: PlannedCall) -> list[FoundText]:
        """What is nearest to the centre."""
        return self._nodes(navigator.move(self._vault, navigator.MoveRequest(**self._narrowed(call))))

    def zoom_in(self, call: PlannedCall) -> list[FoundText]:  # noqa: ARG002 - the signature of all looks
        """What the centre is made of."""
        return self._nodes(navigator.zoom_in(self._vault, navigator.NodeRequest(caller=self._caller)))

    def zoom_out(self, call: PlannedCall) -> list[FoundText]:  # noqa: ARG002
        """What the centre is a part of."""
        return self._nodes(navigator.zoom_out(self._vault, navigator.NodeRequest(caller=self._caller)))

    def follow_link(self, call: PlannedCall) -> list[FoundText]:  # noqa: ARG002
        """What the centre links to, and what links to it."""
        return self._nodes(navigator.follow_link(self._vault, navigator.FollowLinkRequest(caller=self._caller)))

    def themes(self, call: PlannedCall) -> list[FoundText]:
        """The themes, each by a note that stands for it."""
        answer = navigator_themes.themes(self._vault, navigator_themes.ThemesRequest(level=call.level))
        self.notices += [answer.notice] if answer.notice else []
        found: list[FoundText] = []
        for theme in answer.themes[:MOST_TEXTS]:
            trend = f", {theme.trend}" if theme.trend else ""
            about = f"Theme {theme.name} ({theme.notes} notes{trend})"
            text = next((self._text(path, 1, None) for path in theme.representatives), None)
            found += [FoundText(text.place, text.text, text.trust, about)] if text else []
        return found

    def _folder(self, name: str) -> str:
        """The folder that is called so in a question, whatever its case; the deepest name of its path will do."""
        wanted = name.strip("/").casefold()
        with self._vault.catalogued() as catalogue:
            inside = {path.rpartition("/")[0] for path in catalogue.paths()}
        folders = {str(folder) for each in inside for folder in (PurePosixPath(each), *PurePosixPath(each).parents)}
        named = [each for each in sorted(folders) if f"/{each.casefold()}".endswith(f"/{wanted}")]
        if not named:
            self.notices.append(f"There is no folder {name!r}.")
        return min(named, key=len, default=name)

    def _narrowed(self, call: PlannedCall) -> dict[str, Any]:
        return {"caller": self._caller, "tags": tuple(call.tags), "folder": call.folder, "limit": _SAID, **_days(call)}

    def _nodes(self, answer: navigator.NodesAnswer) -> list[FoundText]:
        self.notices += [answer.notice] if answer.notice else []
        return [self._text(node.path, node.start_line, node.end_line) for node in answer.nodes[:MOST_TEXTS]]

    def _text(self, path: str, first: int, last: int | None, trust: str | None = None) -> FoundText:
        """The lines of a note, as many as may be shown, without blank ones at the end; the place names just these."""
        where = f"{path}:{first}-{last}" if last is not None else path
        portion = self._vault.get(where)
        text = _cut(portion.text.rstrip())
        is_by_line = last is None or portion.lines == last - first + 1  # not so of what was said in a session
        place = f"{path}:{first}-{first + text.count(_LINE_END)}" if is_by_line else where
        return FoundText(place, text, trust or memory_get(self._vault, MemoryGetRequest(path=path)).trust)


def _cut(text: str) -> str:
    """Whole lines that fit; of one that is longer its beginning."""
    if len(text) <= MOST_CHARACTERS:
        return text
    shown = text[:MOST_CHARACTERS]
    return shown[: shown.rfind(_LINE_END)] if _LINE_END in shown else shown


def _days(call: PlannedCall) -> dict[str, str | None]:
    return {
        "since": call.since.isoformat() if call.since else None,
        "until": call.until.isoformat() if call.until else None,
    }


_LOOKS: Final[Mapping[Finder, Callable[[PlannedCalls, PlannedCall], list[FoundText]]]] = {
    "search": PlannedCalls.search,
    "explore": PlannedCalls.explore,
    "move": PlannedCalls.move,
    "zoom_in": PlannedCalls.zoom_in,
    "zoom_out": PlannedCalls.zoom_out,
    "follow_link": PlannedCalls.follow_link,
    "themes": PlannedCalls.themes,
}

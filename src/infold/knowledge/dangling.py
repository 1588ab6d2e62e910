"""Links to nothing: what they say, which notes say so, and the note whose name comes nearest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from infold.vault.names import folded, stem

_NEAREST_PERCENT = 70  # of the letters that have to agree


@dataclass(frozen=True, slots=True)
class DanglingLink:
    """A link that leads to no note: what it says, which notes say so, and the note whose name comes nearest."""

    target: str
    sources: tuple[str, ...]
    nearest: str | None


class DanglingLinks:
    """What links say that lead nowhere, by the note that says so; targets that differ in case only are one."""

    def __init__(self, by_source: Mapping[str, Iterable[str]]) -> None:
        self._sources: dict[str, dict[str, None]] = {}
        self._shown: dict[str, Counter[str]] = {}
        for path, targets in by_source.items():
            for target in dict.fromkeys(targets):
                form = folded(target)
                self._sources.setdefault(form, {})[path] = None
                self._shown.setdefault(form, Counter())[target] += 1

    def __len__(self) -> int:
        return len(self._sources)

    def first(self, limit: int | None, paths: Iterable[str]) -> list[DanglingLink]:
        """Those most often said, first; each with the nearest of the notes at `paths`."""
        order = sorted(self._sources, key=lambda form: (-len(self._sources[form]), form))[:limit]
        names = {folded(stem(path)): path for path in sorted(paths, reverse=True)}
        nearest = _nearest([folded(stem(form)) for form in order], names)
        return [
            DanglingLink(
                max(self._shown[form], key=lambda text: (self._shown[form][text], text)),
                tuple(self._sources[form]),
                near,
            )
            for form, near in zip(order, nearest, strict=True)
        ]


def _nearest(wanted: Sequence[str], names: Mapping[str, str]) -> list[str | None]:
    """For each name the note whose name comes nearest to it, letter by letter; None where none comes near."""
    from rapidfuzz import fuzz, process

    found = [
        process.extractOne(name, names.keys(), scorer=fuzz.ratio, score_cutoff=_NEAREST_PERCENT) for name in wanted
    ]
    return [names[best[0]] if best is not None else None for best in found]

"""What went wrong, by kind: how often, in which paragraphs, and which setting could change it.

A kind is told by the first step at which the paragraph was lost from its note: never looked at, not opened, not chosen,
put under another heading. What to try is only ever a comparison to run: the figures decide, not this page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from infold.evaluation.cases import COPIES
from infold.evaluation.records import Arm, Verdict
from infold.search.embed.providers import next_rung

EXAMPLES: Final = 3
_STRANGERS_SHARE: Final = 0.3  # of the misses; from here on grouping is named as a cause


@dataclass(frozen=True, slots=True)
class Miss:
    """One paragraph that did not end where it should, and the run it was in."""

    seed: int
    kind: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class MissKind:
    """All misses of one kind. `trials` are settings to compare with."""

    name: str
    title: str
    meaning: str
    misses: tuple[Miss, ...]
    trials: tuple[str, ...]

    @property
    def examples(self) -> tuple[Miss, ...]:
        """A few, of different notes where that can be."""
        by_note = {miss.verdict.path: miss for miss in reversed(self.misses)}
        return tuple(sorted(by_note.values(), key=self.misses.index)[:EXAMPLES])


_Trials = Callable[[Mapping[str, Any]], tuple[str, ...]]


def _setting(section: str, name: str, change: Callable[[Any], Any]) -> _Trials:
    """A setting that a model's answers depend on. The offline librarian's hardly do: it is not worth a trial there."""

    def trial(settings: Mapping[str, Any]) -> tuple[str, ...]:
        if settings.get("librarian", {}).get("kind") == "offline":
            return ()
        now = settings.get(section, {}).get(name)
        if now is None:
            return ()
        then = change(now)
        return () if then == now else (f"{section}.{name}={then}",)

    return trial


def _both(*trials: _Trials) -> _Trials:
    return lambda settings: tuple(found for trial in trials for found in trial(settings))


def _a_model(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return ("librarian.kind=model",) if settings.get("librarian", {}).get("kind") == "offline" else ()


def _nothing(_settings: Mapping[str, Any]) -> tuple[str, ...]:
    return ()


def _better_embeddings(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What the offline librarian finds notes by; a model sees what it finds as candidates."""
    embedding = settings.get("search", {}).get("embedding")
    rung = next_rung(embedding) if embedding else ""
    return (f"search.embedding={rung}",) if rung else ()


_MORE_CANDIDATES: Final = _setting("exploration", "search_candidates", lambda now: max(8, now * 2))
_WIDER_ROUNDS: Final = _setting("exploration", "max_files_viewed_per_round", lambda now: now * 2)
_MORE_OPEN: Final = _setting("exploration", "max_files_checked_out", lambda now: now + 2)
_STRICTER: Final = _setting("editing", "min_duplicate_share", lambda now: round(min(1.0, now + 0.15), 2))
_LOOSER: Final = _setting("editing", "min_duplicate_share", lambda now: round(max(0.0, now - 0.1), 2))
_SMALLER_CHUNKS: Final = _setting("chunking", "max_chunk_words", lambda now: max(100, now // 3))

_KINDS: Final[Mapping[str, tuple[str, str, _Trials]]] = {
    "unseen": (
        "its note was never looked at",
        "Links and search did not lead there, or what else they led to looked better by its summary.",
        _both(_MORE_CANDIDATES, _WIDER_ROUNDS, _better_embeddings, _a_model),
    ),
    "unopened": (
        "its note was looked at, but not opened",
        "The librarian saw the summary and thought another note fits better.",
        _both(_MORE_OPEN, _better_embeddings, _a_model),
    ),
    "outchosen": (
        "its note was open, but another was chosen",
        "The librarian had the right note before it and edited another.",
        _a_model,
    ),
    "heading": (
        "right note, other heading",
        "The note is right; the paragraph stands under another heading than before.",
        _a_model,
    ),
    "left": (
        "left in the inbox with its note open",
        "The librarian had the right note before it and did not dare to edit.",
        _a_model,
    ),
    "taken": (
        "wrongly taken for a duplicate",
        "A quote was taken to cover the paragraph, but says something else.",
        _both(_STRICTER, _a_model),
    ),
    "repeat": (
        "another note says it word for word",
        "Marked as a duplicate of that note. For a reader this is right; it counts as a miss here.",
        _nothing,
    ),
    "copy": (
        "a verbatim copy was not recognised",
        "The text still stands in its note; the copy was not seen to be the same.",
        _both(_MORE_CANDIDATES, _LOOSER, _a_model),
    ),
    "reworded": (
        "a reworded copy was not recognised",
        "Sentences in another order, a clause less, or a note's other name: it went in a second time, or stayed.",
        _both(_LOOSER, _a_model),
    ),
    "missing": ("not accounted for", "The run's record does not name the paragraph. Please report it.", _nothing),
}


def misses(arm: Arm, settings: Mapping[str, Any], measured: Collection[str] = ()) -> tuple[MissKind, ...]:
    """The kinds of misses of an arm, the most frequent first. No trial is one of `measured`: that is known already."""
    found: dict[str, list[Miss]] = {}
    for case in arm.cases:
        for verdict in case.verdicts:
            kind = kind_of(verdict)
            if kind is not None:
                found.setdefault(kind, []).append(Miss(case.seed, kind, verdict))
    order = list(_KINDS)
    return tuple(
        MissKind(kind, _KINDS[kind][0], _KINDS[kind][1], tuple(entries), _untried(_KINDS[kind][2](settings), measured))
        for kind, entries in sorted(found.items(), key=lambda entry: (-len(entry[1]), order.index(entry[0])))
    )


def _untried(trials: tuple[str, ...], measured: Collection[str]) -> tuple[str, ...]:
    return tuple(trial for trial in trials if trial not in measured)


def kind_of(verdict: Verdict) -> str | None:
    """Which kind of miss a verdict is; None where nothing is wrong."""
    if verdict.is_right:
        return None
    if verdict.ending == "missing":
        return "missing"
    if verdict.kind in COPIES:
        return verdict.kind
    special = {"other section": "heading", "false duplicate": "taken", "repeat": "repeat"}.get(verdict.ending)
    if special:
        return special
    if verdict.path in verdict.checked_out:
        return "left" if verdict.ending == "left" else "outchosen"
    return "unopened" if verdict.path in verdict.viewed else "unseen"


def among_strangers(verdict: Verdict) -> bool:
    """It shared its chunk with paragraphs, and all of them came from other notes."""
    return bool(verdict.chunk_mates) and verdict.path not in verdict.chunk_mates


def grouping_trials(
    kinds: tuple[MissKind, ...], settings: Mapping[str, Any], measured: Collection[str] = ()
) -> tuple[int, tuple[str, ...]]:
    """How many misses shared a chunk with strangers alone, and what to try where they are many."""
    everything = [miss for kind in kinds for miss in kind.misses]
    strangers = sum(among_strangers(miss.verdict) for miss in everything)
    is_a_cause = bool(everything) and strangers >= _STRANGERS_SHARE * len(everything)
    return strangers, _untried(_SMALLER_CHUNKS(settings), measured) if is_a_cause else ()


def why(verdict: Verdict) -> str:
    """In one or two sentences: where a paragraph went, and where on its way it lost the note it belongs in."""
    went = {
        "home": f"Back in {verdict.path}",
        "other section": f"Back in {verdict.path}, but under {_trail(verdict.landed)}",
        "elsewhere": f"Went into {verdict.file}, under {_trail(verdict.landed)}",
        "duplicate": f"Recognised as a duplicate of what {verdict.file} says",
        "false duplicate": f"Taken for a duplicate of what {verdict.file} says",
        "repeat": f"{verdict.file} says it word for word",
        "left": f"Stayed in the inbox: {verdict.reason}",
        "missing": "Is not named in the record of the run",
    }[verdict.ending].rstrip(".")
    said = [f"{went}."]
    if not verdict.is_right and verdict.ending not in ("other section", "missing", "repeat"):
        if verdict.path in verdict.checked_out:
            said.append(f"{verdict.path} was open.")
        elif verdict.path in verdict.viewed:
            said.append(f"{verdict.path} was looked at, but not opened.")
        else:
            said.append(f"{verdict.path} was never looked at.")
    if not verdict.is_right and among_strangers(verdict):
        said.append(f"Its chunk held {len(verdict.chunk_mates)} more, all out of other notes.")
    return " ".join(said)


def _trail(trail: tuple[str, ...] | None) -> str:
    return "an unknown place" if trail is None else f"“{' › '.join(trail)}”" if trail else "no heading"

"""A plan by rules: what the words of a question ask for, and what they leave to look for.

English is here, other languages are rows of `offline.question_cues`. A question that no rule knows, in any language, is
looked for as it stands. Times are read in `vault.periods`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from infold.librarian.offline.question_cues import named_folder, read_cues
from infold.librarian.questions import Plan, PlanRequest
from infold.search.query.query_parser import read_question
from infold.vault.periods import Period, read_period

_HERE: Final = re.compile(
    r"\b(?:this|that)(?: (?:one|idea|note|section|paragraph|article|thought|here))\b|\b(?:this|it|here)\b",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"(?<!\w)#([\w/-]*[^\W\d][\w/-]*)")
_FOLDER: Final = r"(?:in|under|from|inside) (?:(?:the |my )?folder {name}|(?:the |my ){name} folder)"
_AFTER_FOLDER: Final = "about|on|of|that|which|with|from|since|in|folder"
_FRAME: Final = re.compile(
    r"^(?:please\s+)?(?:what (?:do i (?:have|know|say|think)|did i (?:write|say|note|think|decide)|is there)"
    r"(?: (?:about|on|regarding))?|(?:show|find|give|tell|list)(?: me)?(?: (?:all|everything|something))?"
    r"(?: (?:my|the))?(?: notes)?(?: (?:about|on|of|related to))?|(?:my |all )?notes (?:about|on|related to)"
    r"|(?:go|look|dig) deeper (?:into|in)|zoom (?:in|out) (?:on|to|of|from)|what (?:else )?(?:connects|relates) to)\s+",
    re.IGNORECASE,
)
_TRAILING: Final = re.compile(
    r"[\s,]*\b(?:that|which)?\s*(?:i|we)\s+(?:wrote|made|noted|took|had|said)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _AskedQuestion:
    """A question, read: what it is about, whether "this one" is meant, and which notes."""

    subject: str
    is_here: bool
    narrowed: dict[str, Any]  # tags, folder, since, until


Calls = list[dict[str, Any]]


def planned(request: PlanRequest) -> Plan:
    """The calls that the words of a question ask for."""
    calls = _by_cues(request) or _by_rules(request)
    needs_centre = bool(calls) and calls[0]["find"] in ("zoom_in", "zoom_out", "move", "follow_link")
    given: dict[str, Any] = {"calls": calls}
    if needs_centre and not request.centre:
        reason = "“this one” means nothing yet: explore something first, or name what you mean"
        given = {"calls": [], "reason": reason}
    return Plan.model_validate(given, context={"request": request})


def _by_rules(request: PlanRequest) -> Calls:
    asked = _read(request)
    return next(calls(asked) for words, calls in _RULES if words.search(request.question))


def _by_cues(request: PlanRequest) -> Calls:
    """The calls for a question of another language; none where its words are of none that is known."""
    cued = read_cues(_TAG.sub(" ", request.question))
    if cued is None:
        return []
    period, _ = read_period(cued.time, request.today)
    asked = _AskedQuestion(cued.subject, cued.is_here, _narrowed(period, _TAG.findall(request.question), cued.folder))
    return _KINDS[cued.kind](asked)


def _read(request: PlanRequest) -> _AskedQuestion:
    period, text = read_period(request.question, request.today)
    tags = _TAG.findall(text)
    text = _TAG.sub(" ", text)
    folder, text = named_folder(text, _FOLDER, _AFTER_FOLDER)
    text = _FRAME.sub("", _TRAILING.sub(" ", text).strip())
    without_here = _HERE.sub(" ", text)
    subject = without_here if _says_something(without_here) else ""
    narrowed = _narrowed(period, tags, folder)
    return _AskedQuestion(" ".join(subject.strip(" ?.!,").split()), _HERE.search(text) is not None, narrowed)


def _narrowed(period: Period, tags: list[str], folder: str) -> dict[str, Any]:
    given = {"tags": tags, "folder": folder, "since": period.since, "until": period.until}
    return {name: value for name, value in given.items() if value}


def _says_something(text: str) -> bool:
    """Whether words are left that name a subject, and not only what is asked of it."""
    words = read_question(text.casefold()).keywords.split()
    return any(word.strip("?.,!") not in _OF_THE_RULES for word in words)


_OF_THE_RULES: Final = frozenset(
    """
    all anything connected connect connects deeper else everything find give go idea ideas like link links linked look
    more near nearest note notes one out related relates show similar something tell thing things what whats which zoom
    a about at from in is into of on out the to me my are do i have that with this it deep dig further detail details
    part parts bigger picture back step follow backlinks
    """.split()  # noqa: SIM905 - reads best as text
)


def _themes(level: int) -> Callable[[_AskedQuestion], Calls]:
    return lambda _: [{"find": "themes", "level": level}]


def _at(find: str) -> Callable[[_AskedQuestion], Calls]:
    """A step from the centre; from what is named, where something is."""

    def calls(asked: _AskedQuestion) -> Calls:
        narrowed = asked.narrowed if find == "move" else {}
        step = [{"find": find, **narrowed}]
        return step if not asked.subject else [{"find": "explore", "query": asked.subject}, *step]

    return calls


def _related(asked: _AskedQuestion) -> Calls:
    """What is near the centre where that is meant, else what is about the subject."""
    return _about(asked) if asked.subject and not asked.is_here else _at("move")(asked)


def _about(asked: _AskedQuestion) -> Calls:
    query = asked.subject
    if not query:
        return [{"find": "move", **asked.narrowed}]
    return [{"find": find, "query": query, **asked.narrowed} for find in ("search", "explore")]


_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[_AskedQuestion], Calls]], ...]] = tuple(
    (re.compile(words, re.IGNORECASE), calls)
    for words, calls in (
        (r"\b(?:fine|finer|detailed|small)\b.*\bthemes\b", _themes(3)),
        (
            r"\bmain (?:themes?|topics?|subjects?)\b|\bthemes\b|\bwhat (?:is|are) my (?:notes|archive|vault) about\b",
            _themes(1),
        ),
        (r"\b(?:deeper|zoom in|more detail|more details)\b|\bwhat is (?:in )?this\b", _at("zoom_in")),
        (r"\b(?:zoom out|bigger picture|step back)\b|\bwhat is this part of\b", _at("zoom_out")),
        (
            r"\bbacklinks?\b|\b(?:what|which)\b.*\blinks? (?:here|to (?:this|it))\b|\bfollow (?:the |its )?links?\b",
            _at("follow_link"),
        ),
        (r"\b(?:connects?|connected|related|relates|similar|nearest)\b", _related),
        (r"", _about),
    )
)
_KINDS: Final[Mapping[str, Callable[[_AskedQuestion], Calls]]] = {
    "themes": _themes(1),
    "deeper": _at("zoom_in"),
    "out": _at("zoom_out"),
    "links": _at("follow_link"),
    "related": _related,
    "": _about,
}

"""A competent model, without a model: sensible answers worked out from the text of a request alone, for any vault.

Deterministic: equal requests get equal answers. It knows how infold words its requests (fences, cards), nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from infold.text import collapse_spaces, folded_words, words

_FENCE = re.compile(r"^<<<(?P<label>[^\n]*?) (?P<mark>[0-9a-f]{12}) origin=(?P<origin>[^\n]*)>>>\n", re.MULTILINE)
_CARD = re.compile(r"^- \[\[(?P<path>[^\n]+?)\]\] — (?P<summary>[^\n]*)$", re.MULTILINE)
_VIEWED = re.compile(r"^## \[(?P<path>[^\n]+)\]\n\n\*\*Summary:\*\* (?P<summary>[^\n]*)$", re.MULTILINE)
_MAY_VIEW = re.compile(r"You may now view up to (\d+) AVAILABLE")
_MAY_CHECK_OUT = re.compile(r"check out up to (\d+) VIEWED", re.IGNORECASE)
_TREE = re.compile(r"^TREE (?P<id>\S+): (?P<words>.*(?:\n(?!TREE ).*)*)", re.MULTILINE)
_PART = re.compile(
    r"^(?P<number>\d+)\. the (?P<kind>article|section|paragraph)(?: that begins “(?P<begins>.*)”)?, "
    r"at (?P<below>.*): (?P<low>\d+) to (?P<high>\d+) words$",
    re.MULTILINE,
)
_SHORT = 3
_WORD_RANGE = re.compile(r"(\d+)-(\d+) word")
_PLAIN_LINE = re.compile(r"^[A-Za-z\u00c0-\u024f0-9\u3040-\u9fff\"'(*_\[-].*")
_NO_PROSE = ("```", "~~~", "%%", "|", "<", "---", "===", "$$", "[^", "!", "\t", "    ", ">", "#")

GroupBy = Callable[[Sequence[tuple[int, str]]], list[list[int]]]


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced piece of material."""

    label: str
    origin: str
    text: str


def fences(content: str) -> list[Fence]:
    """The fenced pieces of a message, in order; what looks like a fence inside another is material."""
    found, position = [], 0
    while (opening := _FENCE.search(content, position)) is not None:
        closing = content.find(f"\n<<<end {opening['mark']}>>>", opening.end() - 1)
        if closing < 0:
            break
        found.append(Fence(opening["label"], opening["origin"], content[opening.end() : closing]))
        position = closing + 1
    return found


def each_alone(paragraphs: Sequence[tuple[int, str]]) -> list[list[int]]:
    """Every paragraph a group of its own."""
    return [[n] for n, _ in paragraphs]


def all_together(paragraphs: Sequence[tuple[int, str]]) -> list[list[int]]:
    """One group."""
    return [[n for n, _ in paragraphs]]


def answer(decision: str, body: dict[str, Any], group_by: GroupBy = each_alone) -> dict[str, Any]:
    """The answer to a chat completion request, as the JSON object that the decision's schema wants.

    Told that this answer was wrong, it takes the safe way out: nothing checked out, every paragraph left.
    """
    said = [str(m.get("content") or "") for m in body["messages"] if m["role"] == "user"]
    match decision:
        case "Grouping":
            given: dict[str, Any] = {"groups": group_by(_paragraphs(said))}
        case "Summary":
            given = {"summary": _summary(said[0])}
        case "Look":
            given = _look([content for content in said if fences(content)])
        case "Edits":
            given = _edits([content for content in said if fences(content)])
        case "Home":
            given = _home(said[0])
        case "ArticleSummaries":
            given = _article(said[0])
        case "ThemeNames":
            given = _themes(said[0])
        case _:
            raise ValueError(f"no such decision: {decision}")
    return _safe(decision, said) if given in _corrected(body["messages"]) else given


def _corrected(messages: Sequence[dict[str, Any]]) -> list[Any]:
    """What was answered just before, where the last message is a correction."""
    if messages[-1]["role"] == "user" and fences(str(messages[-1].get("content") or "")):
        return []
    last = next((m for m in reversed(messages) if m["role"] == "assistant"), {})  # type: ignore[var-annotated]
    texts = [last.get("content"), *(call["function"]["arguments"] for call in last.get("tool_calls") or ())]
    found = []
    for text in texts:
        with suppress(TypeError, ValueError, RecursionError):
            found.append(json.loads(text))
    return found


def _safe(decision: str, said: Sequence[str]) -> dict[str, Any]:
    numbers = [n for n, _ in _paragraphs(said)]
    match decision:
        case "Grouping":
            return {"groups": [[n] for n in numbers]}
        case "Look":
            return {"action": "checkout", "files": [], "reason": "no note fits"}
        case "Edits":
            left = [{"paragraph": n, "reason": "could not be placed"} for n in numbers]
            return {"action": "edit", "edits": [], "left": left}
    return {"summary": " ".join(["note"] * 88)}


def decision_of(body: dict[str, Any]) -> str:
    """Which decision a request asks for, in each of the modes."""
    match body:
        case {"tool_choice": "auto" | "none"}:  # tools that may be called, not the form of an answer
            return "Conversation"
        case {"response_format": {"json_schema": {"name": str(name)}}}:
            return name
        case {"tools": [{"function": {"name": str(name)}}, *_]}:
            return name
    forms = re.findall(r"of this schema \((\w+)\):", "\n".join(str(m.get("content")) for m in body["messages"]))
    return forms[-1] if forms else "unknown"


def _paragraphs(said: Sequence[str]) -> list[tuple[int, str]]:
    return [
        (int(fence.label.split()[1]), fence.text)
        for content in said
        for fence in fences(content)
        if fence.label.startswith("paragraph ")
    ]


def _summary(content: str) -> str:
    asked = _WORD_RANGE.search(content)
    low, high = (int(asked[1]), int(asked[2])) if asked else (75, 100)
    own = [word for fence in fences(content) for word in words(fence.text)]
    most = (low + high) // 2
    return " ".join([*own, *["note"] * low][: max(low, min(most, len(own)))]) + "."


def _article(content: str) -> dict[str, Any]:
    """A summary of each part that is asked for: its own first words, as many as are wanted in the middle."""
    article, parts = (fence.text for fence in fences(content))
    summaries = []
    for part in _PART.finditer(parts):
        own = _own_words(article, part["kind"], part["begins"] or "", part["below"].split(" > ")[-1])
        most = (int(part["low"]) + int(part["high"])) // 2
        summaries.append({"number": int(part["number"]), "summary": " ".join(own[:most] or ["note"]) + "."})
    return {"summaries": summaries}


def _themes(content: str) -> dict[str, Any]:
    """A name for each theme out of its words and its number, and the first words of its first note."""
    named = []
    for shown in re.split(r"(?m)^(?=Theme \d+, \d+ notes\.)", content)[1:]:
        number = int(shown.split()[1].rstrip(","))
        terms, *notes = (fence.text for fence in fences(shown))
        said = " ".join(words(" ".join(notes))[:20]) or "notes"
        named.append({"number": number, "name": f"About {terms.split(',')[0]} {number}", "summary": f"{said}."})
    return {"themes": named}


def _own_words(article: str, kind: str, begins: str, title: str) -> list[str]:
    """The words of a part, as far as a reader of the request can tell where it begins and ends."""
    if kind == "article":
        return words(article)
    if kind == "paragraph":
        first = re.search(r"\s+".join(map(re.escape, begins.split())), article)
        return words(re.split(r"\n\s*\n", article[first.start() :], maxsplit=1)[0] if first else begins)
    lines = article.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith("#") and title in collapse_spaces(line)), 0)
    end = next((n for n in range(start + 1, len(lines)) if lines[n].startswith("#")), len(lines))
    return words("\n".join(lines[start:end]))


def _home(content: str) -> dict[str, Any]:
    """The tree that shares the most words of the document; none where it shares fewer than two."""
    cards, document = (fence.text for fence in fences(content))
    trees = {card["id"]: card["words"] for card in _TREE.finditer(cards)}
    wanted = {word for word in folded_words(document) if len(word) > _SHORT}
    scores = {tree: len(wanted & set(folded_words(text))) for tree, text in trees.items()}
    best = max(scores, key=lambda tree: (scores[tree], tree), default="none")
    if scores.get(best, 0) < 2:
        return {"tree": "none", "part": "", "score": 0.9, "reason": "No tree is about that."}
    return {"tree": best, "part": "", "score": 0.8, "reason": "It is about the same."}


def _look(said: Sequence[str]) -> dict[str, Any]:
    text = " ".join(text for _, text in _paragraphs(said))
    viewed: dict[str, str] = {}
    available: dict[str, str] = {}
    for fence in (fence for content in said for fence in fences(content)):
        if fence.label == "viewed":
            viewed |= {m["path"]: m["summary"] for m in _VIEWED.finditer(fence.text)}
        if fence.label in {"viewed", "available"}:
            available |= {m["path"]: m["summary"] for m in _CARD.finditer(fence.text)}
    unseen = {path: summary for path, summary in available.items() if path not in viewed}
    may_view = _MAY_VIEW.search(said[-1])
    if may_view and int(may_view[1]) and unseen and len(viewed) < 3:
        return {"action": "view", "files": _nearest(text, unseen)[: min(2, int(may_view[1]))]}
    allowed = _MAY_CHECK_OUT.search(said[-1])
    most = int(allowed[1]) if allowed else 1
    return {"action": "checkout", "files": _nearest(text, viewed)[: min(1, most)]}


def _nearest(text: str, summaries: dict[str, str]) -> list[str]:
    """Paths by how many distinct words of `text` stand in their path and summary; equal ones in the order seen."""
    wanted = {word for word in folded_words(text) if len(word) > 3}
    return sorted(summaries, key=lambda path: -len(wanted & set(folded_words(f"{path} {summaries[path]}"))))


def _edits(said: Sequence[str]) -> dict[str, Any]:
    notes: dict[str, str] = {}
    for fence in (fence for content in said for fence in fences(content)):
        if fence.label == "note":
            notes[json.loads(fence.origin) if fence.origin.startswith('"') else fence.origin] = fence.text
    edits, left, additions = [], [], []
    for n, text in _paragraphs(said):
        covering = next((path for path, note in notes.items() if _stands_once(text, note)), None)
        if covering is not None:
            edits.append({"file": covering, "find": text, "is_duplicate": True, "paragraphs": [n]})
        else:
            additions.append((n, text))
    anchored = next(((path, anchor) for path, note in notes.items() if (anchor := _anchor(note))), None)
    if anchored is None:
        left = [{"paragraph": n, "reason": "no place in the checked-out notes"} for n, _ in additions]
    elif additions:
        path, anchor = anchored
        replace = "\n\n".join([anchor, *(text for _, text in additions)])
        numbers = [n for n, _ in additions]
        edits.append({"file": path, "find": anchor, "replace": replace, "is_duplicate": False, "paragraphs": numbers})
    return {"action": "edit", "edits": edits, "left": left}


_LED_TO = ("```", "~~~", "$$", "|", ">", "-", "*", "+", "<", "!", *"0123456789")


def _stands_once(wanted: str, note: str) -> bool:
    return f" {collapse_spaces(note)} ".count(collapse_spaces(wanted)) == 1


def _anchor(note: str) -> str | None:
    """The last paragraph of plain prose that stands in the note once, after which a paragraph can be put."""
    lines = note.lstrip("\ufeff").splitlines()
    fenced, front, blocks, block = "", bool(lines) and lines[0].strip() == "---", [], []  # type: ignore[var-annotated]
    for number, line in enumerate([*lines, ""]):
        stripped = line.strip()
        if front:
            front = number == 0 or stripped not in {"---", "..."}
            continue
        if not fenced and stripped[:2] == "%%" and stripped.count("%%") % 2:
            fenced = "%%"
        elif not fenced and stripped[:3] in {"```", "~~~", "$$"}:
            fenced = stripped[:3]
        elif not fenced and stripped.startswith("<!--") and "-->" not in stripped:
            fenced = "-->"
        elif fenced and fenced in stripped:
            fenced = ""
            continue
        if fenced:
            block = []
        elif stripped:
            block.append(line)
        else:
            blocks, block = [*blocks, (block, number)], []
    for lines_of, end in reversed(blocks):
        following = next((line.strip() for line in lines[end:] if line.strip()), "")
        if following.startswith(_LED_TO):  # prose before it may lead in to it, and is not parted from it
            continue
        text = "\n".join(lines_of)
        prose = lines_of and all(_PLAIN_LINE.match(line) and not line.startswith(_NO_PROSE) for line in lines_of)
        if prose and "|" not in text and _stands_once(text, note):
            return text
    return None

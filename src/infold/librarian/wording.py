"""Requests as messages to a model: what is said, in which order, and what need not be said again.

A conversation only ever grows at its end, so that an endpoint's prompt cache holds all that came before. What a message
showed is remembered beside it (`shown`), travels with the transcript, and is not sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from infold.librarian.answers import Chunk, EditRequest, GroupRequest, LookRequest, Paragraph, SummaryRequest
from infold.librarian.cards import available_card, viewed_card
from infold.librarian.prompts import prompt
from infold.text import content_hash, fenced

ChatMessage = dict[str, Any]

_NO_NAMES = "(no note is long enough to show how fine they are)"
_UNSAFE_IN_FENCE_LINE = re.compile(r"[\x00-\x1f\x7f<>\u2028\u2029]")


@dataclass(slots=True)
class PromptState:
    """What a conversation has already shown: the chunk, cards by path, notes by the hash of their text."""

    chunk: bool = False
    cards: set[str] = field(default_factory=set)  # name and summary were shown, as AVAILABLE or under a note's links
    viewed: set[str] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "chunk": self.chunk,
            "cards": sorted(self.cards),
            "viewed": sorted(self.viewed),
            "notes": dict(sorted(self.notes.items())),
        }

    @classmethod
    def after(cls, transcript: Iterable[ChatMessage]) -> PromptState:
        """What the last message of a transcript that says so had shown."""
        last: dict[str, Any] = next((m["shown"] for m in reversed(list(transcript)) if "shown" in m), {})
        return cls(
            chunk=bool(last.get("chunk", False)),
            cards=set(last.get("cards", ())),
            viewed=set(last.get("viewed", ())),
            notes=dict(last.get("notes", {})),
        )


def to_send(transcript: Iterable[ChatMessage]) -> list[ChatMessage]:
    """The messages as an endpoint takes them."""
    return [{key: value for key, value in message.items() if key != "shown"} for message in transcript]


def group_messages(request: GroupRequest) -> list[ChatMessage]:
    """The whole conversation that asks for groups."""
    return [
        _system(prompt("group/system", max_words=request.max_chunk_words)),
        _user(
            prompt(
                "group/request",
                names=fenced("\n".join(request.sample_names) or _NO_NAMES, label="names", origin="notes"),
                paragraphs=_paragraphs(request.paragraphs),
                numbers=", ".join(str(p.n) for p in request.paragraphs),
            )
        ),
    ]


def summary_messages(request: SummaryRequest) -> list[ChatMessage]:
    """The whole conversation that asks for a summary in spec 1's words: of the text or of the linked summaries."""
    words = f"{request.target_words[0]}-{request.target_words[1]}"
    if request.linked:
        lines = "\n".join(f"- [[{name}]] — {summary}" for name, summary in request.linked)
        asked = prompt("summary/index_request", words=words, summaries=fenced(lines, label="summaries", origin="notes"))
    else:
        asked = prompt("summary/request", words=words, note=_fenced_note(request.path, request.text))
    return [_system(prompt("summary/system")), _user(asked)]


def chunk_opening() -> list[ChatMessage]:
    """How each conversation about a chunk begins: the same words every time."""
    return [_system(prompt("chunk/system"))]


def look_message(request: LookRequest, shown: PromptState) -> ChatMessage:
    """The next exploration round: only cards that the conversation has not seen yet. Marks them as shown.

    A note linked from a viewed one stands under its links with its summary, in the words of an AVAILABLE card, and is
    not repeated; those that came from elsewhere are listed by themselves.
    """
    parts = _opening_parts(request.chunk, shown)
    newly_viewed = [card for card in request.viewed if card.path not in shown.viewed]
    for card in newly_viewed:
        shown.viewed.add(card.path)
        shown.cards.update([card.path, *(path for path in card.links if path in request.summaries)])
    if newly_viewed:
        cards = "\n\n".join(viewed_card(card, request.summaries) for card in newly_viewed)
        parts.append("VIEWED:\n\n" + fenced(cards, label="viewed", origin="notes"))
    newly_available = [card for card in request.available if card.path not in shown.cards]
    if newly_available:
        shown.cards.update(card.path for card in newly_available)
        lines = "\n".join(available_card(card, request.summaries) for card in newly_available)
        parts.append("AVAILABLE too:\n\n" + fenced(lines, label="available", origin="notes"))
    state = "\n\n".join(parts) or "Nothing new to see."
    if request.may_view and request.available:
        asked = prompt(
            "chunk/look_request",
            state=state,
            may_view=request.may_view,
            may_check_out=request.may_check_out,
            rounds_left=request.rounds_left,
        )
    else:
        asked = prompt("chunk/checkout_request", state=state, may_check_out=request.may_check_out)
    return _user(asked, shown)


def edit_message(request: EditRequest, shown: PromptState) -> ChatMessage:
    """The checked-out notes in full, and what to do with them; a note that stands as last shown is only named."""
    parts = _opening_parts(request.chunk, shown)
    for note in request.notes:
        state = content_hash(note.text)
        if shown.notes.get(note.path) == state:
            parts.append(f"{json.dumps(note.path, ensure_ascii=False)}: as shown before.")
        else:
            parts.append(_fenced_note(note.path, note.text))
            shown.notes[note.path] = state
    values = {"notes": "\n\n".join(parts), "numbers": ", ".join(str(p.n) for p in request.chunk.paragraphs)}
    if request.refused:
        reason = fenced(request.refused, label="reason", origin="infold")
        return _user(prompt("chunk/edit_again_request", refused=reason, **values), shown)
    return _user(prompt("chunk/edit_request", **values), shown)


def answer_form(name: str, schema: dict[str, Any]) -> str:
    """The schema in words, for endpoints that take none."""
    return prompt("answer_form", form=name, schema=json.dumps(schema, ensure_ascii=False))


def _opening_parts(chunk: Chunk, shown: PromptState) -> list[str]:
    if shown.chunk:
        return []
    shown.chunk = True
    return [_paragraphs(chunk.paragraphs)]


def _paragraphs(paragraphs: Sequence[Paragraph]) -> str:
    parts = [fenced(p.text, label=f"paragraph {p.n}", origin="inbox") for p in paragraphs]
    trails = "\n".join(f"paragraph {p.n}: {' > '.join(p.trail)}" for p in paragraphs if p.trail)
    if trails:
        parts.append("The inbox's headings above them:\n\n" + fenced(trails, label="headings", origin="inbox"))
    return "\n\n".join(parts)


def _fenced_note(path: str, text: str) -> str:
    """A note's text, its path as origin: quoted where a sign in it could be read as part of the fence."""
    origin = json.dumps(_UNSAFE_IN_FENCE_LINE.sub("?", path)) if _UNSAFE_IN_FENCE_LINE.search(path) else path
    return fenced(text, label="note", origin=origin)


def _system(content: str) -> ChatMessage:
    return {"role": "system", "content": content}


def _user(content: str, shown: PromptState | None = None) -> ChatMessage:
    message: ChatMessage = {"role": "user", "content": content}
    if shown is not None:
        message["shown"] = shown.as_json()
    return message

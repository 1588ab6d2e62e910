"""Passages of a conversation: windows of whole turns, for search to look through (spec 3, Appendix C).

A window holds as many turns as fit; consecutive windows share the last turn of the first where it is short enough. A
turn that is too long by itself is cut at paragraphs, sentences or words. Pure functions over turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final, NamedTuple

from infold.notebook.transcripts import SessionTurn, Transcript
from infold.text import CHARACTERS_PER_TOKEN, content_hash

_BREAKS: Final = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?…。！？])\s*"), re.compile(r"\s+"))
_NAMES: Final = {"user": "User", "assistant": "Assistant"}


class TurnsPassage(NamedTuple):
    """A window of turns: the lines of the transcript it stands on, and its numbers of turns, all included."""

    first: SessionTurn
    last: SessionTurn
    text: str  # what was said, as it is indexed
    shown: str  # with who said it

    @property
    def trail(self) -> tuple[str, ...]:
        """`turns 3-7`, or `turn 3`."""
        first, last = self.first.number, self.last.number
        return (f"turn {first}" if first == last else f"turns {first}-{last}",)

    @property
    def text_hash(self) -> str:
        """The identity of what was said."""
        return content_hash(self.text)


def cut_turns(transcript: Transcript, max_tokens: int, overlap_tokens: int) -> list[TurnsPassage]:
    """The passages of a conversation, in order; no word of a turn is left out."""
    limit = max_tokens * CHARACTERS_PER_TOKEN
    overlap = min(overlap_tokens, max_tokens // 2) * CHARACTERS_PER_TOKEN
    passages: list[TurnsPassage] = []
    held: list[SessionTurn] = []
    is_new = False  # whether a turn is held that no passage has yet
    for turn in transcript.turns:
        if len(turn.named_text) > limit:
            passages += [window(held)] if is_new else []
            passages += [_part(turn, text) for text in _parts(turn.text, limit)]
            held, is_new = [], False
            continue
        if is_new and _length([*held, turn]) > limit:
            passages.append(window(held))
            last = held[-1]
            fits = len(last.named_text) <= overlap and _length([last, turn]) <= limit
            held = [last] if fits else []
        held.append(turn)
        is_new = True
    return passages + ([window(held)] if is_new else [])


def said_by(turns: Sequence[SessionTurn]) -> str:
    """The turns as a person reads them: who, then what."""
    return "\n\n".join(f"{_name(turn)}: {turn.text}" for turn in turns)


def _name(turn: SessionTurn) -> str:
    return turn.speaker or _NAMES[turn.role]


def _length(turns: Sequence[SessionTurn]) -> int:
    return sum(len(turn.named_text) + 2 for turn in turns) - 2


def window(turns: Sequence[SessionTurn]) -> TurnsPassage:
    """The passage that holds these turns whole."""
    return TurnsPassage(turns[0], turns[-1], "\n\n".join(turn.named_text for turn in turns), said_by(turns))


def _part(turn: SessionTurn, text: str) -> TurnsPassage:
    said = f"{turn.speaker}: {text}" if turn.speaker else text
    return TurnsPassage(turn, turn, said, f"{_name(turn)}: {text}")


def _parts(text: str, limit: int) -> Iterator[str]:
    """`text` in parts that fit, each as long as a good break allows."""
    for _ in count():
        if len(text) <= limit:
            break
        at = limit
        for pattern in _BREAKS:
            ends = [found.end() for found in pattern.finditer(text, limit // 3, limit) if found.end() > 0]
            if ends:
                at = ends[-1]
                break
        if text[:at].strip():
            yield text[:at].strip()
        text = text[at:]
    if text.strip():
        yield text.strip()

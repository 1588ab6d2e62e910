"""An answer without a model: of each note the block that says most of what is asked, as it is written, with its lines.

A block holds a word of the question where it says it, stands under it, or is of the note of that name; what search
found first counts more. Without words of its own, as after "go deeper", a question is answered by the beginning of each
text. Words that no evidence holds are named as not found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infold.librarian.offline.summaries import plain
from infold.librarian.questions import AnswerRequest, CitedAnswer, FoundText
from infold.search.query.query_parser import read_question
from infold.text import folded_words, sentences
from infold.vault.named_times import names_time
from infold.vault.names import stem
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind

_MOST: Final = 5  # statements
_LONGEST: Final = 400  # characters of a statement
# How a block is judged, chosen on questions that are not among those of docs/navigator.md; see bench/questions.py.
_EARLIER: Final = 0.12  # what a place loses for each that search found likelier
_LEAST: Final = 0.1  # of the best block's worth
_OF_THE_NAME: Final = 0.7  # what a word is worth that only the note's name holds
_HEADED, _NAMED = 1.0, 2.0  # for a heading, and for a note's name, that stand in the question
_TIMED: Final = 0.6  # for a block that tells a time, where it is asked when
_ENDING, _STEM = 3, 4  # letters of a long word that do not count, and those that always do
_PLACE: Final = re.compile(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?")
_WHEN: Final = re.compile(
    r"^\W*(?:and |und |et |y |e )?(?:when|wann|quand|cuándo|quando)\b|いつ|什么时候|何时", re.IGNORECASE
)
_MARK: Final = re.compile(r"^(?:[-*+]|\d+[.)]|>)\s+")
_SAY_NOTHING: Final = frozenset((BlockKind.FRONT_MATTER, BlockKind.HEADING, BlockKind.RULE, BlockKind.DEFINITION))

Words = Mapping[str, str]  # the beginning of a word, which tells it apart, and the word itself


@dataclass(frozen=True, slots=True)
class _Said:
    """A block of a text that was found: the paragraphs and list items it is made of, plain."""

    parts: tuple[str, ...]
    heading: str
    name: str  # of the note
    place: str
    rank: int  # of its evidence
    about: str

    @property
    def text(self) -> str:
        return " ".join(self.parts)


def extracted_answer(request: AnswerRequest) -> CitedAnswer:
    """What answers, as it is written; or what was not found."""
    wanted = _wanted(request)
    said = [each for rank, found in enumerate(request.evidence) for each in _blocks(found, rank)]
    asks_when = _WHEN.search(request.question) is not None
    chosen = _answering(said, wanted, asks_when=asks_when) if wanted else _beginnings(said)
    missing = _missing(wanted, said)
    given = {
        "statements": [{"text": _shown(each, wanted), "places": [each.place]} for each in chosen],
        "not_found": "" if chosen and not missing else _not_found(request.question, chosen, missing),
    }
    return CitedAnswer.model_validate(given, context={"request": request})


def _wanted(request: AnswerRequest) -> Words:
    return {_beginning(word): word for word in folded_words(read_question(request.subject).keywords)}


def _answering(said: Sequence[_Said], wanted: Words, *, asks_when: bool) -> list[_Said]:
    """The best block of each note, the best note first."""
    worth = _worth(said, wanted, asks_when=asks_when)
    chosen: dict[str, _Said] = {}
    for number in sorted(range(len(said)), key=lambda at: (-worth[at], at)):
        if len(chosen) == _MOST or worth[number] <= max(worth) * _LEAST:
            break
        each = said[number]
        if all(each.text != other.text for other in chosen.values()):
            chosen.setdefault(each.name, each)
    return list(chosen.values())


def _worth(said: Sequence[_Said], wanted: Words, *, asks_when: bool) -> list[float]:
    """How much of the question each block holds, rare words before common ones; none where no block holds any.

    When something was, its heading or name does not say: then blocks that tell a time, or are of one, count more.
    """
    bodies = [_held(each.text, wanted) for each in said]
    above = [_held(each.heading, wanted) for each in said]
    names = [_held(each.name, wanted) for each in said]
    counts = Counter(form for forms in zip(bodies, above, names, strict=True) for form in frozenset().union(*forms))
    rare = {form: math.log(1 + len(said) / (1 + counts[form])) for form in wanted}
    whole = sum(rare.values()) or 1.0

    headed, named = (0.0, 0.0) if asks_when else (_HEADED, _NAMED)

    def share(forms: frozenset[str]) -> float:
        return sum(rare[form] for form in forms) / whole

    return [
        (
            share(body | head)
            + _OF_THE_NAME * share(name - body - head)
            + headed * share(head) * _share_of(each.heading, wanted)
            + named * share(name) * (_share_of(each.name, wanted) == 1)
        )
        / (1 + _EARLIER * each.rank)
        / math.sqrt(1 + len(each.text) / _LONGEST)
        * (1 + _TIMED * (asks_when and any(map(names_time, (each.text, each.heading, each.name)))))
        for each, body, head, name in zip(said, bodies, above, names, strict=True)
    ]


def _held(text: str, wanted: Words) -> frozenset[str]:
    text = text.casefold()
    return frozenset(form for form in wanted if form in text)


def _share_of(title: str, wanted: Words) -> float:
    """How much of a title stands in the question."""
    own = folded_words(title)
    return sum(_beginning(word) in wanted for word in own) / len(own) if own else 0.0


def _beginnings(said: Sequence[_Said]) -> list[_Said]:
    first: dict[int, _Said] = {}
    for each in said:
        first.setdefault(each.rank, each)
    return list({each.text: each for each in first.values()}.values())[:_MOST]


def _missing(wanted: Words, said: Sequence[_Said]) -> list[str]:
    everything = "\n".join(f"{each.text}\n{each.heading}\n{each.name}" for each in said).casefold()
    return [word for form, word in wanted.items() if form not in everything]


def _not_found(question: str, chosen: Sequence[_Said], missing: Sequence[str]) -> str:
    if chosen:
        return f"Nothing found says: {', '.join(missing)}."
    return f"Nothing in the notes answers “{question.strip()}”."


def _blocks(found: FoundText, rank: int) -> Iterator[_Said]:
    """What a text says, lines that stand together as one, with their own lines; headings are what they stand under."""
    place = _PLACE.fullmatch(found.place)
    path, first = (place["path"], int(place["first"])) if place else (found.place, 0)
    # What was said in a session is shown with who said it: its lines are not those of the file.
    is_by_line = place is not None and int(place["last"] or first) - first == found.text.count("\n")
    for together in _together(parse(path, found.text).blocks):
        begins, ends = first + together[0].line - 1, first + together[-1].end_line - 1
        where = f"{path}:{begins}-{ends}" if is_by_line else found.place
        parts = tuple(part for block in together for part in _parts(found.text[block.start : block.end]))
        if parts:
            yield _Said(parts, next(iter(together[0].trail[-1:]), ""), stem(path), where, rank, found.about)


def _together(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Blocks that no blank line and no heading parts, such as the items of a list and the line that announces them."""
    held: list[Block] = []
    for block in blocks:
        if held and (block.kind in _SAY_NOTHING or block.line > held[-1].end_line + 1):
            yield held
            held = []
        if block.kind not in _SAY_NOTHING:
            held.append(block)
    if held:
        yield held


def _parts(text: str) -> Iterator[str]:
    """The paragraphs and list items of a block, without marks."""
    held: list[str] = []
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        is_item = _MARK.match(bare) is not None
        if held and (not bare or is_item) and (said := plain(" ".join(held))):
            yield said
        held = [] if not bare or is_item else held
        if bare:
            held.append(_MARK.sub("", bare))


def _shown(said: _Said, wanted: Words) -> str:
    """One or two sentences of a block: the one with most of the words, and what follows it, if that is short enough."""
    each = [sentence for part in said.parts for sentence in sentences(part)]
    best = max(range(len(each)), key=lambda at: (len(_held(each[at], wanted)), -at))
    pair = next((f"{each[best]} {each[best + 1]}" for part in said.parts if _follows(each, best, part)), each[best])
    text = pair if len(pair) <= _LONGEST else each[best][:_LONGEST]
    return f"{said.about}: {text}" if said.about else text


def _follows(each: Sequence[str], at: int, part: str) -> bool:
    return at + 1 < len(each) and f"{each[at]} {each[at + 1]}" in part


def _beginning(word: str) -> str:
    return word[: max(_STEM, len(word) - _ENDING)]

"""An answer without a model: sentences of the evidence as they are written, each with the lines it stands on.

For a question with words of its own those sentences are taken that hold most of them; else, as after "go deeper", the
beginning of each text. Words of the question that no evidence holds are named as not found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from infold.librarian.offline.summaries import plain
from infold.librarian.questions import AnswerRequest, CitedAnswer, FoundText
from infold.search.query.query_parser import read_question
from infold.text import folded_words, sentences

_MOST: Final = 5  # statements
_LONGEST: Final = 400  # characters of a statement
_EARLIER: Final = 0.12  # what a place loses for each that search found likelier
_ENDING, _STEM = 3, 4  # letters of a long word that do not count, and those that always do
_FRONT: Final = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
_PLACE: Final = re.compile(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?")
_MARK: Final = re.compile(r"^(?:[-*+]|\d+[.)]|>)\s+")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    place: str
    rank: int  # of its evidence
    about: str


def extracted_answer(request: AnswerRequest) -> CitedAnswer:
    """The sentences that answer; or what was not found."""
    wanted = _wanted(request)
    said = [each for rank, found in enumerate(request.evidence) for each in _sentences(found, rank)]
    chosen = _answering(said, wanted) if wanted else _beginnings(said)
    missing = _missing(wanted, said)
    given = {
        "statements": [{"text": _shown(each), "places": [each.place]} for each in chosen],
        "not_found": "" if chosen and not missing else _not_found(request.question, chosen, missing),
    }
    return CitedAnswer.model_validate(given, context={"request": request})


def _wanted(request: AnswerRequest) -> dict[str, str]:
    """The words looked for: their beginning, which tells them apart, and the words themselves."""
    return {_beginning(word): word for word in folded_words(read_question(request.subject).keywords)}


def _answering(said: Sequence[_Sentence], wanted: dict[str, str]) -> list[_Sentence]:
    """The sentences with most of the words, rare ones before common ones; what was said before adds nothing."""
    held = [frozenset(form for form in wanted if form in each.text.casefold()) for each in said]
    rare = {form: math.log(1 + len(said) / (1 + sum(form in forms for forms in held))) for form in wanted}
    worth = [
        sum(rare[form] for form in forms) / (1 + _EARLIER * each.rank) / math.sqrt(1 + len(each.text) / _LONGEST)
        for each, forms in zip(said, held, strict=True)
    ]
    chosen: list[_Sentence] = []
    for number in sorted(range(len(said)), key=lambda at: (-worth[at], at)):
        if len(chosen) == _MOST or worth[number] <= max(worth) / 3:
            break
        if all(said[number].text != other.text for other in chosen):
            chosen.append(said[number])
    return chosen


def _beginnings(said: Sequence[_Sentence]) -> list[_Sentence]:
    first: dict[int, _Sentence] = {}
    for each in said:
        first.setdefault(each.rank, each)
    return list({each.text: each for each in first.values()}.values())[:_MOST]


def _missing(wanted: dict[str, str], said: Sequence[_Sentence]) -> list[str]:
    everything = "\n".join(each.text for each in said).casefold()
    return [word for form, word in wanted.items() if form not in everything]


def _not_found(question: str, chosen: Sequence[_Sentence], missing: Sequence[str]) -> str:
    if chosen:
        return f"Nothing found says: {', '.join(missing)}."
    return f"Nothing in the notes answers “{question.strip()}”."


def _sentences(found: FoundText, rank: int) -> Iterator[_Sentence]:
    """The sentences of a text with the lines of their paragraph; headings and front matter are none."""
    place = _PLACE.fullmatch(found.place)
    path, first = (place["path"], int(place["first"])) if place else ("", 0)
    # What was said in a session is shown with who said it: its lines are not those of the file.
    is_by_line = place is not None and int(place["last"] or first) - first == found.text.count("\n")
    front = _FRONT.match(found.text)
    first += found.text[: front.end()].count("\n") if front else 0
    for start, end, lines in _paragraphs(found.text[front.end() :] if front else found.text):
        where = f"{path}:{first + start}-{first + end}" if is_by_line else found.place
        for sentence in sentences(plain(" ".join(lines))):
            yield _Sentence(sentence[:_LONGEST], where, rank, found.about)


def _paragraphs(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """First and last line, from 0, of each paragraph and list item, and what it says."""
    held: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""]):
        bare = line.strip()
        begins = _MARK.match(bare) is not None
        if held and (not bare or begins or bare.startswith("#")):
            yield number - len(held), number - 1, held
            held = []
        if bare and not re.match(r"#{1,6}(\s|$)", bare):
            held.append(_MARK.sub("", bare))


def _shown(sentence: _Sentence) -> str:
    return f"{sentence.about}: {sentence.text}" if sentence.about else sentence.text


def _beginning(word: str) -> str:
    return word[: max(_STEM, len(word) - _ENDING)]

"""How well contradictions are told from what only looks like one: sentences of real notes, changed on purpose.

    python -m bench.contradictions [--data FOLDER] [--seed 0] [--each 60] [--show]

Each case is a sentence of a vault and what another note might say instead. To be found: another number, amount or date,
also in other words around it; a negation put in or taken out. Not to be found: the same said again or in another form,
the same amount in another unit, and another number said of another thing.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infold.librarian.offline.contradictions import Statement, claimed, contradictions, statements
from infold.vault.note import parse

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
VAULTS: Final = ("foam-docs", "forgetful-notes", "quartz-docs", "dendron-site")

_NUMBER: Final = re.compile(r"(?<![\w.,/#:-])\d+(?:\.\d+)?(?![\w]*\d|[-.:/]\d)")
_WORD: Final = re.compile(r"(?<![\w/.-])[a-z]{5,}(?![\w/-])")
_VERB: Final = re.compile(r"\b(is|are|was|were|can|will|should|has|does)\b(?! not|n't)")
_NEGATED: Final = re.compile(r"\b(is|are|was|were|can|will|should|does|do) ?not\b|\b(do|does|is|are|was|wo|ca)n't\b")
_MONTHS: Final = ("January", "March", "June", "September", "November")


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence and what stands against it. `kind` is how it was made."""

    kind: str
    before: str
    after: str
    is_contradiction: bool


def sentences_of(data: Path, vaults: tuple[str, ...] = VAULTS) -> list[str]:
    """Prose sentences of the vaults, each once, of a length that people write."""
    found: dict[str, None] = {}
    for vault in vaults:
        for file in sorted((data / "vaults" / vault).rglob("*.md")):
            try:
                note = parse(file.name, file.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                continue
            for said in statements(note):
                if 6 <= len(said.text.split()) <= 30 and said.text.endswith(".") and said.text[0].isupper():
                    found[said.text] = None
    return list(found)


def made_set(sentences: list[str], seed: int, each: int) -> list[Case]:
    """The cases: `each` of a kind, where there are so many sentences for it."""
    random_ = random.Random(seed)
    order = random_.sample(sentences, len(sentences))
    words = [word for text in sentences for word in _WORD.findall(text)]
    makers: dict[str, Callable[[str], tuple[str, str] | None]] = {
        "+ another number": lambda text: _renumbered(text, random_),
        "+ another number, said anew": lambda text: _both(_renumbered(text, random_), _again),
        "+ another date": lambda text: _dated(text, random_),
        "+ another amount": lambda text: _measured(text, random_),
        "+ negated": _negated,
        "+ no longer negated": _affirmed,
        "- the same": lambda text: (text, text),
        "- said anew": lambda text: (text, _again(text)),
        "- another unit": lambda text: _other_unit(text, random_),
        "- another form of the date": lambda text: _other_date(text, random_),
        "- of another thing": lambda text: _of_another(_renumbered(text, random_), words, random_),
        "- another thing, negated": lambda text: _of_another(_negated(text), words, random_),
    }
    return [
        Case(kind, *pair, kind.startswith("+")) for kind, make in makers.items() for pair in _first(make, order, each)
    ]


def _first(make: Callable[[str], tuple[str, str] | None], order: list[str], each: int) -> Iterator[tuple[str, str]]:
    made = 0
    for text in order:
        pair = make(text)
        if pair is not None and made < each:
            made += 1
            yield pair


def _renumbered(text: str, random_: random.Random) -> tuple[str, str] | None:
    match = _NUMBER.search(text)
    if match is None:
        return None
    other = float(match[0]) * random_.choice((2, 3, 5)) + random_.choice((1, 2, 4))
    return text, f"{text[: match.start()]}{other:g}{text[match.end() :]}"


def _again(text: str) -> str:
    """The same with a word that says when, as one writes it a second time."""
    match = _VERB.search(text)
    return f"{text[: match.end()]} now{text[match.end() :]}" if match else f"{text[:-1]}, currently."


def _both(pair: tuple[str, str] | None, turn: Callable[[str], str]) -> tuple[str, str] | None:
    return (pair[0], turn(pair[1])) if pair else None


def _dated(text: str, random_: random.Random) -> tuple[str, str]:
    first, second = random_.sample(range(1, 29), 2)
    month = random_.choice(_MONTHS)
    return f"{text[:-1]} since {first} {month} 2023.", f"{text[:-1]} since {month} {second}, 2023."


def _measured(text: str, random_: random.Random) -> tuple[str, str]:
    first, unit = random_.randint(2, 90), random_.choice(("GB", "minutes", "km", "%", "euros", "kg"))
    return f"{text[:-1]} for {first} {unit}.", f"{text[:-1]} for {first * 2 + 1} {unit}."


def _negated(text: str) -> tuple[str, str] | None:
    match = _VERB.search(text)
    if match is None or match[1] in ("has", "does") or _NEGATED.search(text):
        return None
    return text, f"{text[: match.end()]} not{text[match.end() :]}"


def _affirmed(text: str) -> tuple[str, str] | None:
    found = _negated(text)
    return (found[1], found[0]) if found else None


def _other_unit(text: str, random_: random.Random) -> tuple[str, str]:
    value = random_.randint(2, 9)
    forms = ((f"{value} minutes", f"{value * 60} seconds"), (f"{value} GB", f"{value * 1000} MB"),
             (f"{value} km", f"{value * 1000} m"), (f"{value},000 notes", f"{value}000 notes"),
             (f"{value} %", f"{value} percent"), (f"{value} kg", f"{value * 1000} g"))  # fmt: skip
    first, second = random_.choice(forms)
    return f"{text[:-1]} for {first}.", f"{text[:-1]} for {second}."


def _other_date(text: str, random_: random.Random) -> tuple[str, str]:
    day, month = random_.randint(10, 28), random_.randint(1, 5)
    name = ("January", "February", "March", "April", "May")[month - 1]
    first, second = random_.sample((f"2023-0{month}-{day}", f"{day} {name} 2023", f"{name} {day}, 2023"), 2)
    return f"{text[:-1]} since {first}.", f"{text[:-1]} since {second}."


def _of_another(pair: tuple[str, str] | None, words: list[str], random_: random.Random) -> tuple[str, str] | None:
    if pair is None:
        return None
    places = list(_WORD.finditer(pair[1]))
    if not places:
        return None
    place = random_.choice(places)
    other = random_.choice([word for word in random_.choices(words, k=9) if word != place[0]] or ["zeppelin"])
    return pair[0], f"{pair[1][: place.start()]}{other}{pair[1][place.end() :]}"


def is_found(case: Case) -> bool:
    """Whether the two sentences, in two notes, are taken for a contradiction."""
    older, newer = Statement("a.md", 1, case.before, "2023-01-01"), Statement("b.md", 1, case.after, "2024-01-01")
    return bool(contradictions([newer], claimed([older])))


def figures(cases: list[Case]) -> tuple[float, float]:
    """Precision and recall."""
    found = [case for case in cases if is_found(case)]
    right = sum(case.is_contradiction for case in found)
    return right / max(1, len(found)), right / max(1, sum(case.is_contradiction for case in cases))


def main() -> None:
    """Makes the set and prints how much of each kind is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--show", action="store_true", help="print what was judged wrongly")
    options = parser.parse_args()
    cases = made_set(sentences_of(options.data), options.seed, options.each)
    found, total = Counter[str](), Counter[str]()
    for case in cases:
        total[case.kind] += 1
        found[case.kind] += is_found(case)
        if options.show and is_found(case) != case.is_contradiction:
            print(f"{case.kind}\n  {case.before}\n  {case.after}")
    print("| kind | cases | found |\n|---|---|---|")
    for kind, count in total.items():
        print(f"| {kind} | {count} | {found[kind]} |")
    precision, recall = figures(cases)
    print(f"precision {precision:.3f}, recall {recall:.3f}")


if __name__ == "__main__":
    main()

"""How much of what answers a question is in an answer of so many tokens, for each compression, and how long it takes.

    python -m bench.packing [--vaults foam-docs,…] [--most 60] [--seed 0] [--time]

Questions of three kinds: what a link shows asks for its note, a heading (left out of the notes) asks for the passage
below it, and the judged questions of Cranfield ask for their abstracts. In each cell stand two figures: how often the
passage (of links: some passage of the note) is in the answer at all, and what share of its telling words is. Beside the
three compressions stands what needs no thought: the best passages, whole, until the answer is full.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from bench.suggest import VAULTS, notes_of
from infold.app import OpenVault, open_vault
from infold.evaluation.retrieval.generated import alias_links, heading_sets
from infold.evaluation.retrieval.sets import RetrievalSet
from infold.knowledge.filling import Candidate, PackedPiece
from infold.knowledge.gathering import DEPTH, gather
from infold.knowledge.packing import CompressionLevel, pack
from infold.search.index.contract import Filter, PointGroup
from infold.text import folded_words
from infold.vault.records import Note

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
BUDGETS: Final = (500, 1000, 2000, 4000, 8000, 16000, 32000)
WAYS: Final[tuple[CompressionLevel | Literal["top passages"], ...]] = ("top passages", "auto", "minimal", "none")
_LETTERS: Final = 4  # of a word that tells something
_PLAIN: Final = 120  # characters of a passage's element beside its text


@dataclass(frozen=True, slots=True)
class Gold:
    """What answers: a note, or its lines from `first` to `last`, and the words of it."""

    path: str
    first: int
    last: int
    words: frozenset[str]


def main() -> None:
    """Prints a table for each kind of question, then how long packing takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--vaults", default=",".join(VAULTS))
    parser.add_argument("--most", type=int, default=60, help="questions of each kind and vault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time", action="store_true", help="only how long packing takes")
    options = parser.parse_args()
    if not options.time:
        sums: dict[str, list[tuple[int, str, bool, float]]] = {}
        for vault in options.vaults.split(","):
            notes = notes_of(options.data / "vaults" / vault)
            for kind, found in sets_of(notes, options.seed, options.most):
                sums.setdefault(kind, []).extend(measure(found.notes, questions_of(found)))
        texts, questions = cranfield(options.data / "retrieval" / "cranfield-1-110.json", options.most)
        sums["Cranfield"] = list(measure(texts, questions))
        for kind, figures in sums.items():
            print_table(kind, figures)
    print_time()


def sets_of(notes: dict[str, Note], seed: int, most: int) -> Iterator[tuple[str, RetrievalSet]]:
    """The sets of a vault that its links and its headings ask for."""
    yield "links", alias_links(notes, seed, most)
    yield "headings, left out", heading_sets(notes, seed, most)[0]


def questions_of(found: RetrievalSet) -> list[tuple[str, list[Gold]]]:
    """Each question with what answers it."""
    asked = []
    for question in found.questions:
        golds = []
        for answer in question.relevant:
            path, _, lines = answer.partition(".md:")
            if lines:
                first, last = (int(part) for part in lines.split("-"))
                text = "\n".join(found.notes[f"{path}.md"].split("\n")[first - 1 : last])
                golds.append(Gold(f"{path}.md", first, last, telling(text)))
            else:
                golds.append(Gold(answer, 1, 10**9, frozenset()))
        asked.append((question.text, golds))
    return asked


def cranfield(file: Path, most: int) -> tuple[dict[str, str], list[tuple[str, list[Gold]]]]:
    """The abstracts as notes, and the judged questions."""
    data = json.loads(file.read_text(encoding="utf-8"))
    texts = {f"{doc['id']}.md": f"# {doc['title']}\n\n{doc['text']}\n" for doc in data["docs"]}
    questions = []
    for query in data["queries"][:most]:
        golds = [
            Gold(f"{number}.md", 1, 10**9, telling(texts[f"{number}.md"]))
            for number in query["relevant"]
            if f"{number}.md" in texts
        ]
        questions.append((query["q"], golds))
    return texts, questions


def telling(text: str) -> frozenset[str]:
    """The words of a text that tell something."""
    return frozenset(word for word in folded_words(text) if len(word) >= _LETTERS)


def measure(
    texts: Mapping[str, str], questions: Sequence[tuple[str, list[Gold]]]
) -> Iterator[tuple[int, str, bool, float]]:
    """For each question, budget and way: whether what answers is in the answer, and what share of its words."""
    with tempfile.TemporaryDirectory() as folder:
        vault_folder = Path(folder) / "vault"
        for path, text in texts.items():
            file = vault_folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        with open_vault(vault_folder, state=Path(folder) / "state") as vault:
            vault.sync_index()
            for question, golds in questions:
                passages, whole = (candidates(vault, question, how) for how in ("auto", "none"))
                for budget in BUDGETS:
                    for way in WAYS:
                        pieces = answer(way, question, whole if way == "none" else passages, budget)
                        for gold in golds:
                            yield budget, way, *held(pieces, gold)


def candidates(vault: OpenVault, question: str, compression: CompressionLevel) -> list[Candidate]:
    """What is found for a question."""
    found = vault.search(question, Filter(groups=(PointGroup.NOTEBOOK, PointGroup.DAILY)), DEPTH, 0.0, sync=False)
    return gather(found.places, vault.get, compression, lambda _: "", lambda _: "")


def answer(
    way: CompressionLevel | Literal["top passages"], question: str, found: Sequence[Candidate], budget: int
) -> Sequence[PackedPiece]:
    """The pieces of an answer."""
    if way != "top passages":
        return pack(question, found, budget, way).pieces
    room, pieces = budget * 4 - 400, []
    for candidate in found:
        room -= len(candidate.text) + len(candidate.path) + _PLAIN
        if room < 0:
            break
        pieces.append(PackedPiece(candidate, "whole", candidate.text))
    return pieces


def held(pieces: Iterable[PackedPiece], gold: Gold) -> tuple[bool, float]:
    """Whether a piece is of what answers, and what share of its words the pieces have."""
    own = [
        piece
        for piece in pieces
        if piece.candidate.path == gold.path
        and piece.candidate.start_line <= gold.last
        and piece.candidate.end_line >= gold.first
    ]
    words = {word for piece in own for word in folded_words(piece.text)}
    return bool(own), len(words & gold.words) / len(gold.words) if gold.words else float(bool(own))


def print_table(kind: str, figures: Sequence[tuple[int, str, bool, float]]) -> None:
    """A row a budget."""
    count = len(figures) // (len(BUDGETS) * len(WAYS))
    print(f"\n{kind}: {count} answers\n| tokens | {' | '.join(WAYS)} |\n|---|{'---|' * len(WAYS)}")
    for budget in BUDGETS:
        cells = []
        for way in WAYS:
            rows = [row for row in figures if row[:2] == (budget, way)]
            hits = sum(row[2] for row in rows) / max(1, len(rows))
            words = sum(row[3] for row in rows) / max(1, len(rows))
            cells.append(f"{hits:.3f} / {words:.3f}")
        print(f"| {budget} | {' | '.join(cells)} |")


def print_time() -> None:
    """How long a processor takes to pack a thousand candidates, warm, the best of seven."""
    line = "The pump of the house draws {n} kW on cold days, which is more than the old one did in any winter. "
    found = [
        Candidate(f"notes/{n}.md", 1, 20, "\n".join(line.format(n=n + k) for k in range(16)), 1 / (n + 1))
        for n in range(1000)
    ]
    print("\n| compression | tokens | ms for 1,000 candidates |\n|---|---|---|")
    for way in ("auto", "minimal", "none"):
        for budget in (8000, 32000):
            best = min(timed(found, budget, way) for _ in range(7))
            print(f"| {way} | {budget} | {best * 1000:.1f} |")


def timed(found: Sequence[Candidate], budget: int, way: CompressionLevel) -> float:
    """Seconds of the processor, which other work on the machine does not lengthen much."""
    started = time.process_time()
    pack("how much does the pump of the house draw in winter", found, budget, way)
    return time.process_time() - started


if __name__ == "__main__":
    main()

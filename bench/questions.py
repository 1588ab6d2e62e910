"""Sixty questions whose places are known: how often `ask` cites the right note, and lines that hold the answer.

    python -m bench.questions [--questions 60] [--skip 0] [--vaults foam-docs …]

Made from the vaults themselves, the same each time. A heading that no other of the vault has asks for its section:
"What do I have about HEADING?"; a link with words of its own around it asks for the note it leads to, by those words.
Beside `ask` offline and with a scripted model (that searches and explores for the question's words, and cites what it
read first), plain search; and all that the plan of `ask` looked up: the most that an answer can cite. What is tuned is
tuned on other questions: `--skip` leaves so many of each kind and vault out, those that are reported.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Final
from unittest.mock import patch

from bench.navigator import IN_FOLDERS, imported
from infold.app import OpenVault
from infold.librarian.questions import AnswerRequest, PlanRequest, is_within
from infold.navigator.navigation import RADIUS
from infold.navigator.nodes import NodeType
from infold.navigator.records import StoredNode
from infold.operations.ask import AskRequest, ask_
from infold.operations.memory import MemorySearchRequest, memory_search
from infold.text import collapse_spaces, words
from tests.fakes.scripted import ScriptedLibrarian

QUESTIONS: Final = 60
_FEWEST_WORDS: Final = 2  # of a heading that says what it is about
_FEWEST_TELLING: Final = 5  # of the line around a link
_LINK: Final = re.compile(r"!?\[\[[^\]]*\]\]|!?\[[^\]]*\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question, and the lines of the one note that answer it."""

    text: str
    path: str
    first: int
    last: int

    def is_right_note(self, place: str) -> bool:
        """Whether a place is of the note."""
        return place.rpartition(":")[0] == self.path

    def is_on_its_lines(self, place: str) -> bool:
        """Whether a place is within the lines that answer."""
        return is_within(place, f"{self.path}:{self.first}-{self.last}")


def known_questions(vault: OpenVault, count: int, skip: int = 0) -> list[KnownQuestion]:
    """So many questions of an imported vault, half from headings and half from links where there are enough.

    `skip` leaves the first of each kind out.
    """
    draw = random.Random(7)
    made = [sorted({each.text: each for each in found}.items()) for found in (_of_headings(vault), _of_links(vault))]
    for questions in made:
        draw.shuffle(questions)
    headings, links = ([each for _, each in questions][skip:] for questions in made)
    of_links = links[: count // 2]
    return [*headings[: count - len(of_links)], *of_links]


def _of_headings(vault: OpenVault) -> Iterator[KnownQuestion]:
    sections = [node for node in vault.navigator_store.every((NodeType.SECTION,)) if node.end_line > node.line + 1]
    titles = Counter(_bare(node.title) for node in vault.navigator_store.every() if node.title)
    for node in sections:
        title = _bare(node.title)
        if titles[title] == 1 and _says_enough(title):
            yield KnownQuestion(f"What do I have about {title}?", node.path, node.line, node.end_line)


def _of_links(vault: OpenVault) -> Iterator[KnownQuestion]:
    """The words of a line around its only link, where they stand in no more than one note, ask for where it leads."""
    store = vault.navigator_store
    articles = {node.path: node for node in store.every((NodeType.ARTICLE,))}
    edges = [
        edge
        for node in articles.values()
        for edge in store.links_from([each.id for each in store.of_article(node.path)])
    ]
    said = Counter(edge.context for edge in edges)
    for edge in edges:
        target = articles.get(edge.target_path)
        around = collapse_spaces(_LINK.sub(" ", edge.context).strip("-*#> \t|"))
        if target is None or edge.path == edge.target_path or said[edge.context] > 1 or edge.anchor:
            continue
        if len(words(around)) >= _FEWEST_TELLING:
            yield KnownQuestion(f"{_bare(target.title)}: {around}", target.path, target.line, target.end_line)


def _bare(title: str) -> str:
    return collapse_spaces(re.sub(r"[`*_#]", "", _LINK.sub(" ", title)))


def _says_enough(title: str) -> bool:
    return len(words(title)) >= _FEWEST_WORDS


@dataclass(slots=True)
class Score:
    """How many questions had the right note cited, had it cited first, and had lines that hold the answer."""

    asked: int = 0
    note: int = 0
    first: int = 0
    lines: int = 0

    def add(self, question: KnownQuestion, places: Sequence[str]) -> None:
        """Counts one answer by its places, in their order."""
        self.asked += 1
        self.note += any(map(question.is_right_note, places))
        self.first += bool(places) and question.is_right_note(places[0])
        self.lines += any(map(question.is_on_its_lines, places))

    def plus(self, other: Score) -> Score:
        """Both together."""
        return Score(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def row(self) -> str:
        """Shares, as a table has them."""
        return " | ".join(f"{count / max(1, self.asked):.2f}" for count in (self.note, self.first, self.lines))


def by_search(vault: OpenVault, question: KnownQuestion) -> list[str]:
    """The places of the first results of plain search, as many as an answer has statements at most."""
    answer = memory_search(vault, MemorySearchRequest(query=question.text, max_results=5))
    found = [each for group in answer.results.values() for each in group]
    return [f"{each.file_path}:{each.lines.start}-{each.lines.end}" for each in found]


def by_ask(vault: OpenVault, question: KnownQuestion) -> list[str]:
    """The places that `ask` cites, in the order of its statements."""
    answer = ask_(vault, AskRequest(question=question.text, caller="bench"))
    return [place for said in answer.statements for place in said.places]


def by_plan(vault: OpenVault, question: KnownQuestion) -> list[str]:
    """The places of all that was looked up for the answer."""
    return [each.place for each in ask_(vault, AskRequest(question=question.text, caller="bench")).evidence]


def by_script(vault: OpenVault, question: KnownQuestion) -> list[str]:
    """The same with a model that plans two looks and cites the first three texts it was shown."""
    librarian = ScriptedLibrarian(look=dict, edit=dict, plan_by=_plan, answer_by=_answer)

    @asynccontextmanager
    async def steps(_workspace: object = None) -> AsyncIterator[SimpleNamespace]:
        yield SimpleNamespace(librarian=librarian, usage=librarian.spend.usage)

    with patch.object(vault, "steps", steps):
        return by_ask(vault, question)


def _plan(request: PlanRequest) -> dict[str, object]:
    query = request.question.removeprefix("What do I have about ")
    return {"calls": [{"find": "search", "query": query}, {"find": "explore", "query": query}]}


def _answer(request: AnswerRequest) -> dict[str, object]:
    said = [{"text": "So it is.", "places": [each.place]} for each in request.evidence[:3]]
    return {"statements": said, "not_found": "" if said else "an answer"}


WAYS: Final = {
    "plain search, 5 places": by_search,
    "ask, offline": by_ask,
    "ask, scripted model": by_script,
    "all that ask looked up": by_plan,
}


def measured(vault: OpenVault, questions: Sequence[KnownQuestion]) -> dict[str, Score]:
    """The score of each way to answer."""
    scores = {way: Score() for way in WAYS}
    for question in questions:
        for way, answered in WAYS.items():
            scores[way].add(question, answered(vault, question))
    return scores


def distances(vault: OpenVault, questions: Sequence[KnownQuestion]) -> Iterator[tuple[float, float]]:
    """For each question the cosine distance of its nearest right node, and the share of all nodes that are as near."""
    cache = vault.navigator_vectors()
    vectors = cache.vectors()
    for question in questions:
        likeness = vectors.rows @ cache.query(question.text)
        nodes = vault.navigator_store.of_article(question.path)
        right = [vectors.places[node.id] for node in nodes if node.id in vectors.places and _is_of(node, question)]
        if right:
            best = max(float(likeness[place]) for place in right)
            yield 1 - best, float((likeness >= best).mean())


def within(vault: OpenVault, questions: Sequence[KnownQuestion], radius: float) -> float:
    """The median share of all nodes that are within a radius of a question."""
    cache = vault.navigator_vectors()
    vectors = cache.vectors()
    shares = sorted(float((vectors.rows @ cache.query(each.text) >= 1 - radius).mean()) for each in questions)
    return shares[len(shares) // 2]


def _is_of(node: StoredNode, question: KnownQuestion) -> bool:
    return question.first <= node.line and node.end_line <= question.last


def main() -> None:
    """Prints a row a vault and a way, all together last; then what a radius of so much holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--skip", type=int, default=0, help="questions of each kind and vault that are left out")
    parser.add_argument("--vaults", nargs="*", default=IN_FOLDERS)
    parser.add_argument("--embedding", default="static")
    options = parser.parse_args()
    each = options.questions // len(options.vaults)
    totals = {way: Score() for way in WAYS}
    far: list[tuple[float, float]] = []
    radii = (0.4, 0.5, 0.6, 0.65, 0.7, RADIUS, 0.8, 0.9)
    held: dict[float, list[float]] = {radius: [] for radius in radii}
    print("| vault | way | right note cited | cited first | lines that hold the answer |\n|---|---|---|---|---|")
    for name in options.vaults:
        with imported(name, options) as vault:
            vault.sync_index()
            questions = known_questions(vault, each, options.skip)
            for way, score in measured(vault, questions).items():
                totals[way] = totals[way].plus(score)
                print(f"| {name} ({score.asked}) | {way} | {score.row()} |", flush=True)
            far += distances(vault, questions)
            for radius in radii:
                held[radius].append(within(vault, questions, radius))
    for way, score in totals.items():
        print(f"| all ({score.asked}) | {way} | {score.row()} |")
    print("\n| radius | nearest right node is within | of all nodes, each vault |\n|---|---|---|")
    for radius in radii:
        share = sum(distance <= radius for distance, _ in far) / max(1, len(far))
        print(f"| {radius:g} | {share:.2f} | {', '.join(f'{part:.2f}' for part in held[radius])} |")


if __name__ == "__main__":
    main()

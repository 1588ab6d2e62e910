"""A retrieval set asked: its texts in a copy on disk, the product's own index over it, where each answer ranks.

Four ways side by side: grep for the rarest word, keywords (BM25), meaning (the embeddings), both fused as a search does
it. Texts and index are gone when it ends; vectors are kept where they took long.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infold.catalogue.passages import cut, indexed_text
from infold.catalogue.schema import FILE_NAME
from infold.catalogue.store import Catalogue
from infold.evaluation.baselines import RarestWord
from infold.evaluation.retrieval.records import AskedQuestion, SetResult
from infold.evaluation.retrieval.sets import RetrievalQuestion, RetrievalSet
from infold.notebook.sessions import PREFIX, SessionsFeed
from infold.search.embed.embedder import Embedder
from infold.search.index.contract import EVERYTHING, Filter, Hit
from infold.search.index.feeds import NotesFeed
from infold.search.index.sync import sync_index
from infold.search.query.searcher import Searcher
from infold.settings import Params
from infold.vault.files import safe_path
from infold.vault.note import parse

DEPTH: Final = 100  # passages of each way that are looked at
_SHOWN: Final = 5  # of each way, kept for whoever reads a miss


@dataclass(frozen=True, slots=True)
class OpenSet:
    """A set whose texts are indexed, ready to be asked."""

    asked: RetrievalSet
    searcher: Searcher
    passages: int


@contextlib.contextmanager
def opened(asked: RetrievalSet, params: Params, embedder: Embedder, vectors: Path | None) -> Iterator[OpenSet]:
    """The set's texts on disk and indexed, for as long as it is open; `vectors` is where embeddings are kept."""
    with tempfile.TemporaryDirectory(prefix="infold-retrieval-") as name:
        folder = Path(name)
        vault, sessions = folder / "vault", folder / "sessions"
        _write(vault, asked.notes)
        _write(sessions, {path.removeprefix(PREFIX): text for path, text in asked.sessions.items()})
        plain = params.model_copy(update={"vault": params.vault.model_copy(update={"notes_directory": "."})})
        catalogue = Catalogue(folder / FILE_NAME, vault, plain)
        feeds = (NotesFeed(catalogue), SessionsFeed(sessions, plain.search))
        sync_index(vault, folder / "index", vectors or folder / "vectors", plain, embedder, feeds=feeds)
        with Searcher(folder / "index", plain.search, embedder) as searcher:
            yield OpenSet(asked, searcher, searcher.count())


def ask(
    asked: RetrievalSet,
    params: Params,
    embedder: Embedder,
    vectors: Path | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> SetResult:
    """Every question of a set in each way. Raises what a sync raises."""
    grep = _Grep(asked, params)
    answers = []
    with opened(asked, params, embedder, vectors) as space:
        for n, question in enumerate(asked.questions):
            progress(n, len(asked.questions))
            answers.append(_asked(question, grep, space.searcher, asked.called))
        passages = space.passages
    return SetResult(
        name=asked.name,
        title=asked.title,
        meaning=asked.meaning,
        is_circular=asked.is_circular,
        texts=len(asked.notes) + len(asked.sessions),
        passages=passages,
        asked=tuple(answers),
    )


def units(question: RetrievalQuestion, hits: Sequence[Hit]) -> list[str]:
    """What the hits are counted as, best first and each once: notes, or where a section is asked for, places."""
    section = question.section
    if section is None:
        return list(dict.fromkeys(hit.path for hit in hits))
    answer = next(iter(question.relevant))

    def unit(hit: Hit) -> str:
        overlaps = hit.path == section.path and hit.start_line <= section.last and section.first <= hit.end_line
        return answer if overlaps else f"{hit.path}:{hit.start_line}-{hit.end_line}"

    return list(dict.fromkeys(map(unit, hits)))


def _asked(question: RetrievalQuestion, grep: _Grep, searcher: Searcher, called: Mapping[str, str]) -> AskedQuestion:
    where = Filter(paths=question.among) if question.among else EVERYTHING
    found = {
        "grep": grep.hits(question),
        "bm25": searcher.keyword(question.text, DEPTH, where),
        "dense": searcher.dense(question.text, DEPTH, where),
        "hybrid": searcher.hybrid(question.text, DEPTH, where, question.asked_on),
    }
    ranked = {way: units(question, hits) for way, hits in found.items()}
    name = called.get
    return AskedQuestion(
        id=question.id,
        text=question.text,
        relevant={name(unit, unit): grade for unit, grade in question.relevant.items()},
        ranks={
            way: {name(unit, unit): n for n, unit in enumerate(order, 1) if unit in question.relevant}
            for way, order in ranked.items()
        },
        first={way: tuple(name(unit, unit) for unit in order[:_SHOWN]) for way, order in ranked.items()},
    )


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    folder.mkdir()
    for path, text in texts.items():
        target = safe_path(folder, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


class _Grep:
    """The rarest word of a question, over whole texts; over passages where a section is asked for."""

    def __init__(self, asked: RetrievalSet, params: Params) -> None:
        self._places: dict[str, Hit] = {}
        texts: dict[str, str] = {}
        has_sections = any(question.section for question in asked.questions)
        for path, text in {**asked.notes, **asked.sessions}.items():
            if not has_sections:
                self._places[path] = Hit(path, 1, 1, (), 0.0)
                texts[path] = text
                continue
            note = parse(path, text)
            for n, passage in enumerate(cut(note, params.search.passage_tokens, params.search.overlap_tokens)):
                place = f"{path}\0{n:06}"
                self._places[place] = Hit(path, passage.start_line, passage.end_line, passage.trail, 0.0)
                texts[place] = indexed_text(passage, note.title)
        self._words = RarestWord(texts)

    def hits(self, question: RetrievalQuestion) -> list[Hit]:
        """What holds the word, the most often first."""
        found = [self._places[place] for place in self._words.ranking(question.text)]
        return [hit for hit in found if not question.among or hit.path in question.among][:DEPTH]

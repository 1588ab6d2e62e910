"""Retrieval sets in files: a BEIR folder, a JSON file with documents and questions, dated transcripts (JSON lines).

| what | form |
|---|---|
| a folder | `corpus.jsonl` (_id, title, text), `queries.jsonl` (_id, text), `qrels/*.tsv` (query, document, grade) |
| `*.json` | `docs` (id, title, text) and `queries` (q or text, relevant: ids), as in public Cranfield copies |
| `*.jsonl` | transcripts and questions, see `retrieval.sessions` |
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from infold.errors import UsageError
from infold.evaluation.retrieval.sessions import session_set
from infold.evaluation.retrieval.sets import RetrievalQuestion, RetrievalSet
from infold.text import collapse_spaces

_MEANING: Final = "questions of a collection and the documents judged to answer them"


def provided_set(name: str, path: Path, seed: int, most: int) -> RetrievalSet:
    """The set at `path`, with at most `most` of its questions. Raises UsageError, saying what is wrong with it."""
    try:
        if path.is_dir():
            found = _beir(name, path)
        elif path.suffix == ".jsonl":
            found = session_set(name, list(lines_of(path)))
        else:
            found = _documents(name, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"The set {name} cannot be read from {path}: {error}", hint=_FORMS) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"The set {name} at {path} lacks {error} or has another form.", hint=_FORMS) from error
    asked = tuple(question for question in found.questions if question.relevant)
    if not asked:
        raise UsageError(f"The set {name} at {path} has no question with an answer.", hint=_FORMS)
    chosen = random.Random(f"{name}:{seed}").sample(asked, most) if len(asked) > most else asked
    return RetrievalSet(
        found.name, found.title, found.meaning, tuple(chosen), found.notes, found.sessions, called=found.called
    )


_FORMS: Final = (
    "A set is a BEIR folder (corpus.jsonl, queries.jsonl, qrels/*.tsv), a JSON file with docs and queries, or a JSONL "
    "file of transcripts and questions; docs/evaluation.md shows each."
)


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file. Raises ValueError naming the line that is none."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield dict(json.loads(line))
                except (ValueError, TypeError) as error:
                    raise ValueError(f"line {number} of {path.name} is no JSON object") from error


def _beir(name: str, folder: Path) -> RetrievalSet:
    tables = sorted((folder / "qrels").glob("*.tsv"))
    if not tables:
        raise ValueError("there is no qrels/*.tsv")
    table = next((table for table in tables if table.stem == "test"), tables[0])
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for row in table.read_text(encoding="utf-8").splitlines():
        parts = row.split("\t")
        if len(parts) >= 3 and parts[-1].strip().lstrip("-").isdigit():  # the first row names the columns
            grades[parts[0]][parts[-2]] = int(parts[-1])
    documents = (
        (str(line["_id"]), line.get("title") or "", line["text"]) for line in lines_of(folder / "corpus.jsonl")
    )
    asked = ((str(line["_id"]), line["text"]) for line in lines_of(folder / "queries.jsonl"))
    return _set(name, documents, ((number, text, grades[number]) for number, text in asked if number in grades))


def _documents(name: str, content: Mapping[str, Any]) -> RetrievalSet:
    documents = ((str(entry["id"]), entry.get("title") or "", entry["text"]) for entry in content["docs"])
    asked = (
        (str(n), entry["q"] if "q" in entry else entry["text"], {str(number): 1 for number in entry["relevant"]})
        for n, entry in enumerate(content["queries"], 1)
    )
    return _set(name, documents, asked)


def _after(title: str, text: str) -> str:
    """The text without a title that it opens with as a sentence of its own."""
    rest = text.removeprefix(title) if title.rstrip()[-1:] in tuple(".!?") else text
    return rest.lstrip()


def _set(
    name: str,
    documents: Iterable[tuple[str, str, str]],
    asked: Iterable[tuple[str, str, Mapping[str, int]]],
) -> RetrievalSet:
    """Each document as a note, its title as the heading; a text that repeats the title first says it once."""
    notes: dict[str, str] = {}
    paths: dict[str, str] = {}
    for n, (number, title, text) in enumerate(documents):
        path = paths[number] = f"d{n:06}.md"
        heading = collapse_spaces(title)
        notes[path] = f"# {heading}\n\n{_after(title, text)}\n" if heading else f"{text}\n"
    return RetrievalSet(
        name=name,
        title=name,
        meaning=_MEANING,
        questions=tuple(
            RetrievalQuestion(
                number, text, {paths[each]: grade for each, grade in grades.items() if grade > 0 and each in paths}
            )
            for number, text, grades in asked
        ),
        notes=notes,
        called={path: number for number, path in paths.items()},
    )

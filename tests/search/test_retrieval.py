"""What is found is what is wanted: a public collection with judged answers, and a floor that must hold."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from infold.search.index.sync import sync_index
from infold.search.query.searcher import Searcher
from infold.settings import Params

KEYWORD_FLOOR = 0.36  # nDCG@10 of keywords; measured .371, and .378 with static embeddings
QUESTIONS = 110


@pytest.fixture(scope="module")
def cranfield(shared_data: Path, tmp_path_factory, static_embedder) -> tuple[Searcher, list[dict]]:  # type: ignore[misc]
    """1,400 abstracts as notes, indexed, and 110 questions with the notes that answer them."""
    file = shared_data / "retrieval" / "cranfield-1-110.json"
    if not file.is_file():
        pytest.skip(f"no {file}")
    data = json.loads(file.read_text())
    root = tmp_path_factory.mktemp("cranfield")
    (root / "vault").mkdir()
    for document in data["docs"]:
        title = document["title"]
        text = document["text"].removeprefix(title)
        (root / "vault" / f"{document['id']}.md").write_text(f"# {title}\n\n{text}\n")
    sync_index(root / "vault", root / "index", root / "embeddings", Params(), static_embedder)
    with Searcher(root / "index", Params().search, static_embedder) as searcher:
        yield searcher, data["queries"]


def gain(found: list[str], wanted: set[str], depth: int = 10) -> float:
    """NDCG at `depth`: what was found, each note once, beside the best there could be."""
    notes = list(dict.fromkeys(found))[:depth]
    reached = sum(1 / math.log2(place + 2) for place, path in enumerate(notes) if path in wanted)
    return reached / sum(1 / math.log2(place + 2) for place in range(min(depth, len(wanted))))


def test_keywords_reach_their_floor_and_meaning_does_no_harm(cranfield):
    """A change to terms, passages or weights that makes search worse does not go unnoticed."""
    searcher, queries = cranfield
    assert len(queries) == QUESTIONS
    keyword = hybrid = 0.0
    for query in queries:
        wanted = {f"{number}.md" for number in query["relevant"]}
        keyword += gain([hit.path for hit in searcher.keyword(query["q"], 30)], wanted)
        hybrid += gain([hit.path for hit in searcher.hybrid(query["q"], 30)], wanted)
    assert keyword / QUESTIONS >= KEYWORD_FLOOR
    assert hybrid / QUESTIONS >= keyword / QUESTIONS - 0.005

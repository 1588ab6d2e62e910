"""How near a question about nothing comes to the best passage of a vault, and how near one that has an answer.

`python bench/cosine_floors.py`: for each public vault the cosine of the best passage, for strings of random letters,
for questions of aerodynamics (the Cranfield collection), and for headings of the vault's own notes. What lies between
the first two and the last is the floor in `search.embed.similarity_threshold`.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import string
import tempfile
from pathlib import Path

from bench.synthetic import VAULTS, shared_data
from infold.search.embed.similarity_threshold import floor_of
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.sync import sync_index
from infold.search.query.searcher import Searcher
from infold.settings import Params

QUESTIONS = 100
_HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)


def main() -> None:
    """Prints three lines a vault."""
    data = shared_data()
    chance = random.Random(1)
    cranfield = json.loads((data / "retrieval" / "cranfield-1-110.json").read_text())["queries"]
    nonsense = [" ".join(word(chance) for _ in range(chance.randint(1, 4))) for _ in range(QUESTIONS)]
    elsewhere = [query["q"] for query in cranfield][:QUESTIONS]
    embedder = StaticEmbedder()
    print(f"{embedder.name}: floor {floor_of(embedder)}")
    for name in VAULTS:
        vault = data / "vaults" / name
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(vault.rglob("*.md"))]
        headings = sorted({heading.strip() for text in texts for heading in _HEADING.findall(text)})
        own = chance.sample(headings, min(QUESTIONS, len(headings)))
        with tempfile.TemporaryDirectory() as folder:
            sync_index(vault, Path(folder) / "index", Path(folder) / "embeddings", Params(), embedder)
            with Searcher(Path(folder) / "index", Params().search, embedder) as searcher:
                for what, questions in (("nonsense", nonsense), ("elsewhere", elsewhere), ("own headings", own)):
                    print(f"{name:16} {what:13} {described(searcher, questions)}")


def word(chance: random.Random) -> str:
    """Four to seven random letters."""
    return "".join(chance.choices(string.ascii_lowercase, k=chance.randint(4, 7)))


def described(searcher: Searcher, questions: list[str]) -> str:
    """Percentiles of the best cosine of each question."""
    best = [hits[0].score for question in questions if (hits := searcher.dense(question, 1))]
    cuts = statistics.quantiles(best, n=100)
    return "  ".join(f"p{share} {cuts[share - 1]:.2f}" for share in (5, 10, 50, 90, 95, 99))


if __name__ == "__main__":
    main()

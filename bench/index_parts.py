"""What a first index takes beside the sum of its parts alone, in CPU seconds per 1,000 passages, without workers.

`python -m bench.index_parts [NOTES]`, 2,000 by default. Each part is given what it needs ready made: points to the
words, texts to the embeddings, records to the engine of vectors. What a process of its own takes, as compacting has
one, counts. The least of three rounds counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.synthetic import shared_data, templates, write_vault
from infold.app import open_vault
from infold.catalogue.records import WrittenNote
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.librarian.offline.summaries import extract
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.index.compaction import LOOSE_PASSAGES
from infold.search.index.contract import Vector, VectorRecord
from infold.search.index.engines import open_engine
from infold.search.index.generations import Generations
from infold.search.index.point_ids import point_number
from infold.search.index.points import NotePoints, NoteToIndex, points_of
from infold.search.index.word_writer import WordWriter
from infold.settings import Params
from infold.text import content_hash
from infold.vault.front_matter import without_front_matter
from infold.workers import BATCH

ROUNDS = 3
COMPACT_SECONDS = 60.0


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=int, nargs="?", default=2000)
    os.cpu_count = lambda: 1  # no workers: their share would count as the parts' too
    with tempfile.TemporaryDirectory() as folder:
        vault = write_vault(Path(folder) / "vault", parser.parse_args().notes, templates(shared_data()))
        rounds = [_round(vault, Path(folder) / str(number)) for number in range(ROUNDS)]
    least = {name: min(each[name] for each in rounds) for name in rounds[0]}
    whole = least.pop("the whole of `infold index`")
    table = Table("part alone", "CPU s per 1,000 passages")
    for name, seconds in least.items():
        table.add_row(name, f"{seconds:.3f}")
    table.add_section()
    table.add_row("sum of the parts", f"{sum(least.values()):.3f}")
    table.add_row("the whole of `infold index`", f"{whole:.3f}")
    table.add_row("times", f"{whole / sum(least.values()):.2f}")
    Console().print(table, f"load average {os.getloadavg()[0]:.1f}")


def _round(vault: Path, state: Path) -> dict[str, float]:
    """CPU seconds per 1,000 passages, by part."""
    params, took = Params(), dict[str, float]()
    with open_vault(vault, state=state / "whole") as opened:
        took["the whole of `infold index`"] = _cpu(opened.sync)
    catalogue = Catalogue(state / "catalogue.sqlite", vault, params)
    took["catalogue: read, parsed, cut, links resolved"] = _cpu(lambda: sync_catalogue(catalogue))
    written = [catalogue.written(path, with_blocks=False) for path in catalogue.paths()]
    made: list[NotePoints] = []
    took["points of the notes, their terms"] = _cpu(
        lambda: made.extend(chain.from_iterable(points_of(some, params.search) for some in _batches(written)))
    )
    points = [point for each in made for point in each.points]
    words = WordWriter(state / "words")
    took["words: written"] = _cpu(partial(words.replace, (), points), words.commit, words.close)
    texts = {key: text for each in made for key, text in zip(each.keys, each.texts, strict=True)}
    embedder = StaticEmbedder()
    embedder.embed(["warm"] * 40)  # loads the model, but no word of these texts is known yet
    vectors: dict[str, Vector] = {}
    took["vectors: computed"] = _cpu(
        lambda: vectors.update(zip(texts, embedder.embed(list(texts.values())), strict=True))
    )
    keys = [key for each in made for key in each.keys]
    records = [VectorRecord(point_number(point.id), vectors[key]) for point, key in zip(points, keys, strict=True)]
    (state / "index").mkdir()
    engine, generation = open_engine(state / "index"), Generations(state / "index").new_generation()
    index = engine.create(generation, embedder.size)
    took["vectors: written to their engine"] = _cpu(partial(index.put, records), index.flush, index.close)
    if len(points) >= LOOSE_PASSAGES:  # with fewer the whole leaves it out too
        took["vectors: compacted"] = _cpu(lambda: engine.compact(generation, COMPACT_SECONDS))
    bodies = {content_hash(each.note.text): without_front_matter(each.note.text) for each in written}
    took["summaries"] = _cpu(lambda: [extract(body, 75, 100) for body in bodies.values()])
    catalogue.close()
    return {name: seconds * 1000 / len(points) for name, seconds in took.items()}


def _batches(written: Sequence[WrittenNote]) -> Iterator[list[NoteToIndex]]:
    """The notes as a worker gets them."""
    notes = [NoteToIndex(each.note, "standard", None, each.passages) for each in written]
    return (notes[start : start + BATCH] for start in range(0, len(notes), BATCH))


def _cpu(*work: Callable[[], object]) -> float:
    started = _spent()
    for each in work:
        each()
    return _spent() - started


def _spent() -> float:
    """CPU seconds of this process and of those it waited for."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


if __name__ == "__main__":
    main()

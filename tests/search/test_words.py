"""The words of the index: BM25 by our own terms, filters, commits that are whole, readers beside a writer, damage."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.errors import IndexFault
from infold.search.index.contract import Filter, Hit, IndexPoint, PointGroup, facts_of
from infold.search.index.point_ids import bucket_of, passage_id, passage_ids, point_number
from infold.search.index.word_writer import WordWriter
from infold.search.index.words import WordIndex
from infold.search.query.results import Result
from infold.search.terms import document_words, query_weights
from tests.search.filters import FILTERS, PATHS, POINTS, id_of, lets_through, point

LEVAIN = {"levain": 1.0}


def said(n: int, path: str, text: str, language: str = "english") -> IndexPoint:
    """A point with the words of a text."""
    words, written = document_words(text, language)
    return point(n, path, words)._replace(written=written)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[WordWriter]:
    with closing(WordWriter(tmp_path / "words", is_little=True)) as made:
        made.commit()
        yield made


@pytest.fixture
def index(writer: WordWriter) -> Iterator[WordIndex]:
    with closing(WordIndex(writer.folder)) as opened:
        yield opened


def put(writer: WordWriter, *points: IndexPoint) -> None:
    writer.put(points)
    writer.commit()


@pytest.mark.parametrize("record", [IndexPoint, Hit, Result])
def test_points_hits_and_results_have_the_same_facts(record):
    """What the index keeps of a point beside where it stands has one name and one default in all three."""
    facts = facts_of(Hit("a.md", 1, 1, (), 0.0))
    assert {name: record._field_defaults[name] for name in facts} == facts


def test_a_hit_is_the_point_that_was_given(writer: WordWriter, index: WordIndex):
    """Every field of a point comes back with it, in whatever script; what was not given stays empty."""
    bare = point(3, "a/b é.md")
    full = point(4, "日本/ノート.md", "stone")._replace(
        trail=("Öl", "“quoted”", "x\ty\nz"),
        kind="daily",
        group=PointGroup.MEMORY,
        date="2026-02-28",
        tags=("Work/Urgent", "b"),
        level="node",
        trust="external",
        parent="node 7",
    )
    put(writer, bare, full)
    for given_, word in ((bare, "levain"), (full, "stone")):
        (hit,) = index.search({word: 1.0}, 5).scored
        for field in ("id", "path", "start_line", "end_line", "title", "trail", "kind", "group", "date", "level"):
            assert getattr(hit, field) == getattr(given_, field)
        assert (hit.trust, hit.parent) == (given_.trust, given_.parent)
        assert index.hits([given_.id, id_of(99)]) == {given_.id: hit._replace(score=0.0)}
    assert hit.tags == ("b", "work", "work/urgent")


def test_scores_are_bm25(writer: WordWriter, index: WordIndex):
    """Scores equal BM25 as the books have it, computed here in ten lines, for every document and query."""
    documents = [
        "the levain rises in the cold kitchen overnight",
        "levain levain levain and more levain",
        "the oven is hot the stone is hotter",
        "a kitchen is cold in winter and the levain sleeps",
        "stone",
    ]
    put(writer, *(point(n, f"{n}.md", text) for n, text in enumerate(documents)))
    counted = [Counter(text.split()) for text in documents]
    mean = sum(len(text.split()) for text in documents) / len(documents)
    for query in ({"levain": 1.0}, {"cold": 1.0, "kitchen": 0.5, "levain": 1.0}, {"the": 0.3, "stone": 2.0}):
        expected = {}
        for n, found in enumerate(counted):
            score = 0.0
            for term, weight in query.items():
                holding = sum(term in other for other in counted)
                idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
                norm = 1.2 * (0.25 + 0.75 * sum(found.values()) / mean)
                score += weight * idf * found[term] * 2.2 / (found[term] + norm)
            if score:
                expected[f"{n}.md"] = score
        got = {hit.path: hit.score for hit in index.search(query, 10).scored}
        assert got == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "language, text, question",
    [
        ("english", "The cats were running", "cat runs"),
        ("portuguese", "As razões do pão", "razão"),
        ("german", "Die Häuser am Fluß", "haus"),
        ("english", "検索エンジンの設定", "検索"),
        ("english", "call read_file_bytes() on C++ 3.14", "bytes"),
        ("english", "on 2026-01-02 at noon", "2026"),
        ("russian", "читали книги", "книга"),
    ],
)
def test_words_of_every_kind_are_found(writer, index, language: str, text: str, question: str):
    """Stems by language, marks and none, pairs of signs, parts of identifiers and numbers."""
    put(writer, said(1, "a.md", text, language), said(2, "b.md", "nothing of the kind"))
    assert [hit.path for hit in index.search(query_weights(question, (language,)), 5).scored] == ["a.md"]


def test_what_is_asked_with_nothing_finds_nothing(writer: WordWriter, index: WordIndex):
    """No words and no results wanted are no error."""
    put(writer, point(1, "a.md"))
    assert index.search({}, 5).scored == []
    assert index.search(LEVAIN, 0).scored == []
    assert index.hits([]) == {}


def test_replacing_a_path_takes_all_its_points(writer: WordWriter, index: WordIndex):
    """Every passage of the note goes, and no other; a point is replaced by its id."""
    put(writer, *(point(n, f"{n % 2}.md") for n in range(10)))
    writer.replace(["1.md", "never.md"], [point(20, "1.md", "stone")])
    writer.commit()
    assert {hit.path for hit in index.search(LEVAIN, 20).scored} == {"0.md"}
    put(writer, point(20, "1.md", "oven"))
    assert index.search({"stone": 1.0}, 5).scored == []
    writer.delete([id_of(20), id_of(77)])
    writer.commit()
    assert index.count() == 5


@given(st.integers(0, 2**63 - 1))
def test_the_id_of_a_passage_is_its_number(number: int):
    """What engines know a passage by is what its id says, and the other way round."""
    assert point_number(passage_id(number)) == number


def test_one_passage_among_many_of_its_note_is_looked_up_and_taken_away(writer: WordWriter, index: WordIndex):
    """All passages of a note are in one bucket, far more than are looked at first: only the one meant is given, or goes."""
    ids = passage_ids("a.md", [f"text {n % 50}" for n in range(100)])
    assert len({bucket_of(point_number(one)) for one in ids}) == 1
    put(writer, *(point(n, "a.md")._replace(id=one) for n, one in enumerate(ids)))
    assert [(one, hit.start_line) for one, hit in index.hits(ids[70:71]).items()] == [(ids[70], 70)]
    assert set(index.hits(ids)) == set(ids)
    other = passage_ids("a.md", ["no text there"])
    assert writer.missing([*map(point_number, (*ids[:3], *other))]) == [point_number(other[0])]
    writer.delete([ids[70], *other])
    writer.commit()
    assert set(index.hits(ids)) == {*ids} - {ids[70]}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_points=POINTS, filters=st.lists(FILTERS, min_size=3, max_size=3))
def test_a_filter_lets_through_what_its_words_say(writer, index, given_points: list[dict], filters: list[Filter]):
    """Groups, kinds, levels, trust, paths, prefixes, nested tags, nodes and days, alone and together."""
    points = [point(n, **values) for n, values in enumerate(given_points)]
    writer.replace(list(PATHS), points)
    writer.commit()
    for where in (Filter(), *filters):
        expected = {one.id for one in points if lets_through(where, one)}
        assert {hit.id for hit in index.search(LEVAIN, 50, where).scored} == expected
        assert {hit.id for hit in index.points(where)} == expected
        assert set(index.hits([one.id for one in points], where)) == expected
        assert index.count(where) == len(expected)


def test_a_filter_counts_nothing(writer: WordWriter, index: WordIndex):
    """The score of a hit is the same under every filter that it meets."""
    put(writer, *(point(n, f"work/{n}.md", "levain " * n, tags=("a",)) for n in range(1, 5)))
    plain = [(hit.id, hit.score) for hit in index.search(LEVAIN, 9).scored]
    assert [
        (hit.id, hit.score) for hit in index.search(LEVAIN, 9, Filter(prefixes=("work",), tags=("a",))).scored
    ] == plain


def test_nothing_is_seen_before_a_commit(writer: WordWriter, index: WordIndex):
    """And what was not committed is forgotten when the writer closes."""
    put(writer, point(1, "a.md"))
    writer.replace(["a.md"], [point(2, "b.md")])
    assert [hit.path for hit in index.search(LEVAIN, 5).scored] == ["a.md"]
    writer.close()
    with closing(WordIndex(writer.folder)) as again:
        assert [hit.path for hit in again.search(LEVAIN, 5).scored] == ["a.md"]


def test_a_commit_is_one_step_for_whoever_searches(writer: WordWriter, index: WordIndex):
    """While a note of five passages is replaced over and over, each query sees all of one version and none of another."""
    versions = [[point(v * 100 + n, "a.md") for n in range(5)] for v in range(2)]
    put(writer, *versions[0])
    seen: set[tuple[int, ...]] = set()
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            seen.add(tuple(sorted(hit.start_line for hit in index.search(LEVAIN, 20).scored)))

    thread = threading.Thread(target=look)
    thread.start()
    for turn in range(20):
        writer.replace(["a.md"], versions[(turn + 1) % 2])
        writer.commit()
    is_over.set()
    thread.join()
    assert seen == {(0, 1, 2, 3, 4), (100, 101, 102, 103, 104)}


KILLED = """
import os, sys
from pathlib import Path
from infold.search.index.word_writer import WordWriter
from tests.search.filters import point

writer = WordWriter(Path(sys.argv[1]), is_little=True)
print("begins", flush=True)
for version in range(100_000):
    writer.replace(["a.md"], [point(version * 10 + n, "a.md", f"levain v{version}") for n in range(5)])
    writer.commit()
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_writer_leaves_each_note_whole_and_the_next_one_opens(tmp_path: Path):
    """SIGKILL at moments of chance: all five passages of one version are there, and the lock is nobody's."""
    folder = tmp_path / "words"
    for pause in (0.0, 0.02, 0.05, 0.11, 0.23):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "begins\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.05 + pause)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        with closing(WordWriter(folder, is_little=True)) as writer:
            writer.commit()
        with closing(WordIndex(folder)) as index:
            lines = sorted(hit.start_line % 10 for hit in index.points())
            versions = {hit.start_line // 10 for hit in index.points()}
            assert lines in ([], [0, 1, 2, 3, 4])
            assert len(versions) <= 1


@pytest.mark.parametrize("file", [".term", ".idx", ".store", ".fieldnorm", "meta.json"])
@pytest.mark.parametrize("how", ["garbled", "short", "gone"])
def test_damage_is_told_and_ends_no_process(writer: WordWriter, file: str, how: str):
    """Whatever file is not as it was written: opening is an IndexFault that says what to do, for readers and writers."""
    put(writer, *(point(n, f"{n}.md", f"levain word{n}") for n in range(50)))
    writer.close()
    for found in [one for one in writer.folder.iterdir() if one.name.endswith(file)]:
        data = bytearray(found.read_bytes())
        middle = len(data) // 3
        data[middle : middle + 8] = bytes(sign ^ 0xFF for sign in data[middle : middle + 8])
        if how == "gone":
            found.unlink()
        else:
            found.write_bytes(data if how == "garbled" else data[: len(data) // 2])
    for kind in (WordIndex, WordWriter):
        if kind is WordWriter and file == "meta.json" and how == "gone":
            continue  # a folder without one is where a new index is made
        with pytest.raises(IndexFault) as fault:
            kind(writer.folder).close()
        assert "infold index" in fault.value.hint


def test_files_that_are_as_the_writer_left_them_are_not_read_again(writer: WordWriter, monkeypatch):
    """Opening costs no look at every byte: only what has another size or time than was noted is checked."""
    put(writer, point(1, "a.md"))
    writer.close()
    looked: list[Path] = []
    monkeypatch.setattr("infold.search.index.integrity._is_whole", lambda file: bool(looked.append(file)) or True)
    WordIndex(writer.folder).close()
    assert looked == []
    sealed = json.loads((writer.folder / "seal.json").read_text())
    os.utime(writer.folder / next(iter(sealed)))
    WordIndex(writer.folder).close()
    assert [file.name for file in looked] == [next(iter(sealed))]


def test_deletions_that_are_being_written_are_no_damage(writer: WordWriter):
    """A reader that opens while a commit is under way looks at the files of the one before."""
    put(writer, point(1, "a.md"))
    writer.close()
    segment = next(file.stem for file in writer.folder.glob("*.store"))
    (writer.folder / f"{segment}.99999.del").write_bytes(b"half of")
    with closing(WordIndex(writer.folder)) as found:
        assert found.count() == 1


def test_a_closed_index_says_so(writer: WordWriter, index: WordIndex):
    """Closing twice is no fault, use after it is."""
    for one in (index, writer):
        one.close()
        one.close()
    with pytest.raises(IndexFault, match="closed"):
        index.count()
    with pytest.raises(IndexFault, match="closed"):
        writer.commit()

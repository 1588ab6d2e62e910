"""Retrieval asked and added up: figures by hand, ranks from the real index, the demo vault held to its figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from infold.app import open_workspace
from infold.errors import UsageError
from infold.evaluation.retrieval.accepted import falls, read_accepted
from infold.evaluation.retrieval.asking import ask
from infold.evaluation.retrieval.figures import MEASURES, ndcg, recall, reciprocal, set_figures
from infold.evaluation.retrieval.records import AskedQuestion, SetResult
from infold.evaluation.retrieval.report import metrics, report_text, write_report
from infold.evaluation.retrieval.sets import RelevantLines, RetrievalQuestion, RetrievalSet
from infold.evaluation.summaries import judge_summaries, summary_figures
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.embed.static_embedder import StaticEmbedder
from infold.settings import load_params
from infold.vault.note import parse
from infold.vault_evaluation import measure_retrieval
from infold.workspace import Workspace
from tests.evaluation.conftest import note_text

REPOSITORY = Path(__file__).resolve().parents[2]
ACCEPTED = REPOSITORY / "data" / "metrics" / "retrieval.json"


def asked(**ranks: dict[str, int]) -> AskedQuestion:
    return AskedQuestion(id="q", text="q", relevant={"a": 1, "b": 1}, ranks=ranks)


def test_measures_are_those_of_the_books():
    """Two answers, at ranks 2 and 12: counted by hand."""
    question = asked(bm25={"a": 2, "b": 12})
    assert [recall(depth)(question, "bm25") for depth in (1, 5, 10)] == [0, 0.5, 0.5]
    assert reciprocal(question, "bm25") == 0.5
    assert ndcg(question, "bm25") == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    assert all(measure(question, "dense") == 0 for _, measure in MEASURES.values())


def test_a_lead_is_over_the_better_half_on_the_same_questions():
    """The hybrid is compared with whichever of BM25 and embeddings is better; its misses are those without an answer."""
    rows = (
        asked(bm25={"a": 1, "b": 2}, dense={"a": 5}, hybrid={"a": 1, "b": 2}),
        asked(bm25={"a": 1}, dense={"a": 9}, hybrid={"a": 30}),
    )
    figures = set_figures(SetResult(name="s", title="s", meaning="", texts=1, passages=1, asked=rows), 200)
    assert figures.better_half == "bm25"
    assert figures.lead == pytest.approx((1 + 0) / 2 - (1 + ndcg(rows[1], "bm25")) / 2)
    assert figures.misses == (rows[1],)


def test_every_way_is_asked_of_the_real_index():
    """A note found by its own rare words is first in grep, keywords and hybrid; a section by the lines it has."""
    notes = {f"{name}.md": note_text(name) for name in ("bees", "bread", "boats")}
    lines = notes["bread.md"].splitlines()
    start = next(n for n, line in enumerate(lines, 1) if line.startswith("## The crust"))
    questions = RetrievalSet("s", "s", "", (RetrievalQuestion("1", "halyard tiller jib", {"boats.md": 1}),), notes)
    sections = RetrievalSet(
        "t",
        "t",
        "",
        (RetrievalQuestion("2", "hydration proof", {"x": 1}, RelevantLines("bread.md", start + 1, start + 2)),),
        notes,
    )
    params = load_params(None, ["search.embedding=static"])
    (first,) = ask(questions, params, StaticEmbedder()).asked
    assert [first.ranks[way] for way in ("grep", "bm25", "hybrid")] == [{"boats.md": 1}] * 3
    (second,) = ask(sections, params, StaticEmbedder()).asked
    assert second.ranks["bm25"] == {"x": 1}


def test_a_session_is_found_among_its_own_haystack():
    """Transcripts are searched as the product indexes them, and what is not in a question's haystack is not found."""
    say = '{{"role": "user", "content": "The cat is called {}."}}\n'
    sessions = {f"sessions/{name}.jsonl": say.format(name) for name in ("nebula", "comet")}
    question = RetrievalQuestion(
        "1", "cat called nebula", {"sessions/nebula.jsonl": 1}, among=("sessions/nebula.jsonl",)
    )
    params = load_params(None, ["search.embedding=none"])
    (found,) = ask(RetrievalSet("s", "s", "", (question,), sessions=sessions), params, NO_EMBEDDER).asked
    assert found.ranks["bm25"] == {"sessions/nebula.jsonl": 1}
    assert found.first["bm25"] == ("sessions/nebula.jsonl",)
    assert found.first["grep"] == ("sessions/nebula.jsonl",)


def test_the_report_says_where_a_miss_ranks(vault, place, tmp_path):
    """Every form of the report is written, and each question is in it with its ranks."""
    space = place(vault, "evaluate.questions=5")
    with open_workspace(space) as opened:
        found = measure_retrieval(opened)
    write_report(tmp_path / "report", found)
    rows = [json.loads(line) for line in (tmp_path / "report" / "queries.jsonl").read_text().splitlines()]
    assert len(rows) == sum(len(each.result.asked) for each in found.sets)
    assert all({"grep", "bm25", "dense", "hybrid"} == set(row["ranks"]) for row in rows)
    assert "hybrid − better half" in report_text(found)
    assert "<table>" in (tmp_path / "report" / "report.html").read_text()


def test_a_vault_with_nothing_to_ask_says_so(tmp_path, place):
    """A single line asks nothing, and what to do is said."""
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "a.md").write_text("One line.\n")
    with open_workspace(place(tmp_path / "small")) as opened, pytest.raises(UsageError, match="Nothing can be asked"):
        measure_retrieval(opened)


def test_summaries_that_make_things_up_are_told():
    """A content word that the note lacks is counted and named; a summary leads to its note, a title to its summary."""
    notes = {f"{name}.md": parse(f"{name}.md", note_text(name)) for name in ("bees", "boats")}
    summaries = {
        "bees.md": "Comb, swarm and brood are checked weekly. " * 11,
        "boats.md": "Keel and mast are checked by astronauts. " * 11,
    }
    bees, boats = judge_summaries(notes, summaries, (75, 100), frozenset())
    assert (bees.missing, bees.note_rank, boats.note_rank) == ((), 1, 1)
    assert "astronauts" in boats.missing
    assert summary_figures((bees, boats))["wholly_of_note"][0] == 0.5


def test_the_demo_vault_is_found_no_worse_than_accepted(tmp_path):
    """No nDCG@10 of words, meaning or both is lower than accepted by more than `evaluate.tolerance`."""
    params = load_params(REPOSITORY / "params.yaml", ["search.embedding=static"])
    vault = REPOSITORY / params.vault.path
    space = Workspace(vault, tmp_path / "state", vault / params.vault.inbox_file, params)
    with open_workspace(space) as opened:
        now = metrics(measure_retrieval(opened))
    fallen = list(falls(now, read_accepted(ACCEPTED), params.evaluate.tolerance))
    assert not fallen, f"Worse than accepted: {'; '.join(map(str, fallen))}. If it is meant: make evaluate-accept."


def test_a_fall_is_told():
    """A figure lower by more than the tolerance is a fall; another draw does not compare."""
    accepted = read_accepted(ACCEPTED)
    worse = json.loads(json.dumps(accepted))
    worse["figures"]["paragraphs"]["hybrid"]["ndcg_10"] -= 0.06
    assert [fall.name for fall in falls(worse, accepted, 0.05)] == ["paragraphs, hybrid"]
    assert not list(falls(accepted, accepted, 0.0))
    worse["measured_on"]["seed"] = 99
    with pytest.raises(UsageError):
        list(falls(worse, accepted, 0.05))

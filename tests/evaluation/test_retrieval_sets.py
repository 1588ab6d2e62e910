"""Retrieval sets: what is asked of a vault, and of collections in files."""

from __future__ import annotations

import json
from datetime import date

import pytest

from infold.errors import UsageError
from infold.evaluation.retrieval.generated import UNNAMED, alias_links, generated_sets, heading_sets, paragraphs
from infold.evaluation.retrieval.provided import provided_set
from infold.vault.note import parse

LONG = " ".join(f"word{n}" for n in range(80))
NOTES = {
    note.path: note
    for note in (
        parse("tyres.md", f"# Tyres\n\n{LONG}\n\n## How hard to pump\n\n{LONG}\n\n## Usage\n\n{LONG}\n"),
        parse(
            "tours.md",
            f"# Tours\n\nBefore a tour. We check [[tyres|how hard they are]] each time. Then we go.\n\n## Usage\n\n{LONG}\n"
            "\n- [[Tyres]] and [[tyres|here]]\n- [[bells|here]]\n",
        ),
        parse("bells.md", "# Bells\n\nThey ring.\n"),
    )
}


def test_a_link_text_asks_for_its_target_without_its_sentence():
    """The linking sentence is gone from the searched copy, all else stays; a name of the target is no question."""
    drawn = alias_links(NOTES, 0, 10)
    assert [(q.text, dict(q.relevant)) for q in drawn.questions] == [("how hard they are", {"tyres.md": 1})]
    assert "how hard they are" not in drawn.notes["tours.md"]
    assert "Before a tour. Then we go." in drawn.notes["tours.md"]
    assert drawn.notes["tyres.md"] == NOTES["tyres.md"].text


def test_a_text_that_links_to_several_notes_is_not_asked():
    """`here` leads to two notes, so it names neither."""
    assert all(q.text != "here" for q in alias_links(NOTES, 0, 10).questions)


def test_headings_are_asked_once_and_left_out_of_what_is_searched():
    """A heading that two notes have is no question; lines stay where they were, so that the answer is the same."""
    without, kept = heading_sets(NOTES, 0, 10)
    assert [q.text for q in without.questions] == ["How hard to pump"]
    assert without.questions == kept.questions
    assert kept.is_circular
    assert not without.is_circular
    assert "How hard to pump" not in without.notes["tyres.md"]
    assert UNNAMED in without.notes["tyres.md"]
    section = without.questions[0].section
    assert section is not None
    lines = kept.notes["tyres.md"].splitlines()
    assert any("word0" in line for line in lines[section.first - 1 : section.last])
    assert len(lines) == len(without.notes["tyres.md"].splitlines())


def test_a_paragraph_asks_with_its_first_words_which_are_taken_out():
    """Thirty words are the question; the note goes on with the thirty-first."""
    drawn = paragraphs({"tyres.md": NOTES["tyres.md"]}, 0, 1)
    (question,) = drawn.questions
    assert question.text.split() == [f"word{n}" for n in range(30)]
    assert drawn.notes["tyres.md"].count("word29 ") == NOTES["tyres.md"].text.count("word29 ") - 1
    assert drawn.notes["tyres.md"].count("word30 ") == NOTES["tyres.md"].text.count("word30 ")


def test_equal_seeds_draw_equal_sets():
    """The draw depends on notes and seed alone, and never asks more than it may."""
    assert generated_sets(NOTES, 3, 2) == generated_sets(NOTES, 3, 2)
    assert all(len(each.questions) <= 2 for each in generated_sets(NOTES, 3, 2))


def test_a_beir_folder_is_read(tmp_path):
    """Corpus, queries and qrels by their ids, grades kept, a judged document that is not there passed over."""
    (tmp_path / "qrels").mkdir()
    documents = [{"_id": "d1", "title": "Bees", "text": "Bees make honey."}, {"_id": "d2", "text": "Boats float."}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    queries = [{"_id": "q1", "text": "who makes honey"}, {"_id": "q2", "text": "unjudged"}]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in queries))
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq1\tgone\t1\n")
    found = provided_set("small", tmp_path, 0, 10)
    (question,) = found.questions
    assert [(found.called[path], grade) for path, grade in question.relevant.items()] == [("d1", 2)]
    assert next(iter(found.notes.values())) == "# Bees\n\nBees make honey.\n"


def test_sessions_share_a_haystack_or_bring_their_own(tmp_path):
    """Plain lines are one haystack for all questions; a question in LongMemEval's form is asked among its own."""
    turns = [{"role": "user", "content": "My cat is called Nebula."}]
    lines = [
        {"session": "a", "date": "2026-02-24", "turns": turns},
        {"question": "What is the cat called?", "sessions": ["a"]},
        {
            "question_id": "x7",
            "question": "And the dog?",
            "question_date": "2023/06/01 (Thu) 10:00",
            "answer_session_ids": ["s2"],
            "haystack_session_ids": ["s1", "s2"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
            "haystack_sessions": [turns, [{"role": "user", "content": "The dog is Comet."}]],
        },
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    found = provided_set("talks", tmp_path / "s.jsonl", 0, 10)
    shared, own = sorted(found.questions, key=lambda q: q.id)
    assert (shared.among, [found.called[path] for path in shared.relevant]) == ((), ["a"])
    assert (own.id, len(own.among), [found.called[path] for path in own.relevant]) == ("x7", 2, ["s2"])
    assert (shared.asked_on, own.asked_on) == (None, date(2023, 6, 1))
    assert '"timestamp": "2023-05-20"' in found.sessions[own.among[0]]


@pytest.mark.parametrize("content", ["{", '{"docs": []}', '{"docs": [], "queries": []}'])
def test_a_file_that_is_no_set_is_named(tmp_path, content):
    """What cannot be read as a set says which set, and what one looks like."""
    (tmp_path / "odd.json").write_text(content)
    with pytest.raises(UsageError, match="odd") as error:
        provided_set("odd", tmp_path / "odd.json", 0, 5)
    assert "corpus.jsonl" in error.value.hint

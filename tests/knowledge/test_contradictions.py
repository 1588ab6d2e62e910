"""Where two passages cannot both be so."""

from __future__ import annotations

import pytest

from bench.contradictions import figures, made_set, sentences_of
from infold.librarian.offline.contradictions import Statement, claimed, contradictions, statements
from infold.librarian.offline.quantities import quantities
from infold.vault.note import parse

BASE = "The heat pump in the cellar draws 9 kW on cold days."
DIFFERENT = [
    ("The heat pump in the cellar draws 11 kW on cold days.", "number"),
    ("The heat pump in the cellar now draws 11 kW on cold days.", "number"),
    ("The heat pump in the cellar does not draw 9 kW on cold days.", "negation"),
]
SAME = [
    BASE,
    "The heat pump in the cellar still draws 9 kW on cold days.",
    "The heat pump in the cellar draws nine kW on cold days.",
    "The heat pump in the attic draws 11 kW on cold days.",
    "The heat pump of Anna in the cellar draws 11 kW on cold days.",
    "Does the heat pump in the cellar draw 11 kW on cold days?",
    "It draws 11 kW on cold days.",
]


def _pair(before: str, after: str):
    older = claimed([Statement("old.md", 3, before, "2023-01-01")])
    return contradictions([Statement("new.md", 1, after, "2024-05-01")], older)


@pytest.mark.parametrize("after, kind", DIFFERENT)
def test_the_same_with_another_amount_or_negation_is_told(after, kind):
    """Words that say when, articles and endings do not matter; both quotes are given, the newer first."""
    (found,) = _pair(BASE, after)
    assert (found.kind, found.newer.text, found.older.text) == (kind, after, BASE)
    assert (found.newer.path, found.older.line) == ("new.md", 3)


@pytest.mark.parametrize("after", SAME)
def test_what_only_looks_like_one_is_not(after):
    """The same amount, another thing, another name, a question, and what points at something elsewhere."""
    assert _pair(BASE, after) == []


@pytest.mark.parametrize(
    "before, after, differs",
    [
        ("The lease of the flat ends on 5 March 2024.", "The lease of the flat ends on 2024-03-05.", False),
        ("The lease of the flat ends on 5 March 2024.", "The lease of the flat ends on March 5.", False),
        ("The lease of the flat ends on 5 March 2024.", "The lease of the flat ends on 5 April 2024.", True),
        (
            "A backup of the photos takes 5 minutes at night.",
            "A backup of the photos takes 300 seconds at night.",
            False,
        ),
        ("A backup of the photos takes 5 minutes at night.", "A backup of the photos takes 3 hours at night.", True),
        ("The archive of letters has 1,200 pages in boxes.", "The archive of letters has 1200 pages in boxes.", False),
        (
            "The archive of letters has about 1,200 pages in boxes.",
            "The archive of letters has 1250 pages in boxes.",
            False,
        ),
        ("The archive of letters has 1,200 pages in boxes.", "The archive of letters has 1250 pages in boxes.", True),
        ("The rent of the flat costs $900 each time.", "The rent of the flat costs €900 each time.", False),
        ("See step 3 of the guide about backups.", "See step 4 of the guide about backups.", False),
    ],
)
def test_amounts_are_compared_by_what_they_mean(before, after, differs):
    """Dates, units and ways of writing numbers; what is rounded is not another number, and a number may be a name."""
    assert bool(_pair(before, after)) is differs


def test_a_form_is_no_statement():
    """Where many sentences differ in one amount only, each is of something else."""
    said = [Statement(f"{n}.md", 1, f"The order of the week has {n} boxes inside.") for n in range(12)]
    assert contradictions(said) == []


def test_within_a_vault_each_pair_is_told_once_newest_first():
    """Also where one sentence has a word more than the other."""
    said = [
        Statement("a.md", 1, "The port of the preview server is 3000 by default.", "2021-01-01"),
        Statement("b.md", 1, "The port of the preview server is 8080 by default.", "2023-01-01"),
        Statement("c.md", 1, "The cellar of the old house has 3 rooms below.", "2024-01-01"),
        Statement("d.md", 1, "The cellar of the house has 4 rooms below.", "2022-01-01"),
    ]
    found = contradictions(said)
    assert [(pair.newer.path, pair.older.path) for pair in found] == [("c.md", "d.md"), ("b.md", "a.md")]
    assert (found[1].newer_says, found[1].older_says) == ("8080", "3000")


def test_statements_are_prose_with_their_lines():
    """Sentences of paragraphs, items and quotes; no headings, tables or code."""
    text = "# A title of 3 words\n\nOne thing here. Another thing there.\n\n- an item here\n- a second item\n\n```\ncode 3\n```\n\n| a | 3 |\n|---|---|\n"
    found = statements(parse("n.md", text), "2024-01-01")
    assert [(said.line, said.text) for said in found] == [
        (3, "One thing here."),
        (3, "Another thing there."),
        (5, "an item here"),
        (6, "a second item"),
    ]
    assert found[0].trail == ("A title of 3 words",)


def test_numbers_that_name_things_are_no_quantities():
    """Steps, versions, ordinals, ranges, parts of words and addresses."""
    for text in ("step 3", "version 2", "v2", "the 3rd one", "fingers 1-2-3", "utf8", "1.2.3", "https://x/42", "#12"):
        assert quantities(text) == [], text


def test_the_made_set_of_real_sentences(shared_data):
    """At least nine in ten of what is told is one, and at least six in ten of those that are there are told."""
    precision, recall = figures(
        made_set(sentences_of(shared_data, ("foam-docs", "forgetful-notes", "quartz-docs")), 1, 30)
    )
    assert precision >= 0.9
    assert recall >= 0.6

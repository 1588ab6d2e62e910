"""What is said to a model: spec 1's words, short, with a version that follows from the files."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from infold.librarian import prompts
from infold.librarian.answers import Summary
from infold.librarian.prompts import DecisionKind, prompt, prompt_version
from infold.librarian.wording import PromptState, edit_message, group_messages, look_message, summary_messages
from infold.text import token_count
from tests.librarian.conftest import card, edit_request, group_request, look_request, summary_request


def test_a_note_is_summarised_in_the_words_of_the_specification():
    """Spec 1, Phase 2, standard notes."""
    asked = summary_messages(summary_request("The text."))[1]["content"]
    assert asked.startswith(
        "Generate a 75-100 word summary of this note's content.\n"
        "Focus on: main topics, key claims, what questions it answers.\n"
    )
    assert "\nThe text.\n" in asked


def test_an_index_note_is_summarised_from_its_linked_notes():
    """Spec 1, Phase 2, index notes: their summaries, not the index's own text."""
    linked = (("tea.md", "About tea."), ("coffee.md", "About coffee."))
    asked = summary_messages(replace(summary_request("Only links."), linked=linked))[1]["content"]
    assert asked.startswith("Generate a summary based on these summaries of linked notes:\n")
    assert "\n- [[tea.md]] — About tea.\n- [[coffee.md]] — About coffee.\n" in asked
    assert asked.endswith("Synthesize into 75-100 words describing what this index covers.")
    assert "Only links." not in asked


def test_an_index_note_without_known_links_is_summarised_from_its_text():
    """There is always something to summarise."""
    asked = summary_messages(replace(summary_request("Only text."), linked=()))[1]["content"]
    assert "Only text." in asked


def test_the_word_range_is_the_setting():
    """Another target range is asked for in its numbers."""
    request = replace(summary_request(), target_words=(30, 50))
    assert "Generate a 30-50 word summary" in summary_messages(request)[1]["content"]


def test_the_version_of_a_kind_follows_from_its_words_alone(monkeypatch, tmp_path):
    """A changed or added file changes the version of its kind by itself, and no other's."""
    shutil.copytree(Path(prompts.__file__).parent, tmp_path / "prompts")
    monkeypatch.setattr(prompts, "files", lambda _: tmp_path / "prompts")
    before = {kind: prompt_version.__wrapped__(kind) for kind in DecisionKind}
    assert before == {kind: prompt_version(kind) for kind in DecisionKind}
    with (tmp_path / "prompts" / "home" / "system.md").open("a") as file:
        file.write(" One word more.")
    (tmp_path / "prompts" / "group" / "other.md").write_text("new")
    after = {kind: prompt_version.__wrapped__(kind) for kind in DecisionKind}
    assert {kind for kind in DecisionKind if after[kind] != before[kind]} == {DecisionKind.HOME, DecisionKind.GROUP}


def test_values_are_never_read_as_placeholders():
    """A dollar sign in a note is a dollar sign."""
    assert "costs $5, $names, ${x}" in prompt("summary/request", words="1-2", note="costs $5, $names, ${x}")


@pytest.mark.parametrize("name", ["group/system", "summary/system", "chunk/system"])
def test_system_prompts_are_short_and_the_same_every_time(name):
    """Small models must hold them; caches must hit them."""
    said = prompt(name, max_words=600)
    assert token_count(said) < 650
    assert said == prompt(name, max_words=600)


def test_limits_are_told_where_they_count():
    """How many notes may be viewed and checked out now, and how many rounds are left."""
    asked = look_message(look_request(left=2), PromptState())["content"]
    assert "view up to 4 AVAILABLE notes, or check out up to 3 VIEWED notes" in asked
    assert "Rounds left after this one: 2." in asked
    last = look_message(look_request(left=0), PromptState())["content"]
    assert "nothing more to view" in last
    assert "Check out up to 3 VIEWED notes now." in last


def test_what_was_shown_survives_json():
    """A transcript taken up elsewhere knows what it need not repeat."""
    shown = PromptState()
    message = look_message(look_request(), shown)
    assert (
        PromptState.after([{"role": "system", "content": ""}, message, {"role": "assistant", "content": ""}]) == shown
    )
    assert PromptState.after([]) == PromptState()


def test_paragraphs_are_shown_once_with_their_headings():
    """Numbered, fenced, with the inbox's own headings above them as material too."""
    request = group_request("First.", "Second.")
    second = replace(request.paragraphs[1], trail=("Today", "Kitchen"))
    asked = group_messages(replace(request, paragraphs=(request.paragraphs[0], second)))[1]["content"]
    assert "<<<paragraph 1 " in asked
    assert "paragraph 2: Today > Kitchen" in asked
    shown = PromptState()
    assert "<<<paragraph 1 " in look_message(look_request(), shown)["content"]
    assert "<<<paragraph 1 " not in edit_message(edit_request(), shown)["content"]


def test_a_later_part_of_a_long_inbox_is_asked_for_by_its_numbers():
    """Paragraphs 21 and 22 alone; without names of notes there is still a request."""
    request = group_request("a", "b")
    later = tuple(replace(p, n=p.n + 20) for p in request.paragraphs)
    asked = group_messages(replace(request, paragraphs=later, sample_names=()))[1]["content"]
    assert asked.endswith("Group the paragraphs 21, 22: give the groups of paragraph numbers.")
    assert "(no note is long enough to show how fine they are)" in asked


def test_a_conversation_taken_up_without_its_looks_still_shows_the_chunk():
    """Edits can be asked for without an exploration before them."""
    assert "<<<paragraph 1 " in edit_message(edit_request(), PromptState())["content"]


def test_search_hits_are_listed_beside_the_links():
    """What no link leads to stands in a list of its own, in the form of an AVAILABLE note."""
    request = look_request(viewed=(card("index.md", "tea.md"),))
    asked = look_message(request, PromptState())["content"]
    assert asked.index("- [[tea.md]] — About tea.md.") < asked.index("AVAILABLE too:")
    assert asked.index("AVAILABLE too:") < asked.index("- [[coffee.md]] — About coffee.md.")


def test_the_form_of_a_summary_names_no_number_of_words():
    """The request alone says how many: a form with numbers of its own would contradict another target range."""
    assert not re.search(r"\d", json.dumps(Summary.model_json_schema()))

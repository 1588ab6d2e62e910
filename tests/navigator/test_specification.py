"""Spec 5 as a table: what it asks for, and the tests that hold it. A test that is renamed or lost is told here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
HELD = {
    "nodes have id, content, hash, type, path and span; articles, sections nested by level, paragraphs": (
        "navigator/test_importing.py::test_a_folder_is_imported_with_all_its_nodes_and_summaries",
    ),
    "headings nest, leaf sections are split into paragraphs": (
        "navigator/test_nodes.py::test_headings_nest_and_blocks_are_paragraphs_of_the_innermost_section",
    ),
    "paragraphs of 1,000 tokens and more, sections and articles are embedded by summary": (
        "navigator/test_nodes.py::test_long_paragraphs_are_embedded_by_summary",
    ),
    "containment edges are walked down and up, with the cached summary": (
        "navigator/test_navigation.py::test_zooming_goes_down_and_up_the_same_way",
    ),
    "backlinks are kept with their context, and followed": (
        "navigator/test_navigation.py::test_links_are_followed_both_ways_with_their_line",
    ),
    "proximity is computed, at the current level": (
        "navigator/test_navigation.py::test_move_gives_the_nearest_of_the_same_level_and_nothing_of_its_own",
    ),
    "explore searches all levels": ("navigator/test_navigation.py::test_explore_finds_the_right_node_at_its_level",),
    "results are filtered by metadata": ("navigator/test_navigation.py::test_filters_by_folder_tag_and_day",),
    "a lens is applied": (
        "navigator/test_navigation.py::test_a_lens_raises_its_own",
        "navigator/test_clusters.py::test_a_lens_raises_its_own_and_leaves_nothing_out",
    ),
    "several nodes are summarised from a perspective, and cached": (
        "navigator/test_navigation.py::test_a_summary_of_several_nodes_is_kept",
    ),
    "themes at a high zoom level, cached, or summarised on request": (
        "navigator/test_navigation.py::test_themes_and_map_cover_every_imported_note",
        "navigator/test_theme_names.py::test_a_model_names_themes_once_its_price_was_agreed_to",
    ),
    "browse shows folders, files and token estimates": (
        "navigator/test_importing.py::test_browse_shows_tokens_and_states",
    ),
    "the cost is shown before an import is confirmed": (
        "navigator/test_priced_import.py::test_the_estimate_comes_first_and_the_bill_is_near_it",
        "navigator/test_priced_import.py::test_a_token_agrees_once_and_to_nothing_else",
    ),
    "what changed is dirty, with what is above it": (
        "navigator/test_importing.py::test_one_changed_paragraph_makes_it_and_those_above_it_dirty",
    ),
    "summaries are redone on request only, for what is dirty": (
        "navigator/test_importing.py::test_only_what_is_dirty_is_asked_for",
    ),
    "people and agents share operations, each with a place of their own": (
        "navigator/test_navigation.py::test_each_caller_has_a_place_of_their_own",
    ),
    "one changed paragraph of two thousand nodes redoes that node and those above it": (
        "navigator/test_importing.py::test_one_changed_paragraph_of_two_thousand_nodes",
    ),
    "an import that was stopped goes on, and nothing is paid twice": (
        "navigator/test_priced_import.py::test_what_was_paid_before_a_fault_is_not_paid_again",
    ),
    "the bill stands beside the estimate, and its error is tracked": (
        "navigator/test_priced_import.py::test_how_far_bills_were_from_their_estimates_is_told_with_the_next",
    ),
    "this one and this idea are the centre; back and breadcrumbs": (
        "navigator/test_navigation.py::test_this_one_is_the_centre",
    ),
    "a trail is saved as a note": ("navigator/test_trail.py::test_the_trail_is_a_note_whose_links_lead_back",),
    "what connects two themes, what grew and what faded": (
        "navigator/test_navigation.py::test_what_connects_themes_and_what_grew",
    ),
    "the map stays where it was": ("navigator/test_clusters.py::test_the_map_stays_where_it_was",),
    "ids and summaries survive edits elsewhere": (
        "navigator/test_nodes.py::test_an_edit_of_one_paragraph_leaves_every_other_id",
    ),
    "text from outside is labelled in every answer": (
        "navigator/test_navigation.py::test_what_is_from_outside_says_so_at_each_step",
    ),
    "questions with known places are answered in place": (
        "navigator/test_questions.py::test_questions_are_answered_in_place_as_well_as_plain_search_finds",
    ),
    "every command of nav, readable in a terminal": (
        "cli/test_nav.py::test_every_command_of_nav_is_tried_here",
        "cli/test_nav.py::test_texts_are_wrapped_to_the_terminal",
    ),
    "what do I have about": ("agent/test_ask.py::test_what_do_i_have_about",),
    "show me the main themes": ("agent/test_ask.py::test_show_me_the_main_themes",),
    "go deeper into this one": ("agent/test_ask.py::test_go_deeper_into_this_one",),
    "what else connects to this idea": ("agent/test_ask.py::test_what_else_connects_to_this_idea",),
    "notes related to this that I wrote last year": (
        "agent/test_ask.py::test_notes_related_to_this_that_i_wrote_last_year",
    ),
}


@pytest.mark.parametrize("sentence", HELD)
def test_each_sentence_of_the_specification_has_its_test(sentence):
    """The tests named are there, under these names."""
    for named in HELD[sentence]:
        file, _, name = named.partition("::")
        tree = ast.parse((TESTS / file).read_text())
        assert any(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == name for each in tree.body)

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

"""Each demand of spec 4 beside the test that holds it."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from infold.operations.contract import Face
from infold.operations.table import operations
from tests.conftest import REPOSITORY

# section -> what it demands -> the test, as file below tests/ and function
DEMANDS: dict[str, dict[str, str]] = {
    "Architecture": {
        "create, suggest, query and research are tools of the server": "mcp/test_server::test_every_operation_is_a_tool",
        "local knowledge is notes": "operations/test_knowledge::test_query_answers_from_notes_within_the_budget",
        "external knowledge is what was crawled": "operations/test_research::"
        "test_a_page_is_brought_in_kept_and_answered_from",
    },
    "Why Two Systems?": {
        "updates of sources are found by content": "knowledge/sources/test_research::"
        "test_a_page_without_etag_that_says_the_same_has_one_text",
        "the two do not mix unasked": "operations/test_knowledge::test_external_text_is_only_where_it_is_asked_for",
    },
    "Local Knowledge": {
        "create": "operations/test_notes::test_a_new_note_has_front_matter_tags_and_links_that_resolve",
        "read": "operations/test_knowledge::test_a_source_is_read_like_a_note",
        "update: a new name": "operations/test_notes::test_rename_keeps_every_link_and_is_undone_at_once",
        "update: every link still resolves": "knowledge/test_moves::"
        "test_every_link_that_resolved_still_resolves_to_its_note",
        "delete": "operations/test_notes::test_delete_says_which_links_break_and_can_be_undone",
        "graph traversal: backlinks and forward links": "operations/test_notes::test_the_views_of_the_graph",
        "neighbours": "knowledge/test_graph::test_neighbours_count_links_in_either_direction",
        "a path": "knowledge/test_graph::test_a_path_is_a_shortest_chain",
        "communities": "knowledge/test_communities::test_a_ring_of_cliques_is_found_again",
        "note statistics": "knowledge/test_graph::test_dead_ends_hubs_and_numbers",
        "as the notes are now": "knowledge/test_vault_links::"
        "test_what_is_kept_of_the_graph_is_of_the_notes_as_they_are",
        "what is not well": "operations/test_notes::test_lint_finds_what_is_not_well",
        "contradictions": "knowledge/test_contradictions::test_the_made_set_of_real_sentences",
    },
    "External Knowledge": {
        "web pages": "knowledge/reading/test_reading::test_html_gives_its_main_text",
        "pages that scripts make": "knowledge/fetching/test_browser::test_a_page_is_kept_as_its_scripts_leave_it",
        "GitHub repositories": "knowledge/reading/test_reading::test_a_repository_is_cloned_by_its_checked_address",
        "repositories of this machine": "operations/test_research::"
        "test_of_a_local_repository_the_newest_commit_is_taken",
        "PDFs and papers": "knowledge/reading/test_reading::test_a_pdf_gives_its_text_by_page",
        "APIs and API documents": "knowledge/reading/test_reading::test_an_api_description_becomes_its_operations",
        "content hash for change detection, source URL and date": "operations/test_research::"
        "test_sources_are_listed_shown_watched_and_forgotten",
        "full content storage": "knowledge/sources/test_research::test_two_hundred_pages_and_a_second_look",
        "compressed before storing": "knowledge/sources/test_research::test_compressed_sources_hold_key_sentences",
    },
    "Repomix Cache Boundaries": {
        "aggregate": "knowledge/test_packing::test_the_same_text_and_the_same_lines_are_given_once",
        "XML format": "knowledge/test_packing::test_hostile_text_cannot_leave_its_element",
        "token optimization": "knowledge/test_packing::"
        "test_no_answer_exceeds_its_budget_and_every_answer_fits_the_schema",
        "cache": "operations/test_knowledge::test_query_answers_from_notes_within_the_budget",
        "a cache that is never old": "operations/test_knowledge::test_a_changed_note_is_never_answered_old",
    },
    "MCP Tool Definitions / knowledge_create": {
        "names and defaults": "operations/test_notes::test_create_has_the_specification_s_names_and_defaults",
        "front matter, tags, wiki-links": "operations/test_notes::"
        "test_a_new_note_has_front_matter_tags_and_links_that_resolve",
    },
    "MCP Tool Definitions / knowledge_suggest": {
        "related notes for a content": "operations/test_notes::test_suggest_names_notes_with_why_and_where",
    },
    "MCP Tool Definitions / knowledge_query": {
        "names and defaults": "operations/test_knowledge::test_query_has_the_specification_s_defaults",
        "none returns full content": "operations/test_knowledge::test_none_gives_whole_notes",
        "minimal compresses": "knowledge/test_packing::test_minimal_gives_key_sentences_and_summaries",
        "auto: the model decides": "operations/test_piece_choice::test_the_model_chooses_pieces_and_forms",
        "auto: without a model, value": "operations/test_piece_choice::"
        "test_where_the_model_cannot_be_asked_value_decides_and_says_why",
    },
    "MCP Tool Definitions / knowledge_research": {
        "names and defaults": "operations/test_research::test_research_has_the_specification_s_names_and_defaults",
        "crawl, store, XML context": "operations/test_research::test_a_page_is_brought_in_kept_and_answered_from",
        "changed content is detected": "knowledge/sources/test_research::test_two_hundred_pages_and_a_second_look",
        "sync to a note": "operations/test_research::test_a_note_made_of_a_source_keeps_its_label_everywhere",
        "sync again": "operations/test_research::test_a_note_follows_its_source_and_keeps_what_was_written_in_it",
        "sync to the inbox": "operations/test_research::"
        "test_inbox_text_of_a_source_stays_from_outside_in_the_note_it_is_folded_into",
    },
    "External Knowledge Workflow": {
        "crawl": "knowledge/fetching/test_crawler::test_a_page_and_its_conditions",
        "stopped and run again": "knowledge/sources/test_research::test_killed_in_the_middle_and_run_again",
        "watched sources by schedule": "flows/test_research::"
        "test_each_address_is_a_task_and_one_that_fails_stops_no_other",
    },
    "Vault Structure": {
        "a folder for each category": "operations/test_notes::"
        "test_no_category_puts_text_where_it_is_always_loaded_unless_told",
    },
    "Questions to Resolve": {
        "no time to live, on demand": "knowledge/sources/test_research::test_watched_sources_grow_stale",
    },
}


@cache
def functions(module: str) -> frozenset[str]:
    """The names of the tests of a module."""
    tree = ast.parse((REPOSITORY / "tests" / f"{module}.py").read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("section", DEMANDS)
def test_each_demand_has_its_test(section):
    """Spec 4, whole: for each demand of a section the test that holds it is there."""
    for demand, test in DEMANDS[section].items():
        module, name = test.split("::")
        assert name in functions(module), f"{demand}: there is no {test}"


@pytest.mark.parametrize("face", [Face.MCP, Face.HTTP, Face.CLI, Face.PYTHON, Face.AGENT])
def test_the_four_tools_are_in_every_face(face):
    """MCP Tool Definitions: create, suggest, query and research, under these names."""
    wanted = {"knowledge_create", "knowledge_suggest", "knowledge_query", "knowledge_research"}
    assert wanted <= set(operations(face))

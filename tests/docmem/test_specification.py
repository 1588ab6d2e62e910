"""Each MUST of spec 2 beside the test that holds it; the docstring of that test names its section."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

# section -> what it demands -> the test, as module and function
MUSTS: dict[str, dict[str, str]] = {
    "Separation of Concerns": {
        "no text is made but by explicit summarization": "specification.test_trees_need_nobody_who_writes",
    },
    "Tree as Document": {
        "serialization is traversal": "reading.test_deep_trees_are_read",
        "and needs no orchestration or generation": "specification.test_trees_need_nobody_who_writes",
        "reading order is traversal order": "reading.test_reading_order_follows_the_tree",
    },
    "Visible Compression": {
        "summarization is explicit and auditable": "summarising.test_a_summary_leaves_a_trace",
        "original nodes are preserved": "summarising.test_memories_are_preserved",
        "summarization is reversible": "summarising.test_summary_is_reversible",
    },
    "Dual Representation": {
        "vectors give semantic access, the tree hierarchy and order": "recall.test_relevance_orders_an_expansion",
    },
    "Tree Structure": {
        "a root is one docmem instance": "writing.test_trees_live_side_by_side",
        "a summary is a paragraph-length compression": "condensing.test_long_memories_get_a_summary_in_words",
    },
    "Node ID Generation": {
        "ids are random, of 8 characters": "node.test_node_ids_are_eight_random_characters",
        "only a root may be named": "node.test_root_id_may_be_given",
    },
    "Required Properties": {
        "all of them, with their defaults": "node.test_node_has_the_required_properties",
    },
    "Context Fields": {
        "0 to 24 characters": "node.test_context_fields_of_up_to_24_characters",
        "not 25": "node.test_longer_context_is_refused_by_field",
        "all three given, else creation fails": "node.test_missing_context_is_refused_by_field",
    },
    "Standard Display Formats": {
        "type:name:value, and id, context, updated_at": "node.test_display_formats",
    },
    "Node Differentiation": {
        "context_type tells roles": "node.test_roles_are_told_by_context_type",
        "filtering by purpose, source or role": "reading.test_nodes_by_their_context",
    },
    "Node Types": {
        "summaries are told by context_type": "summarising.test_a_summary_is_told_by_its_context_type",
        "memories preserve ground truth": "node.test_text_comes_back_as_it_was",
        "notes are siblings after readonly nodes": "writing.test_notes_stand_after_readonly_nodes",
    },
    "Node Ordering": {
        "decimals, no reindexing": "order.test_insertion_moves_no_sibling",
        "20 % of the target, 80 % of the sibling": "order.test_between_two_nodes_it_is_20_to_80",
        "1.0 away where there is no sibling": "order.test_at_the_ends_it_is_one_away",
        "three times the insertions of the midpoint": "order.test_three_times_the_insertions_of_the_midpoint",
    },
    "Token Counting": {
        "characters by four, rounded up": "node.test_token_count",
    },
    "Readonly Metadata": {
        "0 or 1": "writing.test_readonly_is_0_or_1",
        "1 is not updated, 0 may be": "writing.test_readonly_is_not_modified",
        "agents put notes after readonly nodes": "importing.test_notes_go_beside_what_was_imported",
    },
    "Storage": {
        "one connection": "store.test_all_instances_share_one_connection",
        "one table": "store.test_one_table_with_the_listed_properties",
        "two indexes": "store.test_indexes",
    },
    "Cascade Behavior": {
        "no cascade is relied on": "writing.test_no_cascade_is_relied_on",
    },
    "Updates": {
        "updates in place, for regeneration": "summarising.test_a_summary_can_be_regenerated",
    },
    "Optimistic Locking": {
        "Base64 of SHA-512 of the piped fields": "node.test_hash_is_base64_of_sha512_of_the_piped_fields",
        "null is empty": "node.test_null_is_hashed_as_empty",
        "renewed whenever a hashed field changes": "writing.test_the_hash_follows_each_hashed_field",
        "readonly is not hashed": "node.test_readonly_is_not_hashed",
        "only with the expected hash, else an error": "writing.test_stale_hash_is_a_conflict_with_both_hashes",
        "also between processes": "processes.test_two_writers_lose_no_update",
    },
    "Embedding Requirements": {
        "all nodes are embedded": "indexing.test_what_is_written_is_found_by_words_and_by_meaning",
        "regenerated summaries anew": "indexing.test_a_summary_made_again_has_another_vector",
    },
    "Query Pattern": {
        "matching nodes": "recall.test_what_is_asked_for_comes_first",
        "with structural context, traced up": "recall.test_a_result_says_where_it_stands",
        "a child is covered by its summary": "recall.test_a_child_is_covered_by_its_summary",
    },
    "Summary Attraction": {
        "several hits of one parent": "recall.test_several_hits_raise_their_parent",
    },
    "Import": {
        "uploads are readonly": "importing.test_uploads_are_readonly",
        "TOML is not": "importing.test_toml_is_not_readonly",
        "the structure is preserved": "documents.test_markdown_by_its_headings",
    },
    "Serialization": {
        "depth first, the start left out, double newlines": "reading.test_serialise_is_depth_first_in_order",
        "blank texts left out": "reading.test_blank_texts_are_left_out_and_their_children_are_not",
    },
    "Expand to Length": {
        "all three phases, no orphans": "expanding.test_as_the_specification_has_it",
        "phase 1, reverse within a level": "expanding.test_levels_from_above_each_from_its_last_node",
        "phase 2, the first that does not fit ends it": "expanding.test_the_first_that_does_not_fit_ends_it",
        "phase 3, preorder": "expanding.test_all_of_it_where_it_fits",
    },
    "Summarization": {
        "a new parent with the given words, returned": "summarising.test_summary_is_the_new_parent",
        "siblings that are leaves": "summarising.test_only_leaves_of_one_parent",
        "a contiguous range": "summarising.test_only_a_contiguous_range",
        "at the midpoint": "summarising.test_summary_stands_at_the_midpoint",
        "each reparent locked, all rolled back": "summarising.test_one_changed_memory_leaves_all_in_place",
        "regenerated when children change": "condensing.test_a_summary_follows_its_children",
    },
    "Append": {
        "last, one more than the highest": "writing.test_append_is_the_last_child",
    },
    "Insert": {
        "right before and right after": "writing.test_insert_before_and_after",
        "not beside a root": "writing.test_nothing_beside_a_root",
    },
    "Delete": {
        "with all descendants": "writing.test_delete_takes_all_below",
        "collected first, in post-order": "writing.test_delete_is_in_post_order",
        "embeddings go too": "indexing.test_deleted_moved_and_changed",
    },
    "Update Content": {
        "text, tokens, time and hash": "writing.test_update_content",
    },
    "Update Context": {
        "fields, time and hash": "writing.test_update_context",
    },
    "Copy": {
        "deep, with new ids": "moving.test_copy_is_deep_and_new",
        "placed as insert places": "moving.test_copy_is_put_by_the_rules_of_insert",
        "children in sequence": "moving.test_copied_children_are_numbered_in_sequence",
        "new times, readonly kept": "moving.test_copy_has_times_of_its_own_and_keeps_readonly",
        "across trees": "moving.test_copy_across_trees",
        "not beside a root": "moving.test_nothing_moves_beside_a_root",
    },
    "Move": {
        "as child after all others": "moving.test_move_as_child_is_appended",
        "as sibling": "moving.test_move_beside",
        "within its tree": "moving.test_move_stays_in_its_tree",
        "not beside a root": "moving.test_nothing_moves_beside_a_root",
        "no cycles": "moving.test_cycles_are_refused",
        "the order of insert": "moving.test_a_move_counts_no_distance_to_itself",
        "time and hash": "moving.test_move_sets_hash_and_time",
        "locked": "moving.test_move_expects_a_hash",
    },
    "Structure": {"indented lines of metadata": "reading.test_structure"},
    "Find": {"the node or nothing": "reading.test_find"},
    "Get Root of Node": {
        "up to where there is no parent": "reading.test_get_root",
        "fails on a broken chain": "reading.test_get_root_fails_on_a_broken_chain",
    },
    "Linking": {"tags in content, surfaced at query time": "recall.test_tags_lead_to_what_they_name"},
    "Future Requirements / Expansion": {
        "semantic priority": "budgeted_expansion.test_relevance_comes_after_priority_and_before_the_rest",
        "priority flags": "budgeted_expansion.test_a_priority_comes_first_with_what_is_above_it",
        "mixed resolution": "budgeted_expansion.test_a_summary_stands_for_children_that_do_not_fit",
    },
    "Additional Features": {
        "versions": "history.test_every_update_leaves_what_was",
        "restored": "history.test_a_version_comes_back",
    },
    "Ingest classification": {"where a document belongs": "classifying.test_by_evidence_without_a_model"},
    "Open Questions / Summary Behavior on Expansion": {
        "modes of expansion": "budgeted_expansion.test_summaries_with_without_and_instead",
        "modes of serialization": "reading.test_serialised_with_without_and_instead_of_summaries",
    },
    "Open Questions / Sticky Nodes": {
        "expanded together": "budgeted_expansion.test_a_group_comes_whole_or_not_at_all",
        "summarised together": "condensing.test_groups_are_not_divided",
    },
}


def promises(module: str) -> dict[str, str]:
    """The docstrings of a test module, by the names of its tests."""
    source = (REPOSITORY / "tests" / "docmem" / f"test_{module}.py").read_text()
    functions = (
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {function.name: ast.get_docstring(function) or "" for function in functions}


@pytest.mark.parametrize("section", MUSTS)
def test_each_must_has_a_test_that_quotes_its_section(section):
    """Spec 2, whole: for each MUST of a section there is a test, and its docstring names that section."""
    for demand, test in MUSTS[section].items():
        module, name = test.split(".")
        assert section in promises(module).get(name, "no such test"), f"{demand}: {test}"


def test_trees_need_nobody_who_writes():
    """Separation of Concerns, Tree as Document: trees are kept and read without a librarian, an index or a flow."""
    loaded = "import sys, infold.docmem.memory; print(*(name for name in sys.modules if name.startswith('infold.')))"
    names = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert "infold.docmem.memory" in names
    assert {name.split(".")[1] for name in names} <= {"docmem", "durable", "errors", "text"}

"""Spec 3, sections 4 to 11, as agents and programs meet it: each demand beside the test that holds it."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.conftest import REPOSITORY

# section -> what it demands -> the test: its file below tests/, and its function
DEMANDS: dict[str, dict[str, str]] = {
    "4 Index Lifecycle": {
        "a file that did not change is skipped": "search/test_sync.py::test_only_a_changed_note_is_written_again",
        "a text that was embedded is not embedded again": "search/test_sync.py::test_a_lost_index_computes_no_vector_again",
        "derived, rebuilt from the notes": "search/test_facts.py::test_a_rebuild_says_that_it_began_and_what_came_of_it",
    },
    "5 Sync Triggers": {
        "file watcher": "search/test_watching.py::test_a_saved_note_is_found_a_moment_later",
        "session start": "agent/test_chat.py::test_a_conversation_begins_with_an_index_that_is_up_to_date",
        "search of a stale index": "search/test_live.py::test_changes_are_found_at_once",
        "manual rebuild": "web/test_api.py::test_the_debug_api_has_the_keys_of_the_specification",
    },
    "6 memory_search": {
        "the interface, to the letter": "search/test_grouped.py::test_the_json_of_the_specification",
        "grouped, notebook first": "search/test_grouped.py::test_the_example_of_the_specification",
        "up to maxResults in all": "search/test_grouped.py::test_no_more_than_asked_for_in_all",
        "minScore": "search/test_grouped.py::test_a_minimum_score_leaves_the_weaker_out",
        "offered to agents": "mcp/test_server.py::test_search_and_read_on",
    },
    "6 memory_get": {
        "a file or some lines of it": "mcp/test_server.py::test_names_in_the_form_of_python_are_taken",
        "nothing outside": "mcp/test_server.py::test_a_slip_is_answered_with_what_is_right",
    },
    "6 notebook_write": {
        "a new page": "notebook/test_pages.py::test_a_new_page_makes_its_folders",
        "appends by default, replaces where told": "notebook/test_pages.py::test_a_page_grows_by_default_and_shrinks_only_with_replace",
        "a section": "notebook/test_sections.py::test_a_section_gets_a_line_where_its_list_ends",
        "offered to agents": "mcp/test_server.py::test_writing_is_seen_by_the_next_search",
        "notebook_edit goes on for runtime/": "operations/test_migration.py::test_notes_of_the_older_layout_can_be_edited_where_they_are",
    },
    "6 daily_log": {
        "makes the day, `## HH:MM — first line`": "notebook/test_daily.py::test_the_specifications_day",
        "append-only during the day": "notebook/test_pages.py::test_a_daily_log_is_only_added_to",
    },
    "6 Automatic Context Loading": {
        "reference, today, yesterday": "notebook/test_context.py::test_reference_notes_then_yesterday_then_today",
        "per-file and total limits": "notebook/test_context.py::test_reference_notes_share_one_limit",
        "before every query of the agent": "agent/test_loop.py::test_it_is_told_what_the_notebook_is_and_what_is_always_loaded",
    },
    "7 Pre-Compaction Flush": {
        "its words": "notebook/test_context.py::test_the_reminder_has_the_words_of_the_specification",
        "before compaction, as a silent turn that may write": "agent/test_loop.py::test_near_the_limit_it_is_reminded_once_and_saves_what_was_said",
        "at most once a cycle": "notebook/test_context.py::test_the_reminder_is_given_once_a_cycle",
        "writing nothing is an answer": "agent/test_loop.py::test_whoever_saves_nothing_is_compacted_all_the_same",
        "afterwards reference and logs are there": "agent/test_loop.py::test_near_the_limit_it_is_reminded_once_and_saves_what_was_said",
        "for any other agent": "agent/test_chat.py::test_another_agent_gets_the_reminder_once_a_cycle",
        "seen in the status": "cli/test_notebook.py::test_the_last_reminder_is_in_the_status",
    },
    "9 Instructions": {
        "organisation, when to write, what to search first": "mcp/test_server.py::test_the_instructions_say_how_the_notebook_is_used",
        "the agent has them too": "agent/test_loop.py::test_it_is_told_what_the_notebook_is_and_what_is_always_loaded",
    },
    "10 Debug API": {
        "status, search, files, rebuild": "web/test_api.py::test_the_debug_api_has_the_keys_of_the_specification",
        "pages listed, read, written, deleted": "web/test_debug_api.py::test_pages_are_listed_read_written_and_deleted",
        "simulate-compaction": "web/test_debug_api.py::test_a_simulated_compaction_gives_the_reminder",
        "and it lets the agent save": "agent/test_loop.py::test_a_session_is_compacted_on_demand",
        "inject-turn": "web/test_debug_api.py::test_an_injected_turn_makes_the_agent_remember",
    },
    "11 Migration": {
        "folders made, core and runtime moved, identity kept, reminders retired": "operations/test_migration.py::test_the_notes_move_with_their_links_as_one_change_that_can_be_undone",
        "again, there is nothing to do": "operations/test_migration.py::test_a_second_time_there_is_nothing_to_do",
        "old paths are read until then": "operations/test_migration.py::test_until_then_reading_falls_back_to_the_old_paths",
    },
    "Appendix C": {
        "transcripts in the same index": "notebook/test_sessions.py::test_a_session_is_found_by_what_was_said",
        "once an hour": "flows/test_notebook.py::test_sessions_are_indexed_by_their_flow",
        "or on demand": "notebook/test_sessions.py::test_a_transcript_that_grows_is_taken_in_on_demand",
        "the agent's own among them": "agent/test_loop.py::test_a_conversation_goes_on_with_its_results",
    },
    "MCP": {
        "every operation, under the names of the specifications": "mcp/test_server.py::test_every_operation_is_a_tool",
        "sets, prefix, read-only": "mcp/test_server.py::test_sets_prefix_and_read_only",
        "notes and runs as resources": "mcp/test_server.py::test_notes_are_resources",
        "prompts for the common jobs": "mcp/test_server.py::test_prompts_are_filled_in",
        "strict schemas without unions, described": "mcp/test_schemas.py::test_the_strictest_published_rules_hold",
        "misspelt arguments": "mcp/test_every_tool.py::test_a_misspelt_argument_is_answered_with_the_right_one",
        "progress": "mcp/test_every_tool.py::test_long_work_says_how_far_it_is",
        "a time limit": "mcp/test_every_tool.py::test_no_call_is_waited_for_without_end",
        "estimate and token before spending": "mcp/test_every_tool.py::test_what_costs_is_told_before_it_is_spent",
        "stdout is pure protocol": "mcp/test_stdio.py::test_stdout_is_protocol_and_nothing_else",
        "answers while the index is made": "mcp/test_server.py::test_the_first_index_is_made_behind",
        "an entry in clients' settings, shown first, undoable": "mcp/test_clients.py::test_the_entry_stands_beside_what_is_there_and_comes_out_again",
        "whatever is passed": "mcp/test_fuzzing.py::test_no_arguments_break_a_tool",
        "a day over all groups": "mcp/test_day.py::test_a_day_over_stdio",
        "the inspector": "mcp/test_inspector.py::test_it_lists_and_calls_tools",
        "slow clients": "http/test_slow_clients.py::test_whoever_never_ends_a_head_is_let_go",
        "and who never reads": "http/test_slow_clients.py::test_whoever_never_reads_an_answer_is_let_go",
        "the list before the operations": "mcp/test_schemas.py::test_the_list_beside_the_server_is_the_table",
        "an audit line per write": "operations/test_audit.py::test_each_write_has_its_line",
        "bombs": "http/test_slow_clients.py::test_a_bomb_is_a_wrong_request",
        "a crowd": "web/test_together.py::test_fifty_readers_and_five_writers_at_two_servers_lose_no_edit",
    },
    "The agent": {
        "several steps, several calls": "agent/test_loop.py::test_it_calls_tools_until_it_can_answer",
        "its tools are the operations of the chosen sets": "agent/test_loop.py::test_its_tools_are_those_of_the_table_that_were_chosen",
        "results are fenced and labelled": "agent/test_loop.py::test_text_from_outside_is_labelled_so",
        "a note cannot make it write": "agent/test_loop.py::test_a_note_cannot_make_it_write",
        "the person's words can": "agent/test_loop.py::test_what_the_person_asks_to_remember_is_written_in_their_words_alone",
        "and their yes": "agent/test_loop.py::test_the_person_is_asked_and_decides",
        "the context is accounted": "agent/test_loop.py::test_the_context_is_accounted_part_by_part",
        "sessions are resumed": "cli/test_chat.py::test_resume_takes_up_the_session_that_was_used_last",
        "also after a kill": "agent/test_loop.py::test_a_conversation_that_was_killed_goes_on",
        "caps in money and tokens": "agent/test_loop.py::test_a_cap_stops_it_before_it_is_passed",
        "and in steps": "agent/test_loop.py::test_steps_are_counted_and_the_last_one_answers",
        "a prompt at a terminal": "cli/test_chat.py::test_a_conversation_at_a_terminal",
        "a pipe": "cli/test_chat.py::test_each_line_of_a_pipe_is_a_message",
        "offline it quotes": "agent/test_chat.py::test_a_conversation_is_a_session_and_goes_on",
        "and logs": "agent/test_chat.py::test_what_is_to_be_remembered_is_in_todays_log",
    },
}


@cache
def promises(file: str) -> dict[str, str]:
    """The docstrings of a test module, by the names of its tests."""
    tree = ast.parse((REPOSITORY / "tests" / file).read_text())
    found = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return {each.name: ast.get_docstring(each) or "" for each in found if each.name.startswith("test_")}


@pytest.mark.parametrize("section", DEMANDS)
def test_each_demand_has_its_test(section):
    """The test that is named is there, and says what it promises."""
    for demand, place in DEMANDS[section].items():
        file, name = place.split("::")
        known = promises(file)
        assert known.get(name), f"{demand}: {place}"

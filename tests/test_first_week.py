"""What did not hold when infold was tried as a new user would, beside the test that holds it now.

Rows are promises; a test of a row may hold more than it. Rows that no test holds are not here.
"""

from __future__ import annotations

import ast

import pytest

from tests.conftest import REPOSITORY

HELD: dict[str, tuple[str, ...]] = {
    # found in first use, ranked
    "D1: a schedule starts its flow": (
        "flows/test_serve.py::test_every_schedule_starts_its_flow",
        "flows/test_schedule_check.py::test_a_schedule_without_a_planned_run_is_said",
    ),
    "D2: items of an inbox list are paragraphs": (
        "inbox/test_paragraphs.py::test_each_item_of_a_list_is_a_paragraph_of_its_own",
    ),
    "D3: nothing is put between what belongs together, nor above a note's beginning": (
        "vault/test_structure.py::test_an_insertion_never_parts_what_belongs_together",
        "vault/test_structure.py::test_what_opens_a_note_names_it_at_once",
    ),
    "D4: what is there is known again in every form": (
        "inbox/test_dropped_three_times.py::test_there_is_one_copy_however_often_an_inbox_is_dropped",
        "librarian/offline/test_dropped_again.py::test_each_form_is_known_again_alone",
    ),
    "D5: log entries of one line are found": ("cli/test_first_use.py::test_one_line_entries_of_a_log_are_found",),
    "D6: advice can change something, and was not disproved": (
        "evaluation/test_report.py::test_advice_is_of_use_to_this_librarian_and_not_known_already",
    ),
    "D7: a fresh clone is rebuilt to what git holds": (
        "stages/test_dvc.py::test_a_fresh_clone_is_rebuilt_to_what_git_holds",
        "stages/test_dvc.py::test_the_same_snapshot_gives_the_same_bytes",
    ),
    "D8: reports fit the page": (
        "evaluation/test_report.py::test_the_page_fits_and_opens_in_a_browser",
        "reports/test_pages.py::test_a_table_has_its_cells_and_scrolls",
    ),
    "D9: slips of the keys, beginnings of words and operators": (
        "search/test_operators.py::test_a_slip_of_the_keys_is_told_and_mended",
        "search/test_operators.py::test_a_word_that_is_still_being_typed_finds_what_begins_so",
        "search/test_operators.py::test_operators",
        "search/test_operators.py::test_a_filter_that_nothing_meets_says_so",
    ),
    "D10: an endpoint of no use costs a sentence and code 3": (
        "cli/test_model.py::test_an_endpoint_of_no_use_ends_the_run_with_one_sentence",
    ),
    "D11: an inbox that is not there is wrong use": ("cli/test_first_use.py::test_wrong_use_is_told_as_such",),
    "D12: a note that is not there is told with those near it; decided: no error": (
        "cli/test_search.py::test_get_of_a_missing_note_is_empty",
    ),
    "D13: an empty folder does not become the vault": (
        "cli/test_first_use.py::test_an_empty_folder_does_not_become_the_vault_by_mistake",
    ),
    "D14: plans expire": ("inbox/test_review.py::test_plans_expire",),
    "D15: a note that becomes unreadable leaves the index and is named": (
        "search/test_feeds.py::test_a_note_that_becomes_unreadable_leaves_the_index",
        "catalogue/test_sync.py::test_a_note_that_turns_unreadable_leaves_the_catalogue_and_is_named",
    ),
    "D16: odd encodings and full devices": (
        "cli/test_first_use.py::test_a_terminal_that_lacks_a_sign_is_told_all_the_same",
        "cli/test_first_use.py::test_a_full_device_is_the_environment",
    ),
    "D17: sessions that were added say when they are found": (
        "cli/test_first_use.py::test_added_sessions_say_when_they_are_found",
    ),
    # the small ones
    "a schedule that is none, an inbox that is a folder, a path out of the vault, a negative cap, no such settings": (
        "cli/test_first_use.py::test_wrong_use_is_told_as_such",
    ),
    "undo of a write leaves no empty folders": ("cli/test_first_use.py::test_undo_of_a_write_takes_its_folders_too",),
    "a root may be named without .md": ("cli/test_first_use.py::test_a_root_note_may_be_named_as_notes_are",),
    "runs keep their ids whole": ("cli/test_first_use.py::test_an_id_is_whole_on_a_narrow_terminal",),
    "root and inbox are found the same with and without init": (
        "cli/test_first_use.py::test_without_init_root_and_inbox_are_found_in_the_same_way",
    ),
    # missed in first use
    "decisions hunk by hunk": (
        "cli/test_review.py::test_hunks_are_decided_one_by_one_and_just_that_is_applied",
        "cli/test_review.py::test_a_hunk_is_moved_and_another_edited",
    ),
    "an inbox that rests is folded in": ("cli/test_review.py::test_an_inbox_that_rests_is_planned_or_folded_in_once",),
    "completion": (
        "cli/test_completion.py::test_bash_completes",
        "cli/test_completion.py::test_zsh_completes",
        "cli/test_completion.py::test_fish_completes",
    ),
    "examples in every help": (
        "cli/test_comforts.py::test_every_command_has_two_examples_and_nothing_else_has",
        "cli/test_comforts.py::test_the_examples_of_a_command_are_its_own_and_parse",
    ),
    "help and -V": (
        "cli/test_comforts.py::test_help_is_a_command_too",
        "cli/test_comforts.py::test_the_version_has_a_short_option",
    ),
    "quiet": ("cli/test_comforts.py::test_quiet_leaves_results_warnings_and_errors",),
    "settings with where they come from": ("cli/test_config.py::test_each_value_says_where_it_comes_from",),
    "several vaults by name": ("cli/test_vaults.py::test_a_name_stands_where_a_folder_may",),
    "old runs can be forgotten": ("inbox/test_pruning.py::test_what_stays_can_be_undone_as_before",),
    "tags, links, backlinks": (
        "cli/test_comforts.py::test_tags_and_the_notes_of_one",
        "cli/test_comforts.py::test_links_and_backlinks_of_a_note",
    ),
    "JSON is documented, and no change of it passes unseen": (
        "test_python_docs.py::test_the_page_of_operations_is_the_table",
    ),
    # requirements that were tried one at a time
    "a run's graph has edges, names, tags and Cached states": (
        "flows/test_graph.py::test_the_graph_has_edges_names_tags_and_cached_states",
    ),
    "a limit can be set on model calls": ("flows/test_graph.py::test_a_limit_on_the_tag_is_one_on_model_calls",),
    "a vault's own DVC project, which records every run": (
        "stages/test_project.py::test_stages_work_outside_the_checkout_and_twice_is_once",
        "stages/test_project.py::test_an_integration_records_what_it_changed_and_march_can_be_had_again",
    ),
    "tables by pyarrow": ("catalogue/test_parquet.py::test_the_same_rows_are_the_same_bytes",),
    "the notebook's folders and the older layout": (
        "operations/test_migration.py::test_the_notes_move_with_their_links_as_one_change_that_can_be_undone",
        "operations/test_migration.py::test_until_then_reading_falls_back_to_the_old_paths",
    ),
    "simulated compaction and injected turns": (
        "web/test_debug_api.py::test_a_simulated_compaction_gives_the_reminder",
        "web/test_debug_api.py::test_an_injected_turn_makes_the_agent_remember",
    ),
    "an edit may condense what it takes in": ("librarian/test_rules.py::test_a_sentence_may_be_condensed_to_an_item",),
    "the summary's form does not contradict its target range": (
        "librarian/test_wording.py::test_the_form_of_a_summary_names_no_number_of_words",
        "librarian/test_wording.py::test_the_word_range_is_the_setting",
    ),
    "an edit across a blank line keeps it": ("vault/test_edits.py::test_an_edit_across_a_blank_line_keeps_it",),
    "respectHeadings; decided: always on": ("catalogue/test_passages.py::test_sections_are_never_mixed",),
    "syncOnStart": ("agent/test_chat.py::test_a_conversation_begins_with_an_index_that_is_up_to_date",),
    "a day is only added to": ("notebook/test_pages.py::test_a_daily_log_is_only_added_to",),
    "notebook_edit goes on for runtime/": (
        "operations/test_migration.py::test_notes_of_the_older_layout_can_be_edited_where_they_are",
    ),
    # sentence by sentence
    "two runs never work on one vault": ("flows/test_graph.py::test_runs_on_one_vault_take_turns",),
    "a planned run waits for a person": (
        "flows/test_graph.py::test_a_plan_waits_for_a_person",
        "flows/test_approval_page.py::test_a_person_leaves_a_plan_and_approves_the_next",
    ),
    "metrics fit a screen": ("stages/test_dvc.py::test_metrics_fit_a_screen",),
    "a remote is pushed to and pulled from": ("stages/test_project.py::test_another_machine_pulls_what_was_made",),
    "the workflow of a CI host works": (
        "stages/test_project.py::test_the_steps_of_a_ci_host_check_the_vault_and_give_a_report",
    ),
    "lists and short jottings are cut too, and what is parted is counted": (
        "evaluation/test_forms.py::test_what_can_be_cut_besides_prose",
        "evaluation/test_forms.py::test_a_case_knows_the_place_of_each_cut",
        "evaluation/test_forms.py::test_a_parted_list_is_seen_whoever_parted_it",
    ),
    "structure broken is 0 in an evaluation, and would be seen": (
        "evaluation/test_evaluating.py::test_nothing_that_belongs_together_is_parted",
        "evaluation/test_forms.py::test_a_parted_list_is_seen_whoever_parted_it",
    ),
    "a note that has its beginning keeps it": (
        "vault/test_structure.py::test_a_note_that_has_its_beginning_keeps_it",
        "vault/test_edits.py::test_text_above_a_paragraph_that_begins_alike_does_not_split_it",
    ),
    "jottings of a person in the vaults of others: one copy, nothing parted, every byte back": (
        "inbox/test_shared_vaults.py::test_jottings_go_in_once_and_come_out_to_the_byte",
    ),
    "a hunk has one number wherever it is shown": (
        "cli/test_review.py::test_a_hunk_has_one_number_wherever_it_is_shown",
        "inbox/test_review.py::test_only_and_except_name_hunks_and_notes",
    ),
    "a note is opened": (
        "cli/test_review.py::test_open_prints_the_address",
        "cli/test_review.py::test_open_calls_the_editor_at_the_line",
    ),
    "a desktop is notified": ("cli/test_review.py::test_a_notification_needs_no_desktop",),
    "reports begin with what wants the reader, and an undone run says so": (
        "inbox/test_report.py::test_what_wants_the_reader_comes_first",
        "inbox/test_report.py::test_a_plan_says_how_to_apply_and_an_undone_run_that_it_is",
    ),
    "a cap too small for one call is refused at once": (
        "cli/test_model.py::test_a_cap_too_small_for_one_call_is_refused_at_once",
    ),
    "a closed pipe, a home that is none": (
        "cli/test_first_use.py::test_a_pipe_that_is_closed_ends_it_in_silence",
        "cli/test_first_use.py::test_a_home_that_does_not_exist_is_the_environment",
    ),
    "the demo is as the README shows it": ("cli/test_program.py::test_the_readme_shows_what_the_demo_prints",),
    "around a replaced block every byte stays, and no blank line is lost": (
        "vault/test_edits.py::test_around_a_replaced_block_every_byte_stays",
        "vault/test_edits.py::test_a_block_put_between_two_leaves_the_blank_line",
    ),
    "a deleted note comes back also when its name is taken": (
        "operations/test_notes.py::test_a_deleted_note_is_brought_back_also_when_its_name_is_taken",
    ),
    # attacked
    "a save at any moment of a write survives": (
        "chaos/test_saves.py::test_a_save_in_a_run",
        "chaos/test_saves.py::test_a_save_in_a_write",
        "chaos/test_saves.py::test_a_save_in_a_rename",
        "chaos/test_saves.py::test_a_save_in_the_inbox_outside_the_vault",
        "durable/test_replacing.py::test_a_save_at_any_call_of_a_change_survives",
    ),
    "the local server is one person's": (
        "flows/test_server_pages.py::test_a_page_from_elsewhere_gets_nothing",
        "flows/test_server_pages.py::test_without_the_password_nothing_is_told",
        "flows/test_server_pages.py::test_signed_in_is_not_enough_for_a_request_that_changes_something",
        "flows/test_server.py::test_another_host_is_refused",
        "flows/test_runner.py::test_the_password_is_made_once_and_is_this_users_alone",
        "flows/test_runner.py::test_the_server_of_another_vault_is_not_taken",
        "flows/test_runner.py::test_a_record_that_others_may_write_is_not_followed",
    ),
    "flows refuse vaults that are not served": (
        "flows/test_serve.py::test_one_command_serves_page_and_flows_and_ends_them_all",
    ),
    "a server that goes away costs a sentence": (
        "flows/test_server_gone.py::test_a_run_goes_on_directly_with_what_is_decided",
    ),
    "no text takes minutes, and data stays in the note": (
        "test_linear.py::test_the_work_grows_as_the_text_does",
        "test_linear.py::test_data_never_reaches_a_tokenizer_and_stays_in_the_note",
        "test_linear.py::test_a_note_that_is_too_much_is_read_as_far_as_its_budget_goes",
        "test_linear.py::test_a_note_of_countless_passages_is_searched_so_far_and_named",
        "test_linear.py::test_an_inbox_is_cut_around_what_was_placed_only",
    ),
    "damaged index files end no process": ("search/test_generations.py::test_a_damaged_index_is_made_anew",),
    "a failing disk is told as a full one": (
        "chaos/test_saves.py::test_a_disk_that_refuses_in_a_run",
        "durable/test_changes.py::test_a_disk_that_refuses_leaves_all_or_nothing",
    ),
    "no temporary file stays in a vault": (
        "notebook/test_pages.py::test_a_disk_that_refuses_leaves_nothing_behind",
        "notebook/test_pages.py::test_any_command_finishes_what_was_stopped",
    ),
    "state, sockets and logs are the person's alone": (
        "durable/test_locks.py::test_the_state_folder_and_the_lock_are_the_persons_alone",
        "search/test_owner.py::test_sockets_of_the_dead_do_not_pile_up",
        "search/test_owner.py::test_a_meeting_place_that_others_can_write_to_is_not_used",
        "cli/test_logging.py::test_the_log_says_what_ran_and_holds_no_secret",
    ),
    # what came after
    "no inbox is too much for a run": (
        "inbox/test_integration.py::test_a_run_takes_so_many_paragraphs_and_the_others_come_next",
        "test_linear.py::test_a_note_of_countless_tags_carries_so_many_and_is_named",
    ),
    "a hunk says why this note": ("inbox/test_review.py::test_a_plan_is_shown_with_what_stays_first",),
    "what no note is likely enough for stays, and the likeliest is named": (
        "librarian/offline/test_editing.py::test_what_many_notes_may_take_stays_in_the_inbox",
        "librarian/offline/test_editing.py::test_the_likeliest_note_is_named_where_all_are_too_unlikely",
        "cli/test_review.py::test_what_is_too_unlikely_names_the_likeliest_note",
    ),
    "a plan is made anew for the notes that changed": (
        "inbox/test_review.py::test_chunks_of_changed_notes_are_asked_for_again",
    ),
    "an integration waits for another and names it": (
        "durable/test_locks.py::test_an_integration_waits_for_another_and_names_it",
    ),
    "a model that is none is wrong use": ("cli/test_models.py::test_a_model_that_is_none_is_wrong_use",),
    "pages of the notebook over HTTP": ("web/test_debug_api.py::test_pages_are_listed_read_written_and_deleted",),
}


@pytest.mark.parametrize("row", HELD)
def test_the_tests_of_a_row_exist(row):
    """By file and name."""
    for named in HELD[row]:
        file, _, name = named.partition("::")
        tree = ast.parse((REPOSITORY / "tests" / file).read_text(encoding="utf-8"))
        there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in there, named


def test_no_defect_is_left_out():
    """D1 to D17 are rows."""
    assert {int(row[1 : row.index(":")]) for row in HELD if row.startswith("D")} == set(range(1, 18))

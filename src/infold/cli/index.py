"""`infold index` and `infold rebuild`: bringing what is derived up to date, and making catalogue and index anew."""

from __future__ import annotations

from infold.cli.forecast import agreed
from infold.cli.indexing import INTERRUPTED, IndexReport, interrupted, page, tell_skipped
from infold.cli.options import Call, PaidYesOption, command
from infold.cli.progress import Stages
from infold.operations.contract import Nothing
from infold.operations.spending import Spending
from infold.operations.vault import index_rebuild, index_sync
from infold.settings_record import keep_settings


@command
def index(
    call: Call,
    *,
    yes: PaidYesOption = False,
) -> int:
    """Bring tables, summaries and the search index up to date. Only what changed is read again.

    Words are searchable first, within seconds; meaning follows. Ctrl-C at any time leaves an index that can be
    searched, and the next call goes on where this one stopped.
    """
    terminal = call.terminal
    with call.vault() as vault:
        request = agreed(terminal, vault, "index_sync", Spending(), vault.estimate_summaries, yes=yes)
        if request is None:
            terminal.say("Nothing was asked.")
            return 0
        try:
            with Stages(terminal) as stages, vault.reporting(stages):
                done = index_sync(vault, request)
        except KeyboardInterrupt:
            return interrupted(vault, terminal)
        keep_settings(vault.workspace.state, vault.located.params_file)
    report = IndexReport.of_answer(done)
    tell_skipped(terminal, report)
    if terminal.is_json:
        terminal.emit(done.as_json())
    else:
        for line in page(report):
            terminal.say(line)
    return 0


@command
def rebuild(call: Call) -> int:
    """Make catalogue and search index anew from the notes, while the old ones serve.

    The catalogue is what is known of the notes: outlines, links, passages. Embeddings that take long or cost money are
    kept by content: none is computed again. For after a fault, or to be sure; changed notes need only `infold index`,
    and changed settings are noticed by themselves.
    """
    terminal = call.terminal
    with call.vault() as vault:
        try:
            with Stages(terminal) as stages, vault.reporting(stages):
                done = index_rebuild(vault, Nothing())
        except KeyboardInterrupt:
            terminal.notice("\nInterrupted. The index from before is still in use, unless the new one was nearly done.")
            return INTERRUPTED
    if done.kept:
        terminal.notice("! The vault seems empty, so the index was left as it is. Is its folder there?", style="yellow")
    if terminal.is_json:
        terminal.emit(done.as_json())
    elif not done.kept:
        made = done.result
        terminal.say(
            f"{made.files_changed} notes, {made.chunks_created} passages indexed anew; "
            f"{made.embeddings_computed} embeddings computed; {made.duration_ms / 1000:.1f} s."
        )
    return 0

"""`infold docmem`: the store of all trees indexed, checked, backed up and restored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infold import lazy
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.errors import StoreDamaged, StoreTooNew
from infold.operations import docmem_exchange as operations
from infold.operations.contract import Nothing
from infold.operations.docmem_search import docmem_index

BackupArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the backup.", show_default=False)]
_UNUSABLE = "A store that cannot be used"


@command
def index(call: Call) -> int:
    """Bring the search index up to date with the trees: only what changed is sent. Every search does this first."""
    with Stages(call.terminal) as stages, call.vault(stages) as vault:
        done = docmem_index(vault, Nothing())
    call.terminal.answer(
        done, f"{done.sent} nodes sent, {done.removed} taken away, {done.embeddings_computed} embeddings computed."
    )
    if done.waiting:
        call.terminal.notice(f"{done.waiting:,} nodes are found by words only until `infold index` has run.")
    return 0


@command
def check(call: Call) -> int:
    """Check the store of all trees: the file, the trees, every hash. Exit code 1 where something is wrong.

    Summaries that no longer say what is below them are named; they are nothing wrong.
    """
    with call.vault() as vault:
        answer = operations.docmem_check(vault, Nothing())
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
        return int(bool(answer.problems))
    for sentence in answer.problems:
        call.terminal.say(sentence, style="red")
    if not answer.problems:
        call.terminal.say(
            f"{answer.trees:,} trees, {answer.nodes:,} nodes, {answer.versions:,} earlier versions: nothing is wrong."
        )
        call.terminal.say(f"{answer.file}, {answer.size_bytes / 1e6:.1f} MB", style="dim")
    for summary in answer.stale:
        call.terminal.say(f"stale   {summary}")
    return int(bool(answer.problems))


@command
def backup(call: Call, file: BackupArgument) -> int:
    """Write all trees into one file, whole or not at all, while others go on reading and writing.

    An earlier backup is written over, any other file is not. Of a damaged store no backup is written.
    """
    with call.vault() as vault:
        answer = operations.docmem_backup(vault, operations.DocmemBackupRequest(file=file))
    return call.terminal.answer(answer, f"wrote {file}")


@command
def restore_backup(
    call: Call,
    file: BackupArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask.")] = False,
) -> int:
    """Put all trees back to what they were when a backup was written: all of it, or they stay as they are.

    What they were before is kept beside the store, and named. A store that cannot be opened any more is set aside.
    """
    store = call.place().workspace.docmem
    what = _what_goes(store)
    would = f"{what} would be replaced by the trees of {file}"
    if what and not call.terminal.agrees(would, f"{would}. Go on?", yes=yes):
        return 1
    kept = lazy.docmem.maintenance.replace(store, file) if what == _UNUSABLE else None
    with lazy.docmem.memory.open_docmem(store) as memory:
        kept = kept or lazy.docmem.maintenance.restore(memory.store, file)
        found = lazy.docmem.maintenance.facts(memory.store)
    if call.terminal.is_json:
        call.terminal.emit({"trees": found.trees, "nodes": found.nodes, "kept": str(kept)})
    else:
        call.terminal.say(f"{found.trees} trees with {found.nodes:,} nodes, as in {file}")
        call.terminal.say(f"before  {kept}", style="dim")
    return 0


def _what_goes(store: Path) -> str:
    """What a restore takes the place of, in words; "" where there is nothing."""
    try:
        with lazy.docmem.memory.open_docmem(store) as memory:
            now = lazy.docmem.maintenance.facts(memory.store)
    except (StoreDamaged, StoreTooNew):
        return _UNUSABLE
    return f"{now.trees} trees with {now.nodes:,} nodes" if now.nodes else ""

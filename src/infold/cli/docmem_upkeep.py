"""`infold docmem`: what of a tree fits a budget, and the store of all trees checked, backed up and restored."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from infold.cli.docmem_place import NodeArgument, memory_of
from infold.cli.options import Call, command
from infold.errors import UsageError

BackupArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the backup.", show_default=False)]
_UNUSABLE = "A store that cannot be used"


@command
def expand(
    call: Call,
    node: NodeArgument,
    *,
    tokens: Annotated[int, typer.Option("--tokens", metavar="N", min=0, help="How much there is room for.")],
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="What answers this comes first, with what is above.")
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="Summaries: `with` their memories, `without`, `instead` of them, or `mixed`: where they do not fit.",
        ),
    ] = "with",
    text: Annotated[bool, typer.Option("--text", metavar="", help="Their texts alone, as one document.")] = False,
) -> int:
    """Show a node and as much below it as fits a number of tokens, in reading order.

    Nodes marked with a priority come first, then what answers the query; then upper levels before lower ones, and
    within a level later nodes before earlier ones. What is marked to stick together comes whole.
    """
    from infold.cli.docmem_memory import searching
    from infold.cli.docmem_reading import show_tree
    from infold.docmem.focus import RESOLUTIONS
    from infold.docmem.recall import relevance

    found_mode = next((known for known in RESOLUTIONS if known == mode), None)
    if found_mode is None:
        raise UsageError(f"There is no mode {mode!r}.", hint=f"The modes are {', '.join(RESOLUTIONS)}.")
    with memory_of(call) as memory:
        scores = None
        if query is not None:
            with searching(call) as searcher:
                scores = relevance(memory, searcher, query, within=node)
        nodes = memory.expand(node, tokens, relevance=scores, summaries=found_mode)
    used = sum(found.token_count for found in nodes)
    if call.terminal.is_json:
        call.terminal.emit({"tokens": used, "budget": tokens, "nodes": [found.as_dict() for found in nodes]})
    elif text:
        call.terminal.say("\n\n".join(found.text for found in nodes if found.text.strip()))
    else:
        depths: dict[str | None, int] = {}
        for found in nodes:
            depths[found.id] = depths.get(found.parent_id, 0 if depths else -1) + 1
        show_tree(call.terminal, [(found, depths[found.id]) for found in nodes], whole=True)
        call.terminal.notice(f"{len(nodes)} nodes, {used} of {tokens} tokens")
    return 0


@command
def backup(call: Call, file: BackupArgument) -> int:
    """Write all trees into one file, whole or not at all, while others go on reading and writing.

    An earlier backup is written over, any other file is not. Of a damaged store no backup is written.
    """
    from infold.docmem.upkeep import backup as write_backup

    with memory_of(call) as memory:
        write_backup(memory.store, file)
    if call.terminal.is_json:
        call.terminal.emit({"file": str(file.absolute())})
    else:
        call.terminal.say(f"wrote {file}")
    return 0


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
    from infold.docmem.upkeep import facts, replace, restore

    what = _what_goes(call)
    if what and not yes:
        question = f"{what} would be replaced by the trees of {file}"
        if call.terminal.is_json or not call.terminal.is_watched:
            raise UsageError(f"{question}.", hint="Add --yes to do it.")
        if not typer.confirm(f"{question}. Go on?", err=True):
            return 1
    kept = replace(call.place().workspace.docmem, file) if what == _UNUSABLE else None
    with memory_of(call) as memory:
        kept = kept or restore(memory.store, file)
        found = facts(memory.store)
    if call.terminal.is_json:
        call.terminal.emit({"trees": found.trees, "nodes": found.nodes, "kept": str(kept)})
    else:
        call.terminal.say(f"{found.trees} trees with {found.nodes:,} nodes, as in {file}")
        call.terminal.say(f"before  {kept}", style="dim")
    return 0


def _what_goes(call: Call) -> str:
    """What a restore takes the place of, in words; "" where there is nothing."""
    from infold.docmem.upkeep import facts
    from infold.errors import StoreDamaged, StoreTooNew

    try:
        with memory_of(call) as memory:
            now = facts(memory.store)
    except (StoreDamaged, StoreTooNew):
        return _UNUSABLE
    return f"{now.trees} trees with {now.nodes:,} nodes" if now.nodes else ""


@command
def check(call: Call) -> int:
    """Check the store of all trees: the file, the trees, every hash. Exit code 1 where something is wrong."""
    from infold.docmem.upkeep import facts, problems

    with memory_of(call) as memory:
        wrong = problems(memory.store)
        known = None if wrong else facts(memory.store)
        file = memory.store.file
    if call.terminal.is_json:
        call.terminal.emit({"file": str(file), "problems": wrong, **(asdict(known) if known else {})})
        return int(bool(wrong))
    for sentence in wrong:
        call.terminal.say(sentence, style="red")
    if known:
        call.terminal.say(
            f"{known.trees:,} trees, {known.nodes:,} nodes, {known.versions:,} earlier versions: nothing is wrong."
        )
        call.terminal.say(f"{file}, {known.size_bytes / 1e6:.1f} MB", style="dim")
    return int(bool(wrong))

"""What a run with a model will cost, shown before anything is asked of it, and the question whether to go on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from infold.cli.terminal import Terminal
from infold.librarian.prompts import DecisionKind
from infold.locate import LocatedWorkspace

if TYPE_CHECKING:
    from infold.librarian.answers import Paragraph
    from infold.librarian.estimate import Estimate
    from infold.settings import LibrarianParams

_Progress = Callable[[str, int, int], None]


def is_agreed(terminal: Terminal, place: LocatedWorkspace, *, yes: bool) -> bool:
    """Shows the estimate where a model decides, and asks where a person can answer; else, and with `yes`, goes on.

    Raises KeyMissing, KeyRejected and SettingInvalid before anything is read.
    """
    if place.params.librarian.kind != "model":
        return True
    from infold.cli.progress import Stages

    with Stages(terminal) as stages:
        expected = forecast(place, stages)
    return expected is None or confirmed(terminal, place.params.librarian, expected, yes=yes)


def confirmed(terminal: Terminal, librarian: LibrarianParams, expected: Estimate, *, yes: bool) -> bool:
    """Shows what is to be expected and the caps; asks where a person can answer. `yes`, a program or a pipe goes on."""
    terminal.notice(f"{librarian.model}: {_in_words(expected)}", style="bold")
    terminal.notice(_cap(librarian))
    if yes or terminal.is_json or not (terminal.is_watched and _is_answerable()):
        return True
    terminal.err.print("Go on? [y/N] ", end="")
    return _answer().strip().lower() in {"y", "yes"}


def _is_answerable() -> bool:
    return sys.stdin.isatty()


def _answer() -> str:
    return sys.stdin.readline()


def forecast(place: LocatedWorkspace, progress: _Progress) -> Estimate | None:
    """What the run will take; None where there is nothing to do."""
    from infold.environment import Environment
    from infold.librarian.decisions import DecisionStore
    from infold.librarian.estimate import estimate
    from infold.librarian.model import ModelLibrarian

    params = place.params
    store = DecisionStore(place.workspace.decisions)
    librarian = ModelLibrarian(params.librarian, params.editing, Environment(), store, params.integrate.concurrency)
    paragraphs = _paragraphs(place)
    if not paragraphs:
        return None
    return estimate(
        paragraphs,
        list(_unsummarised(place, librarian.signature(DecisionKind.SUMMARY), progress)),
        params,
        librarian.spend.price,
    )


def _paragraphs(place: LocatedWorkspace) -> list[Paragraph]:
    from infold.inbox.paragraphs import number_paragraphs
    from infold.vault.files import decode, read_bytes

    inbox = place.workspace.inbox
    if not inbox.exists():
        return []
    data = read_bytes(inbox.parent, inbox.name, place.params.vault.max_note_bytes)
    return [entry.paragraph for entry in number_paragraphs(decode(data, inbox.name), inbox.name)]


def _unsummarised(place: LocatedWorkspace, librarian: str, progress: _Progress) -> Iterator[int]:
    """The tokens of each note that this librarian has not summarised; of an index note those of what it links to."""
    from infold.catalogue.notes import load_notes
    from infold.catalogue.summaries import SummaryStore
    from infold.catalogue.sync import sync_tables
    from infold.inbox.summarising import LAST_KNOWN, LENS, LEVEL
    from infold.text import content_hash

    workspace = place.workspace
    sync_tables(
        workspace.vault, workspace.tables, workspace.params, lambda done, total: progress("tables", done, total)
    )
    known = SummaryStore(workspace.summaries).load()
    low, high = workspace.params.summary.summary_target_words
    columns = load_notes(workspace.tables).select("path", "content_hash", "kind", "words", "tokens", "outgoing")
    for path, digest, kind, words, tokens, outgoing in columns.iter_rows():
        is_index = kind == "index" and bool(outgoing)
        if kind == "inbox" or (words < low and not is_index):
            continue
        row = known.get((content_hash(path), LEVEL, LAST_KNOWN) if is_index else (digest, LEVEL, LENS))
        if row is None or row.model != librarian:
            yield len(outgoing) * high * 2 if is_index else tokens


def _in_words(expected: Estimate) -> str:
    calls, tokens = expected.calls, expected.tokens
    price = (
        "at a price that is not known" if expected.usd is None else f"${expected.usd[0]:.2f} to ${expected.usd[1]:.2f}"
    )
    return f"some {calls[0]} to {calls[1]} calls, {tokens[0]:,} to {tokens[1]:,} tokens, {price}"


def _cap(params: LibrarianParams) -> str:
    caps = [f"${params.max_usd:g}"] if params.max_usd is not None else []
    caps += [f"{params.max_tokens:,} tokens"] if params.max_tokens is not None else []
    if not caps:
        return "No cap is set; --max-usd or --max-tokens sets one."
    return f"It stops before it passes {' or '.join(caps)}; what is done by then is kept."

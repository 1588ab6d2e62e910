"""What a run with a model will cost, shown before anything is asked of it, and the question whether to go on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from infold.cli.progress import Stages
from infold.cli.terminal import Terminal
from infold.operations.spending import Quote, Spending, quote_first

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.librarian.estimate import Estimate
    from infold.settings import LibrarianParams

R = TypeVar("R", bound=Spending)


def agreed(
    terminal: Terminal,
    vault: OpenVault,
    operation: str,
    request: R,
    estimate: Callable[[], Estimate | None],
    *,
    yes: bool,
) -> R | None:
    """The request with what agrees to its cost, where a model decides; None where a person said no.

    Raises KeyMissing, KeyRejected and SettingInvalid before anything is read.
    """
    with Stages(terminal) as stages, vault.reporting(stages):
        quote = quote_first(vault, operation, request, estimate)
    if quote is None:
        return request
    if not confirmed(terminal, vault.params.librarian, quote, yes=yes):
        return None
    return request.model_copy(update={"token": quote.token})


def confirmed(terminal: Terminal, librarian: LibrarianParams, expected: Estimate | Quote, *, yes: bool) -> bool:
    """Shows what is to be expected and the caps; asks where a person can answer. `yes`, a program or a pipe goes on."""
    terminal.notice(f"{librarian.model}: {in_words(expected)}", style="bold")
    terminal.notice(_cap(librarian))
    if yes or terminal.is_json or not (terminal.is_watched and _is_answerable()):
        return True
    terminal.err.print("Go on? [y/N] ", end="")
    return _answer().strip().lower() in {"y", "yes"}


def _is_answerable() -> bool:
    return sys.stdin.isatty()


def _answer() -> str:
    return sys.stdin.readline()


def in_words(expected: Estimate | Quote) -> str:
    """Calls, tokens and dollars, from low to high."""
    calls, tokens = expected.calls, expected.tokens
    price = (
        "at a price that is not known" if expected.usd is None else f"${expected.usd[0]:.2f} to ${expected.usd[1]:.2f}"
    )
    return f"some {calls[0]} to {calls[1]} calls, {tokens[0]:,} to {tokens[1]:,} tokens, {price}"


def _cap(params: LibrarianParams) -> str:
    caps = [f"${params.max_usd:g}"] if params.max_usd is not None else []
    caps += [f"{params.max_tokens:,} tokens"] if params.max_tokens is not None else []
    caps += [f"${params.max_usd_per_day:g} a day"] if params.max_usd_per_day is not None else []
    caps += [f"{params.max_tokens_per_day:,} tokens a day"] if params.max_tokens_per_day is not None else []
    if not caps:
        return "No cap is set; --max-usd or --max-tokens sets one."
    return f"It stops before it passes {' or '.join(caps)}; what is done by then is kept."

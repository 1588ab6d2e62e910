"""What commands share that may pay a model: how a person agrees to an estimate, and how it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from infold.operations.spending import Quote

TokenOption = Annotated[str | None, typer.Option("--token", metavar="TOKEN", help="Agree to the estimate with it.")]
UsdOption = Annotated[float | None, typer.Option("--max-usd", metavar="USD", min=0, help="Spend at most so much.")]
TokensOption = Annotated[
    int | None, typer.Option("--max-tokens", metavar="N", min=0, help="Spend at most so many tokens.")
]


def quoted(quote: Quote) -> str:
    """An estimate in words, and how to agree to it."""
    price = f", ${quote.usd[0]:.2f} to ${quote.usd[1]:.2f}" if quote.usd else ""
    return (
        f"{quote.calls[0]} to {quote.calls[1]} calls, {quote.tokens[0]:,} to {quote.tokens[1]:,} tokens{price}.\n"
        f"Nothing was spent. Add --token {quote.token} to go on, or --max-usd or --max-tokens to set a cap."
    )

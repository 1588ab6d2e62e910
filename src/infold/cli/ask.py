"""`infold ask` and `infold chat`: questions in plain words, answered with the places that say it."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli.options import Call, command
from infold.operations.agent import AskRequest, ChatRequest, ask_
from infold.operations.agent import chat as say
from infold.operations.spending import Quote

TokenOption = Annotated[str | None, typer.Option("--token", metavar="TOKEN", help="Agree to the estimate with it.")]
UsdOption = Annotated[float | None, typer.Option("--max-usd", metavar="USD", min=0, help="Spend at most so much.")]


@command
def ask(
    call: Call,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What you want to know.")],
    *,
    token: TokenOption = None,
    max_usd: UsdOption = None,
) -> int:
    """Answer a question from your notes; every statement names the lines that say it.

    infold ask what do I have about compost · infold ask go deeper into this one · infold ask show me the main themes

    "This one" is where you are (`infold nav`). With a model the estimate is shown first.
    """
    request = AskRequest(question=" ".join(question), caller="person", token=token, max_usd=max_usd)
    with call.vault() as vault:
        answer = ask_(vault, request)
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
        return 0
    if answer.quote is not None:
        call.terminal.say(_quoted(answer.quote))
        return 0
    for said in answer.statements:
        call.terminal.say(said.text)
        call.terminal.say(f"  {', '.join(said.places)}", style="dim")
    if answer.not_found:
        call.terminal.say(f"Not found: {answer.not_found}")
    for notice in answer.notices:
        call.terminal.notice(notice)
    return 0 if answer.statements else 1


@command
def chat(
    call: Call,
    message: Annotated[list[str], typer.Argument(metavar="MESSAGE", help="What you say.")],
    *,
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="Which conversation; one that is there goes on.")
    ] = "main",
    token: TokenOption = None,
    max_usd: UsdOption = None,
) -> int:
    """Say something to the vault's own agent; the conversation is kept as a session.

    It answers from your notes, and writes to today's log what you tell it to remember: infold chat remember that ...
    """
    request = ChatRequest(message=" ".join(message), session=session, token=token, max_usd=max_usd)
    with call.vault() as vault:
        answer = say(vault, request)
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    else:
        call.terminal.say(_quoted(answer.quote) if answer.quote is not None else answer.reply)
        if answer.compacted:
            call.terminal.notice("The conversation was compacted: what was said before is no longer before the agent.")
    return 0


def _quoted(quote: Quote) -> str:
    price = f", ${quote.usd[0]:.2f} to ${quote.usd[1]:.2f}" if quote.usd else ""
    return (
        f"{quote.calls[0]} to {quote.calls[1]} calls, {quote.tokens[0]:,} to {quote.tokens[1]:,} tokens{price}.\n"
        f"Nothing was spent. Add --token {quote.token} to go on, or --max-usd to set a cap."
    )

"""`infold ask`: questions in plain words, answered with the places that say it."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli.options import Call, command
from infold.cli.spending import TokenOption, TokensOption, UsdOption, quoted
from infold.operations.ask import AskRequest, ask_


@command
def ask(
    call: Call,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What you want to know.")],
    *,
    token: TokenOption = None,
    max_usd: UsdOption = None,
    max_tokens: TokensOption = None,
) -> int:
    """Answer a question from your notes; every statement names the lines that say it.

    infold ask what do I have about compost · infold ask go deeper into this one · infold ask show me the main themes

    "This one" is where you are (`infold nav`). With a model the estimate is shown first.
    """
    request = AskRequest(
        question=" ".join(question), caller="person", token=token, max_usd=max_usd, max_tokens=max_tokens
    )
    with call.vault() as vault:
        answer = ask_(vault, request)
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    if answer.quote is not None:
        call.terminal.say(quoted(answer.quote))
        return 0
    for said in answer.statements:
        call.terminal.say(said.text)
        call.terminal.say(f"  {', '.join(said.places)}", style="dim")
    if answer.not_found:
        call.terminal.say(f"Not found: {answer.not_found}")
    for notice in answer.notices:
        call.terminal.notice(notice)
    return 0 if answer.statements else 1

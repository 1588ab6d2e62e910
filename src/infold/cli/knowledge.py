"""`infold query`: context for a question, within a budget, for a person or for a prompt."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli.forecast import in_words
from infold.cli.options import Call, command
from infold.operations.knowledge import knowledge_query
from infold.operations.knowledge_request import KnowledgeQueryRequest, QueryCompression, QuerySource


@command
def query(
    call: Call,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What you want to know.")],
    *,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=200, help="The whole answer has at most so many tokens.")
    ] = 8000,
    source: Annotated[
        QuerySource,
        typer.Option("--source", help="Your own notes, what was brought in from outside, or both."),
    ] = "local",
    compression: Annotated[
        QueryCompression,
        typer.Option(
            "--compression",
            help="none: whole notes, cut at the limit; minimal: key sentences and summaries; auto: what is worth most.",
        ),
    ] = "auto",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Let the model of the settings choose what goes in, for what it costs.")
    ] = False,
) -> int:
    """Get what your notes say about something as XML that fits a budget, ready for a prompt.

    Each piece has its path, lines, heading, date and trust. What was left out and what was not found is said.
    """
    request = KnowledgeQueryRequest(
        query=" ".join(question), max_tokens=max_tokens, source=source, compression=compression
    )
    with call.vault() as vault:
        answer = knowledge_query(vault, request)
        if yes and answer.quote is not None:
            answer = knowledge_query(vault, request.model_copy(update={"token": answer.quote.token}))
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    call.terminal.say(answer.context.rstrip("\n"))
    if answer.quote is not None:
        call.terminal.notice(
            f"Chosen by measured value. With --yes {answer.quote.model} chooses: {in_words(answer.quote)}."
        )
    for notice in answer.notices:
        call.terminal.notice(notice)
    return 0 if answer.pieces else 1

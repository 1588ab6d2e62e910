"""`infold chat`: a conversation with the vault's own agent, one message or many."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from infold.agent.loop import Step
from infold.agent.session import AgentSession, last_session
from infold.app import OpenVault
from infold.cli.found import shown
from infold.cli.options import Call, command
from infold.cli.spending import TokenOption, TokensOption, UsdOption, quoted
from infold.cli.terminal import Terminal
from infold.errors import InfoldError
from infold.operations.chat import ChatAnswer, ChatRequest, context_of, start_session, talk

_PROMPT: Final = "you> "
_CONTEXT: Final = "/context"
_HELP: Final = "Ctrl-D ends the conversation, Ctrl-C stops an answer, /context shows what is before the agent."
_SHOWN: Final = 200  # characters of an argument


@command
def chat(
    call: Call,
    message: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MESSAGE]", help="What you say. Else you are asked, or each line of stdin is one."),
    ] = None,
    *,
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="Which conversation; one that is there goes on.")
    ] = "main",
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Go on with the conversation that was used last.")
    ] = False,
    allow_writes: Annotated[
        bool,
        typer.Option("--allow-writes", metavar="", help="Let it write what can be undone, without asking each time."),
    ] = False,
    token: TokenOption = None,
    max_usd: UsdOption = None,
    max_tokens: TokensOption = None,
) -> int:
    """Talk with the vault's own agent; the conversation is kept as a session, and goes on the next time.

    infold chat · infold chat remember that the key is under the pot · infold chat --resume

    It searches, reads and navigates your notes. It writes what you tell it to remember; before it changes anything else
    it asks you. Nothing that stands in a note makes it write. With a model the estimate is shown first.
    """
    with call.vault() as vault:
        name = (last_session(vault.workspace) or session) if resume else session
        asked = ChatRequest(
            message="-", session=name, allow_writes=allow_writes, token=token, max_usd=max_usd, max_tokens=max_tokens
        )
        conversation = _Conversation(call.terminal, vault, asked)
        if message:
            return conversation.say(" ".join(message))
        if sys.stdin.isatty():
            return conversation.prompt()
        return conversation.read(sys.stdin)


@dataclass
class _Conversation:
    """The messages of one call, and what of the caps is left."""

    terminal: Terminal
    vault: OpenVault
    asked: ChatRequest
    _is_started: bool = False
    _is_capped_each: bool = False  # the cap is that of each message, not of all together

    def say(self, message: str) -> int:
        """Says one thing, and shows the reply."""
        self._start()
        answer = talk(self.vault, self.asked.model_copy(update={"message": message}), self._confirm(), self._hear)
        if answer.quote is not None and self._is_prompting and self._agrees(answer):
            self._spend_up_to(answer)
            return self.say(message)
        self._spent(answer)
        self._show(answer)
        return 0 if answer.quote is None and not answer.stopped else 1

    def read(self, lines: Iterator[str]) -> int:
        """Says each line; stops where one gets no answer."""
        for line in lines:
            if line.strip() and (code := self.say(line.strip())):
                return code
        return 0

    def prompt(self) -> int:
        """Asks for messages until the end of input."""
        import readline  # noqa: F401 - the line that is typed can be edited, and those before called back

        session = AgentSession(self.vault.workspace, self.asked.session)
        self.terminal.notice(f"{_HELP}\nSession {session.name}: {session.turns()} messages so far.", style="dim")
        while True:
            try:
                line = input(_PROMPT).strip()
            except EOFError:
                self.terminal.notice("")
                return 0
            except KeyboardInterrupt:  # the line is dropped; a second one at once is the same
                with suppress(KeyboardInterrupt):
                    self.terminal.notice("")
                continue
            if line:
                self._answer(line)

    def _answer(self, line: str) -> None:
        """One message of the prompt; what goes wrong is said, and the conversation goes on."""
        try:
            self.say(line) if line != _CONTEXT else self._show_context()
        except KeyboardInterrupt:
            self.terminal.notice("Stopped. What was said and done so far is kept.", style="yellow")
        except InfoldError as error:
            self.terminal.fail(error)

    @property
    def _is_prompting(self) -> bool:
        return not self.terminal.is_json and sys.stdin.isatty() and self.terminal.is_watched

    def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            start_session(self.vault)

    def _agrees(self, answer: ChatAnswer) -> bool:
        if answer.quote is None:
            return False
        self.terminal.notice(quoted(answer.quote).partition("\n")[0])
        return typer.confirm("Ask the model, with the upper figure as the cap of each message?", err=True)

    def _spend_up_to(self, answer: ChatAnswer) -> None:
        most = answer.quote.tokens[1] if answer.quote is not None else None
        self.asked = self.asked.model_copy(update={"max_tokens": most})
        self._is_capped_each = True

    def _spent(self, answer: ChatAnswer) -> None:
        """Takes what a message cost from the caps that were given for the whole call."""
        left: dict[str, Any] = {"token": None}
        if self.asked.max_usd is not None and answer.usage.usd is not None:
            left["max_usd"] = max(0.0, self.asked.max_usd - answer.usage.usd)
        if self.asked.max_tokens is not None and not self._is_capped_each:
            left["max_tokens"] = max(0, self.asked.max_tokens - answer.usage.tokens)
        self.asked = self.asked.model_copy(update=left)

    def _show(self, answer: ChatAnswer) -> None:
        if self.terminal.is_json:
            self.terminal.emit(answer.as_json())
            return
        if answer.quote is not None:
            self.terminal.say(quoted(answer.quote))
            return
        if answer.reply:
            self.terminal.say(answer.reply)
        if answer.stopped:
            self.terminal.notice(answer.stopped, style="yellow")
        if answer.compacted:
            self.terminal.notice("The conversation was compacted: what was said before is no longer before the agent.")
        if answer.usage.calls:
            self.terminal.notice(answer.usage.in_words, style="dim")

    def _show_context(self) -> None:
        """What is before the agent, part by part."""
        parts = context_of(self.vault, self.asked.session)
        for name, tokens in parts.as_json().items():
            self.terminal.notice(f"{name:14}{tokens:>8,}")

    def _hear(self, step: Step) -> None:
        if self._is_prompting:
            problem = f": {step.problem}" if step.problem else ""
            self.terminal.notice(shown(f"· {step.tool}{problem}"), style="dim")

    def _confirm(self) -> Any:
        return self._asks_to_write if self._is_prompting else None

    def _asks_to_write(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the person agrees to a call that would change something. Ctrl-C is a no."""
        self.terminal.notice(f"The agent wants to call {shown(tool)}:", style="yellow")
        for name, value in arguments.items():
            self.terminal.notice(shown(f"  {name}: {json.dumps(value, ensure_ascii=False)[:_SHOWN]}"))
        with _interruptible():
            try:
                return typer.confirm("Let it?", err=True)
            except (KeyboardInterrupt, typer.Abort):
                return False


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C reaches a question that is asked from within a running loop."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

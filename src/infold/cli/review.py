"""`infold review`: a plan looked at hunk by hunk, decided, and applied as it was decided."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

import typer

from infold.cli.options import Call, command
from infold.cli.outcome import exit_code
from infold.cli.runs import show_applied
from infold.cli.terminal import Terminal
from infold.errors import InfoldError, RunStateWrong
from infold.inbox.run import RunStatus
from infold.operations.inbox import HunkDecision, RunApplyRequest, RunRequest, run_apply
from infold.operations.review import HunkShown, LeftShown, RunReviewAnswer, run_review
from infold.text import counted
from infold.vault.differences import Row, hunks
from infold.vault.note_link import note_link

if TYPE_CHECKING:
    from pathlib import Path

    from rich.text import Text

    from infold.app import OpenVault

_KEYS: Final = "[a]ccept [s]kip [e]dit [m]ove elsewhere, [r]est accepted, [d]one here, [q]uit ? "
_LEFT_KEYS: Final = "[k]eep in the inbox, [m]ove into a note ? "
_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~", "same": " "}
_STYLES: Final = {"added": "green", "removed": "red", "same": "dim"}


@command
def review(
    call: Call,
    *,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A planned run; `last` where none is named.")] = "last",
) -> int:
    """Decide on a plan edit by edit, then apply exactly that.

    What stays in the inbox comes first, with the nearest notes. Each edit is shown under its heading: accept it, skip
    it, change its text, or move it to another note or section. What is skipped stays in the inbox. `infold integrate
    --dry-run` makes a plan; with --json the plan is printed and nothing is asked.
    """
    with call.vault() as vault:
        plan = run_review(vault, RunRequest(run=run))
        if call.terminal.is_json:
            return call.terminal.answer(plan)
        if plan.status is not RunStatus.PLANNED:
            raise RunStateWrong(
                f"Run {plan.run} is {plan.status}: there is nothing to decide.",
                hint="`infold integrate --dry-run` makes a plan.",
            )
        session = _Session(call.terminal, vault.workspace.vault, lambda name: vault.get(name).path)
        if not session.go_through(plan):
            call.terminal.say("Nothing was written; the plan is as it was.")
            return 0
        return _apply(call, vault, plan, session.decisions)


def _apply(call: Call, vault: OpenVault, plan: RunReviewAnswer, decisions: Sequence[HunkDecision]) -> int:
    done = run_apply(vault, RunApplyRequest(run=plan.run, decisions=tuple(decisions), anew=True))
    show_applied(call, vault, done)
    return exit_code(done)


@dataclass
class _Session:
    """Asks of each hunk what is to become of it."""

    terminal: Terminal
    vault: Path
    find: Callable[[str], str]  # the path of the note of a name, '' where there is none
    decisions: list[HunkDecision] = field(default_factory=list)

    def go_through(self, plan: RunReviewAnswer) -> bool:
        """Whether the person wants it applied."""
        if plan.left:
            self.terminal.say(f"{counted(len(plan.left), 'paragraph')} would stay in the inbox:", style="bold")
        for left in plan.left:
            self._left(left)
        for position, hunk in enumerate(plan.hunks):
            self._show(hunk, len(plan.hunks))
            said = self._decide(hunk)
            if said == "q":
                return False
            if said in ("r", "d"):
                skipped = plan.hunks[position:] if said == "d" else ()
                self.decisions += [HunkDecision(number=each.number, verdict="skip") for each in skipped]
                break
        skipped_count = sum(decision.verdict == "skip" for decision in self.decisions)
        sent = sum(decision.number < 0 for decision in self.decisions)
        count = len(plan.hunks) - skipped_count + sent
        answer = self._ask(f"Apply {counted(count, 'edit')} of {len(plan.hunks) + sent}? [Y/n] ").casefold()
        decided = {decision.number for decision in self.decisions}
        others = (hunk.number for hunk in plan.hunks if hunk.number not in decided)
        self.decisions += [HunkDecision(number=number, verdict="accept") for number in others]  # just what was seen
        return answer in ("", "y", "yes")

    def _left(self, left: LeftShown) -> None:
        self.terminal.say(f"\n  {left.text}", style="yellow")
        self.terminal.say(f"  stays: {left.reason}", style="dim")
        if left.nearest:
            self.terminal.say(f"  nearest notes: {', '.join(left.nearest)}", style="dim")
        self.terminal.say(f"  a note of its own would be called: {left.new_note}", style="dim")
        while self._ask(_LEFT_KEYS).casefold().startswith("m"):
            if self._send(-left.n):
                return

    def _show(self, hunk: HunkShown, total: int) -> None:
        from rich.text import Text

        title = Text(f"\n{hunk.number} of {total}  ", style="bold")
        title.append(hunk.file, style=f"bold link {note_link(self.vault, hunk.file)}")
        if hunk.trail:
            title.append(f" › {' › '.join(hunk.trail)}", style="bold")
        self.terminal.say(title)
        for part in hunks(hunk.find, hunk.replace, context=3):
            for row in part.rows:
                self.terminal.say(_line(self.terminal, row))
        nexts = f"; next best: {', '.join(hunk.runners_up)}" if hunk.runners_up else ""
        self.terminal.say(f"  why: {hunk.reason}{nexts}", style="dim")

    def _decide(self, hunk: HunkShown) -> str:
        """Takes one decision; gives the key where it ends the review."""
        while True:
            said = self._ask(_KEYS).casefold()[:1]
            if said in ("a", "y"):
                return "a"
            if said in ("s", "n"):
                self.decisions.append(HunkDecision(number=hunk.number, verdict="skip"))
                return "s"
            if said == "e" and self._edited(hunk):
                return "e"
            if said == "m" and self._send(hunk.number):
                return "m"
            if said in ("r", "d", "q"):
                return said

    def _edited(self, hunk: HunkShown) -> bool:
        import click

        try:
            text = click.edit(hunk.replace, extension=".md")
        except click.ClickException as error:
            self.terminal.notice(f"The editor did not open: {error.message} Set EDITOR to another.", style="yellow")
            return False
        if text is None:
            self.terminal.notice("Nothing was changed.")
            return False
        self.decisions.append(HunkDecision(number=hunk.number, verdict="edit", text=text.rstrip("\n")))
        return True

    def _send(self, number: int) -> bool:
        note = self._ask("  into which note? ")
        if not note:
            return False
        path = self._path(note)
        if path is None:
            self.terminal.notice(f"There is no note {note}.", style="yellow")
            return False
        section = self._ask("  under which heading? (none: the end) ")
        self.decisions.append(HunkDecision(number=number, verdict="send", file=path, section=section))
        return True

    def _path(self, named: str) -> str | None:
        """The one note of that path or name."""
        try:
            return self.find(named) or None
        except InfoldError as error:
            self.terminal.notice(str(error), style="yellow")
            return None

    def _ask(self, question: str) -> str:
        """A line of the person's; at the end of the input it is a no to all that follows."""
        sys.stderr.write(question)
        sys.stderr.flush()
        line = _line_of_input()
        return "q" if line is None else line.strip()


def _line_of_input() -> str | None:
    return sys.stdin.readline() or None


def _line(terminal: Terminal, row: Row) -> Text:
    from rich.text import Text

    line = Text(f"{row.number or '':>5} {_SIGNS[row.kind]} ", style="dim")
    for segment in row.segments:
        line.append(terminal.safe(segment.text), style=_STYLES[segment.kind])
    return line

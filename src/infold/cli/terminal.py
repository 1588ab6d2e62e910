"""What a command says and where: results on stdout, everything else on stderr, one JSON object where asked for.

Text of notes is printed as it is, never as markup nor, on a terminal, as control codes. Colours and bars only where
a person looks.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from infold.cli.client import is_coloured
from infold.errors import InfoldError, UsageError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from infold.operations.contract import Message

ASIDE: Final = "dim"
# What a command ends with because of what it was given or found. A shorter way than the whole program gives up on these
# without a word, since the whole program meets them too and says them; anything else is a defect, and shows as one.
FAILURES: Final = (InfoldError, OSError, ValueError, RuntimeError)


class Terminal:
    """Where one command writes. With `is_json` only `emit` writes to stdout; with `is_quiet` no asides are told."""

    def __init__(
        self,
        *,
        is_json: bool = False,
        is_quiet: bool = False,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        is_coloured: bool | None = None,
    ) -> None:
        self.is_json, self.is_quiet = is_json, is_quiet
        self._stdout, self._stderr, self._is_coloured = stdout, stderr, is_coloured

    @property
    def stdout(self) -> TextIO:
        """Where results go: this process's own, where no other was given."""
        return self._stdout or sys.stdout

    @property
    def stderr(self) -> TextIO:
        """Where everything else goes."""
        return self._stderr or sys.stderr

    @property
    def is_coloured(self) -> bool:
        """Whether results have colours."""
        return is_coloured() if self._is_coloured is None else self._is_coloured

    @cached_property
    def out(self) -> Console:
        """For results."""
        from rich.console import Console

        return Console(file=self.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)

    @cached_property
    def err(self) -> Console:
        """For progress, notices and errors."""
        from rich.console import Console

        return Console(file=self.stderr, highlight=False, markup=False, emoji=False)

    @property
    def is_watched(self) -> bool:
        """Whether a person looks at stderr: bars and questions make sense."""
        return self.err.is_terminal

    def say(self, *renderables: RenderableType, style: str | None = None) -> None:
        """A part of the result for a person; nothing with `--json`. Lines are never cut: commands stay whole."""
        if not self.is_json:
            safe = (self.safe(part) if isinstance(part, str) else part for part in renderables)
            self.out.print(*safe, style=style, soft_wrap=True)

    def safe(self, text: str) -> str:
        """`text` as it may go to stdout: control codes in it say nothing to a terminal; in a pipe it is as it is."""
        from infold.cli.found import shown

        return shown(text.replace("\r\n", "\n")) if self.out.is_terminal else text

    def show(self, renderable: RenderableType) -> None:
        """A laid-out part of the result, wrapped to the terminal; in a pipe without blanks at line ends."""
        if self.is_json:
            return
        if self.out.is_terminal:
            self.out.print(renderable)
            return
        with self.out.capture() as captured:
            self.out.print(renderable)
        self.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))

    def notice(self, message: str, *, style: str | None = None) -> None:
        """A line on stderr. One that is `dim` is an aside."""
        if not (self.is_quiet and style == ASIDE):
            self.err.print(message, style=style, soft_wrap=True)

    def emit(self, value: Mapping[str, Any]) -> None:
        """The one JSON object."""
        is_utf8 = (getattr(self.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
        self.write(json.dumps(value, ensure_ascii=not is_utf8, indent=2) + "\n")

    def answer(self, answer: Message, *lines: str) -> int:
        """The answer of an operation: with `--json` as it is, else these lines. Gives the exit code."""
        if self.is_json:
            self.emit(answer.as_json())
        for line in lines:
            self.say(line)
        return 0

    def agrees(self, would: str, question: str, *, yes: bool) -> bool:
        """Whether to do what cannot be taken back: `yes`, else a person is asked.

        Raises UsageError, with what it `would` do, where nobody can be.
        """
        if yes:
            return True
        if self.is_json or not self.is_watched:
            raise UsageError(f"{would}.", hint="Add --yes to do it.")
        import typer

        return typer.confirm(question, err=True)

    def write(self, text: str) -> None:
        """Text on stdout as it is."""
        self.stdout.write(text)
        self.stdout.flush()

    def aside(self, line: str) -> None:
        """A line on stderr as it is."""
        self.stderr.write(f"{line}\n")

    def fail(self, error: InfoldError) -> int:
        """Says what happened and what to do next; gives the exit code."""
        if self.is_json:
            self.emit(
                {
                    "error": {
                        "type": type(error).__name__,
                        "message": str(error),
                        "hint": error.hint,
                        "exitCode": error.exit_code,
                    }
                }
            )
        self.notice(f"infold: {error}", style="bold red")
        if error.hint:
            self.notice(f"  {error.hint}")
        return error.exit_code


def own_command() -> str:
    """How this program can be called again from the same folder."""
    import shlex  # here, because hardly any command says it
    import shutil

    called = sys.argv[0]
    if Path(called).name == "__main__.py":
        return shlex.join([sys.executable, "-m", "infold"])
    found = shutil.which("infold")
    if found and Path(found).resolve() == Path(called).resolve():
        return "infold"
    return shlex.quote(os.path.relpath(called) if Path(called).is_file() else "infold")

"""The text that a command is given: as an argument, from a file, or on stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from infold.errors import UsageError

TextArgument = Annotated[
    str | None, typer.Argument(metavar="[TEXT|-]", help="The text; `-`, or none in a pipe, reads stdin.")
]
FileOption = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the text from a file.")]


def text_input(text: str | None, file: Path | None) -> str:
    """The text of a command: given, from a file, or from stdin. Raises UsageError where there is none."""
    if file is not None:
        if text is not None:
            raise UsageError("Text and --file were both given.", hint="Give one of them.")
        try:
            return file.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} cannot be read: {error}.") from error
    if text is not None and text != "-":
        return text
    if text is None and sys.stdin.isatty():
        raise UsageError("There is no text to write.", hint="Give it as an argument, with --file, or on stdin.")
    try:
        read = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError("What came on stdin is not UTF-8.") from error
    if not read:  # most likely what should have written it failed
        raise UsageError(
            "Nothing came on stdin.",
            hint="Did the program before the pipe fail? Else give the text as an argument, or with --file.",
        )
    return read


def line_input(text: str | None, file: Path | None) -> str:
    """The same, without the line end that a shell or an editor puts behind it."""
    return text_input(text, file).removesuffix("\n").removesuffix("\r")

"""docs/cli.md from the real `--help` of every command: `python -m scripts.cli_docs`.

A test holds that the file is what this prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

WIDTH = 100
FILE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"

HEAD = """\
# The command line

Made from the `--help` of each command by `python -m scripts.cli_docs`; a test holds that the two agree.

Results go to stdout; progress, notices and errors go to stderr. With `--json` exactly one JSON object is on stdout.

| exit code | meaning |
|---|---|
| 0 | done, also when there was nothing to do |
| 1 | some work is left, and the output says why; also an unforeseen error |
| 2 | wrong use: an unknown option, a misspelt setting, no such vault or run |
| 3 | the environment: key, endpoint, disk, another infold process |
| 130 | interrupted with Ctrl-C |
"""


def render() -> str:
    """The whole page."""
    # Before typer is imported: it takes its width from here once.
    os.environ.update(TERMINAL_WIDTH=str(WIDTH), COLUMNS=str(WIDTH), NO_COLOR="1")
    os.environ.pop("FORCE_COLOR", None)
    from typer.testing import CliRunner

    from infold.cli.app import app

    runner = CliRunner()
    pages = [HEAD]
    for words in _commands():
        shown = runner.invoke(app, [*words, "--help"], prog_name="infold").stdout
        lines = "\n".join(line.rstrip() for line in shown.strip("\n").splitlines()).strip("\n")
        pages.append(f"## infold {' '.join(words)}".rstrip() + f"\n\n```text\n{lines}\n```\n")
    return "\n".join(pages)


def _commands() -> Iterator[list[str]]:
    from infold.cli.commands import COMMANDS, CommandGroup

    yield []
    for entry in COMMANDS:
        if isinstance(entry, CommandGroup):
            yield from ([entry.name, part.name] for part in entry.entries)
        else:
            yield [entry.name]


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")

"""The transcript in README.md, cut from a real run of the demo: `python -m scripts.readme_demo`.

A test holds that the README shows what the demo prints, run id and seconds aside.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
README = REPOSITORY / "README.md"
BEGIN, END = "<!-- demo -->\n```text\n", "```\n<!-- /demo -->"
_WANTED: Sequence[Callable[[str], bool]] = (
    lambda block: "→" in block and "=" not in block and "✗" not in block,
    lambda block: "has it already" in block,
    lambda block: "stays in the inbox" in block,
)


def run_demo(folder: Path) -> str:
    """What `infold demo --into demo` prints in `folder`."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY))),
        "COLUMNS": "96",
        "NO_COLOR": "1",
    }
    code = "import sys; sys.argv = ['infold', 'demo', '--into', 'demo']; from infold.cli.app import main; main()"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def excerpt(transcript: str) -> str:
    """First line, a chunk that was placed, the duplicate, the paragraph that fits nowhere, and the last lines."""
    first, *blocks, last = transcript.strip("\n").split("\n\n")
    shown: list[int] = []
    for is_wanted in _WANTED:
        fitting = [n for n, block in enumerate(blocks) if is_wanted(block)]
        shown += [min(fitting, key=lambda n: len(blocks[n]))] if fitting else []
    parts = [f"$ infold demo --into demo\n{first}"]
    before = -1
    for n in sorted(set(shown)):
        parts += ["…"] * (n > before + 1) + [blocks[n]]
        before = n
    return "\n\n".join([*parts, *["…"] * (before < len(blocks) - 1), last]) + "\n"


def masked(text: str) -> str:
    """`text` without what differs from run to run."""
    return re.sub(r"\d+\.\d s", "N s", re.sub(r"\d{4}-\d\d-\d\d-\d{6}-[0-9a-f]{4}", "RUN", text))


def shown_in_readme() -> str:
    """The transcript that the README holds."""
    return README.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        new = excerpt(run_demo(Path(folder)))
    text = README.read_text(encoding="utf-8")
    README.write_text(text.replace(BEGIN + shown_in_readme() + END, BEGIN + new + END), encoding="utf-8")

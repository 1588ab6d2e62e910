"""The entry point: a search goes to the process that serves searches, where there is one, else its short way.

`index` has a short way too. All else goes to the whole program.
"""

from __future__ import annotations

import gc
import io
import os
import sys

SELDOM = 20_000  # things made since cycles were looked for, from which it is done again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> None:
    """The `infold` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="backslashreplace")  # what the terminal has no sign for is told all the same
    words = sys.argv[1:]
    if words and words[0] in {"search", "get", "index"}:
        gc.set_threshold(SELDOM)  # it lives for a moment, and most of what it makes is there to stay: modules, notes
        from infold.cli import client

        try:
            code = client.answered(words) if words[0] in client.SERVED else None
            if code is not None:
                os._exit(code)  # all was printed and nothing is open: what Python does at its end would only take time
            if words[0] in {"search", "index"}:
                from infold.cli import direct

                code = direct.answered(words, _leave)
        except KeyboardInterrupt:
            sys.stderr.write(f"{client.INTERRUPTED_NOTICE}\n")
            sys.exit(client.INTERRUPTED)
        if code is not None:
            sys.exit(code)
    from infold.cli.app import main as whole

    whole()


def _leave() -> NoReturn:
    """Ends the process at once and well. Whoever shares the index with it is told as if it had been killed."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)

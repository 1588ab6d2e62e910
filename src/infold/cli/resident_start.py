"""When a process that serves searches is worth its start, and its start. Fast to import: it follows a search.

What that process is: `cli.resident`.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from infold.environment import Environment
from infold.errors import InfoldError
from infold.search.shared.rendezvous import is_serving

if TYPE_CHECKING:
    from infold.locate import LocatedWorkspace

WORTH_SECONDS: Final = 0.15  # of processor time, from which a search is worth a process that saves it
_LAST: Final = "last-search"  # a file whose time is that of the last search that was done without a resident


def start_where_it_pays(located: LocatedWorkspace) -> None:
    """Called after a search that had no resident: the second of these within a while starts one."""
    minutes = located.params.watch.resident_minutes
    if not may_serve(located) or time.process_time() < WORTH_SECONDS:
        return
    mark = located.workspace.index / _LAST
    try:
        is_second = time.time() - mark.stat().st_mtime < minutes * 60
    except OSError:
        is_second = False
    with suppress(OSError, InfoldError):
        if is_second and not is_serving(located.workspace.index):
            import subprocess

            command = [sys.executable, "-P", "-m", "infold.cli.resident", *place_words(located)]
            nothing = subprocess.DEVNULL
            subprocess.Popen(  # its own, which outlives this one
                command, cwd="/", stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
            )
        mark.touch(0o600)


def may_serve(located: LocatedWorkspace) -> bool:
    """Whether settings and environment let a process serve this place."""
    is_wanted = located.params.watch.resident_minutes > 0 and Environment().get("INFOLD_RESIDENT") != "0"
    return is_wanted and not located.is_changed


def place_words(located: LocatedWorkspace) -> list[str]:
    """As the client finds it."""
    named = located.named_params
    return [str(located.folder), str(located.state), str(named.expanduser().resolve()) if named else ""]

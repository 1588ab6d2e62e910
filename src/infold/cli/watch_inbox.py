"""The inbox beside a watched vault: when it has rested for a while it is planned, or folded in."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from infold.errors import InfoldError, UsageError
from infold.inbox.run import Run, RunStatus
from infold.text import content_hash

if TYPE_CHECKING:
    from infold.app import OpenVault

_LOOKS: Final = 4  # in the time that an inbox must rest
_LONGEST_WAIT: Final = 5.0
_SHORTEST_WAIT: Final = 0.05
_NOTIFY_SECONDS: Final = 10


@contextmanager
def following_inbox(vault: OpenVault, tell: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, an inbox that rests is planned or folded in, each content once. `tell` hears what was done.

    Raises UsageError where a model would be paid without a cap.
    """
    librarian = vault.params.librarian
    if librarian.kind == "model" and librarian.max_usd is None and librarian.max_tokens is None:
        raise UsageError(
            "A model would be paid whenever the inbox changes, without a cap.",
            hint="Set librarian.max_usd or librarian.max_tokens, or librarian.kind=offline.",
        )
    follower = _InboxFollower(vault, tell)
    thread = threading.Thread(target=follower.run, name="inbox", daemon=True)
    thread.start()
    try:
        yield
    finally:
        follower.ended.set()
        thread.join()


class _InboxFollower:
    def __init__(self, vault: OpenVault, tell: Callable[[str], None]) -> None:
        self._vault, self._tell = vault, tell
        self._rest = vault.params.watch.inbox_rest_seconds
        self._seen, self._since = "", time.monotonic()
        self._done = ""
        self.ended = threading.Event()

    def run(self) -> None:
        wait = min(_LONGEST_WAIT, max(_SHORTEST_WAIT, self._rest / _LOOKS))
        while not self.ended.wait(wait):
            content = self._content()
            if content != self._seen:
                self._seen, self._since = content, time.monotonic()
            elif content not in ("", self._done) and time.monotonic() - self._since >= self._rest:
                self._fold()

    def _content(self) -> str:
        try:
            data = self._vault.workspace.inbox.read_bytes()
        except OSError:
            return ""
        return content_hash(data) if data.strip() else ""

    def _fold(self) -> None:
        is_plan = self._vault.params.watch.integrate == "plan"
        try:
            said = in_words(self._vault.integrate(dry_run=is_plan))
        except InfoldError as error:
            said = f"The inbox was not folded in: {error} {error.hint}".rstrip()
        if said:
            self._tell(said)
            notify("infold", said)
        self._done = self._content()  # what stays there has been looked at


def in_words(run: Run) -> str:
    """What was planned or done, in a sentence; '' where there was nothing to do."""
    if run.status is RunStatus.NOTHING_TO_DO:
        return ""
    counts = {kind: sum(p.outcome == kind for p in run.paragraphs) for kind in ("integrated", "duplicate", "left")}
    known = f", {counts['duplicate']} there already" if counts["duplicate"] else ""
    rest = f", {counts['left']} left in the inbox" if counts["left"] else ""
    what = f"{counts['integrated']} of {len(run.paragraphs)} paragraphs{known}{rest}"
    if run.status is RunStatus.PLANNED:
        return f"Planned: {what}. `infold review {run.id}`"
    return f"Folded in: {what}. `infold undo {run.id}`"


def notify(title: str, text: str) -> None:
    """A notification of the desktop, where there is one; never with a text of a note."""
    if sys.platform == "darwin":
        script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
        words = ["osascript", "-e", script, title, text]
    else:
        words = ["notify-send", "--app-name=infold", title, text]
    program = shutil.which(words[0])
    if program is None:
        return
    try:
        command = [program, *words[1:]]
        subprocess.run(command, check=False, capture_output=True, timeout=_NOTIFY_SECONDS)  # noqa: S603 - the system's
    except (OSError, subprocess.TimeoutExpired):
        return  # a desktop that is not there, or does not answer, is none of a watch's business

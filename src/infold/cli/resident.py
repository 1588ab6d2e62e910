"""The process that serves searches: the vault kept open, asked by the clients of `infold search` and `infold get`.

It runs the commands themselves, with the words that were typed, and gives back what they print; what they refuse or
fail at is left to the client's own process. It is `watch`, `serve` or `mcp` where one of them runs, else a process of
its own, which the second search within `watch.resident_minutes` starts and which ends after so long without one. It
ends within seconds too where its record is taken away, its vault or state folder is gone, its settings or the program
changed. A `ProcessLock` beside the index is held by it alone and waited for by nobody.
"""

from __future__ import annotations

import gc
import io
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

from infold.app import OpenVault
from infold.cli import client
from infold.cli.app import run_command
from infold.cli.options import Call, calls_made_by
from infold.cli.resident_start import may_serve, place_words
from infold.cli.search_words import Unusual, UsualSearch, read_search
from infold.cli.searching import after, ask, show
from infold.cli.terminal import FAILURES, Terminal
from infold.durable.files import Disk, stamp_of
from infold.durable.log_file import log_a_command
from infold.durable.unfinished import is_unfinished
from infold.errors import InfoldError, UsageError
from infold.locate import LocatedWorkspace, WorkspaceRequest, locate_workspace
from infold.place import settings_files
from infold.progress import Progress, silent
from infold.search.index.process_lock import ProcessLock
from infold.search.shared.frames import Disconnected
from infold.search.shared.index_server import IndexService
from infold.search.shared.rendezvous import RESIDENT_CARD, RESIDENT_LOCK, read_card

_log: Final = logging.getLogger("infold.cli.resident")  # as its own process it is __main__
TICK_SECONDS: Final = 1.0
_SELDOM: Final = (50_000, 5, 100)  # things made and not let go, from which on they are looked through for cycles


class Resident:
    """Answers searches of one opened vault, from threads, until `end`."""

    def __init__(self, vault: OpenVault, claim: ProcessLock) -> None:
        self._vault, self._claim = vault, claim
        self._place = place_words(vault.located)
        self._code, self._surroundings = client.code(), client.surroundings()
        self._settings = _stamps(vault.located)
        self._is_busy = threading.Lock()
        self.last = time.monotonic()
        self._service = IndexService(self._answered, vault.workspace.index, RESIDENT_CARD)

    def is_outdated(self) -> bool:
        """Whether it has to end: nobody is to find it, or it would answer for another vault, program or settings."""
        space = self._vault.workspace
        return (
            read_card(space.index, RESIDENT_CARD) != self._service.card
            or not space.vault.is_dir()
            or _stamps(self._vault.located) != self._settings
            or not _is_code(self._code)
        )

    def end(self) -> None:
        """Answers what it was asked, and is found no more."""
        self._service.end()
        with self._is_busy:
            self._claim.release()

    def _answered(self, body: bytes) -> bytes:
        self.last = time.monotonic()
        try:
            request = client.unpacked(body)
        except ValueError as error:
            raise Disconnected(f"no question: {error}") from error
        return client.packed(self._said(request))

    def _said(self, request: Sequence[str]) -> Sequence[str]:
        """What goes to stdout and to stderr; nothing for what the client's own process is to do."""
        mine = [*self._code, *self._place, *self._surroundings]
        colours, of, words = request[:1], request[1 : len(mine) + 1], request[len(mine) + 1 :]
        if of != mine or not words or self.is_outdated() or is_unfinished(self._vault.workspace):
            return ()
        call = _Served(self._vault, is_coloured=colours == ["coloured"])
        try:
            _run(call, list(words))
        except FAILURES as error:
            _log.info("left to the client's own process: %s", type(error).__name__, exc_info=error)
            return ()
        threading.Thread(target=self._do, args=(call.later,), name="infold-resident-later", daemon=True).start()
        return call.said

    def _do(self, later: Sequence[Callable[[], None]]) -> None:
        if self._is_busy.acquire(blocking=False):
            try:
                with suppress(InfoldError, OSError):
                    for each in later:
                        each()
            finally:
                self._is_busy.release()


class _Served(Call):
    """A command that a client asked for: it works on the opened vault, and what it says is kept."""

    def __init__(self, vault: OpenVault, *, is_coloured: bool) -> None:
        self._vault, self._is_coloured = vault, is_coloured
        self._out, self._err = io.StringIO(), io.StringIO()
        self.later: list[Callable[[], None]] = []

    def asked(self, terminal: Terminal, wanted: WorkspaceRequest) -> Call:
        """This call, once its words were read; where the vault was named, `client` has told that it is this one."""
        super().__init__(self._own(terminal.is_json, terminal.is_quiet), wanted)
        return self

    def search(self, usual: UsualSearch) -> None:
        """A search as it was read."""
        started = time.monotonic()
        show(self._own(usual.is_json, usual.is_quiet), ask(self._vault, usual.asked), usual.asked)
        self.later.append(lambda: after(self._vault))
        _log.info("a search with %s: %.2f s", ", ".join(usual.options) or "no options", time.monotonic() - started)

    def _own(self, is_json: bool, is_quiet: bool) -> Terminal:
        return Terminal(
            is_json=is_json, is_quiet=is_quiet, stdout=self._out, stderr=self._err, is_coloured=self._is_coloured
        )

    @property
    def said(self) -> list[str]:
        """What it wrote to stdout and to stderr."""
        return [self._out.getvalue(), self._err.getvalue()]

    def reading(self, progress: Progress = silent, **settings: object) -> AbstractContextManager[OpenVault]:  # noqa: ARG002
        """The vault that is open already."""
        if self.wanted.changes or any(value is not None for value in settings.values()):
            raise UsageError("A vault that is open already has the settings that it has.")
        return nullcontext(self._vault)

    def afterwards(self, work: Callable[[], None]) -> None:
        """Once the client has its answer."""
        self.later.append(work)


def _run(call: _Served, words: list[str]) -> None:
    """The command of these words; a search in its usual form needs no command line to be taken apart."""
    if words[0] == "search":
        with suppress(Unusual):
            return call.search(read_search(words[1:]))
    with calls_made_by(call.asked):
        return run_command(words)


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """For a process that stays: what there is by now is never looked through for cycles, new things seldom.

    A search makes none, and a look through everything that is kept would hold one question in fifty up.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def serving(vault: OpenVault) -> Iterator[Resident | None]:
    """While it lasts this process answers the searches of an opened vault, unless another one does or it may not."""
    vault.is_kept_open = True
    resident = _resident(vault)
    try:
        with seldom_collecting():
            yield resident
    finally:
        if resident is not None:
            resident.end()


def main() -> None:
    """The process of its own: `python -m infold.cli.resident VAULT STATE PARAMS`."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.excepthook = _log_defect
    vault, state, params = sys.argv[1:]
    with suppress(InfoldError, OSError, KeyboardInterrupt):
        wanted = WorkspaceRequest(Path(vault), Path(state), Path(params) if params else None)
        with OpenVault(locate_workspace(wanted)) as opened:
            log_a_command(is_verbose=False).keep_at(opened.workspace.log)
            opened.is_kept_open = True
            opened.search("infold")  # so that everything is open, and up to date, when somebody asks
            with serving(opened) as resident:
                if resident is not None:
                    _log.info("serves searches")
                    _stay(opened, resident)
                    _log.info("ends")


def _log_defect(thrown: threading.ExceptHookArgs) -> None:
    """Nobody sees what this process prints. The client that asked was left without an answer, and finds its own."""
    _log.error("a thread ended by %s", thrown.exc_type.__name__, exc_info=thrown.exc_value)


def _stay(vault: OpenVault, resident: Resident) -> None:
    seconds = vault.params.watch.resident_minutes * 60
    while time.monotonic() - resident.last < seconds and not resident.is_outdated():
        time.sleep(TICK_SECONDS)
        vault.live_search.follow()


def _resident(vault: OpenVault) -> Resident | None:
    if not may_serve(vault.located):
        return None
    claim = ProcessLock(vault.workspace.index / RESIDENT_LOCK)
    try:
        Disk().make_folder(vault.workspace.index)
        if not claim.take():
            return None
    except InfoldError:
        return None
    try:
        return Resident(vault, claim)
    except InfoldError:
        claim.release()
        return None


def _stamps(located: LocatedWorkspace) -> list[tuple[int, ...] | None]:
    """What tells whether the settings are still those that were read."""
    files = [located.named_params] if located.named_params else map(Path, settings_files(str(located.state)))
    return [stamp_of(file) for file in files]


def _is_code(made: Sequence[str]) -> bool:
    try:
        return client.code() == made
    except OSError:
        return False


if __name__ == "__main__":
    main()

"""`infold watch`: following the vault, so that what is saved can be searched a moment later."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infold.cli.options import Call, command
from infold.cli.resident import serving
from infold.cli.terminal import Terminal
from infold.cli.watch_inbox import following_inbox
from infold.errors import InfoldError
from infold.search.follow.watcher import Follower, Happening, News, watch_claimed
from infold.search.index_status import remember_sync

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.progress import Progress
    from infold.search.follow.watcher import Syncing
    from infold.search.index.sync_stats import SyncResult

_SHOWN_PATHS = 3


@command
def watch(
    call: Call,
    *,
    polling: Annotated[
        bool,
        typer.Option(
            "--polling",
            metavar="",
            help="Look every two seconds instead of waiting for the system's events: network drives, some containers.",
        ),
    ] = False,
    integrate: Annotated[
        bool,
        typer.Option(
            "--integrate",
            metavar="",
            help="Plan an inbox that rests for watch.inbox_rest_seconds; with watch.integrate=apply fold it in.",
        ),
    ] = False,
) -> int:
    """Follow the vault: notes are indexed a moment after they were saved.

    One line for each time something was indexed; with --json one object a line. It goes on after errors, waits for a
    vault that is away, and compares everything now and then. Ctrl-C or SIGTERM ends it; what is done is kept.
    """
    vault = call.vault(watch__polling=polling or None)
    space = vault.workspace
    teller = _Teller(call.terminal, space.vault)
    try:
        following = following_inbox(vault, teller.inbox) if integrate else nullcontext()
        with _ended_by_sigterm(), watch_claimed(space.index), vault, following, serving(vault):
            Follower(space.vault, vault.params.watch, _syncing(vault), teller.tell, teller.progress).run()
    except KeyboardInterrupt:
        teller.end()
    return 0


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the work as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _syncing(vault: OpenVault) -> Syncing:
    def sync(paths: Sequence[str] | None, *, vectors: bool, progress: Progress) -> SyncResult:
        with vault.reporting(progress):
            done = vault.sync_index(paths=paths, vectors=vectors)
        remember_sync(vault.workspace.index, done)
        return done

    return sync


class _Teller:
    """Says what happens, in lines for a person or for a program."""

    def __init__(self, terminal: Terminal, vault: Path) -> None:
        self._terminal, self._vault = terminal, vault
        self._is_first = True
        self._is_emptied = False
        self._skipped: set[tuple[str, str]] = set()

    def tell(self, news: News) -> None:
        """One thing that happened; what changed nothing is not worth a line."""
        is_worth_a_line, warnings = self._noted(news.result)
        if not is_worth_a_line:
            return
        if self._terminal.is_json:
            self._line(_as_json(news))
            return
        for warning in warnings:
            self._warn(warning)
        match news.happening:
            case Happening.FOLLOWING:
                self._say(f"Following {self._vault}; Ctrl-C ends it.")
            case Happening.POLLING:
                self._say(f"Looking at {self._vault} every two seconds; Ctrl-C ends it.")
            case Happening.AWAY:
                self._warn(f"{self._vault} is not there. Nothing is taken from the index; waiting for it.")
            case Happening.FAILED:
                self._failed(news.error)
            case _:
                self._indexed(news)

    def progress(self, stage: str, done: int, total: int) -> None:
        """How far long work is, in place, where a person looks."""
        if self._terminal.is_watched and not self._terminal.is_json and total:
            words = {"keywords": "words", "vectors": "meaning"}.get(stage, stage)
            sys.stderr.write(f"\r\033[K{words}: {done} of {total}" if done < total else "\r\033[K")
            sys.stderr.flush()

    def inbox(self, said: str) -> None:
        """What became of the inbox."""
        if self._terminal.is_json:
            self._line({"event": "inbox", "at": _now(), "message": said})
        else:
            self._say(said)

    def end(self) -> None:
        """The last line."""
        if self._terminal.is_json:
            self._line({"event": "ended", "at": _now()})
        else:
            self._say("Ended.")

    def _noted(self, result: SyncResult | None) -> tuple[bool, list[str]]:
        """Whether a result is worth a line, and what about it was not told yet."""
        if result is None:
            return True, []
        fresh = set(result.skipped) - self._skipped
        warnings = [f"skipped {path}: {reason}" for path, reason in sorted(fresh)]
        if result.emptied and not self._is_emptied:
            warnings.append("No notes, or no sessions, where there were some: none are taken from the index.")
        is_changed = any((result.files_changed, result.files_removed, result.embeddings_computed))
        is_worth = is_changed or bool(warnings) or self._is_first or result.emptied != self._is_emptied
        self._skipped |= fresh
        self._is_first, self._is_emptied = False, result.emptied
        return is_worth, warnings

    def _indexed(self, news: News) -> None:
        result = news.result
        if result is None:
            return
        waiting = f"{result.pending} found by words only so far" if result.pending else ""
        if news.paths == ():  # only vectors were filled in
            parts = [waiting or "All of it is found by meaning too"]
        else:
            parts = [_named(news.paths) if news.paths else f"{result.files_scanned} looked at"]
            counts = (result.files_changed, "indexed"), (result.files_removed, "removed")
            parts += [f"{n} {word}" for n, word in counts if n]
            parts += [f"passages: {result.chunks_created} written"] if result.chunks_created else []
            parts += [waiting] if waiting else []
        self._say(f"{', '.join(parts)}; {result.duration_ms / 1000:.2f} s.")

    def _failed(self, error: Exception | None) -> None:
        self._warn(f"{error or 'unknown error'}")
        if isinstance(error, InfoldError) and error.hint:
            self._terminal.notice(f"  {error.hint}")

    def _say(self, text: str) -> None:
        sys.stdout.write(f"{datetime.now():%H:%M:%S}  {text}\n")  # noqa: DTZ005 - the time on the person's clock
        sys.stdout.flush()

    def _warn(self, text: str) -> None:
        self._terminal.notice(f"{datetime.now():%H:%M:%S}  ! {text}", style="yellow")  # noqa: DTZ005 - as above

    def _line(self, value: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def _as_json(news: News) -> dict[str, Any]:
    value: dict[str, Any] = {"event": str(news.happening), "at": _now()}
    result = news.result
    if result is not None:
        value["paths"] = list(news.paths) if news.paths is not None else None
        value |= result.as_json()
        value |= {"filesRemoved": result.files_removed, "pending": result.pending, "emptied": result.emptied}
        value["skipped"] = [{"path": path, "reason": reason} for path, reason in result.skipped]
    if news.error is not None:
        hint = news.error.hint if isinstance(news.error, InfoldError) else ""
        value["error"] = {"type": type(news.error).__name__, "message": str(news.error), "hint": hint}
    return value


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - _SHOWN_PATHS
    return ", ".join(paths[:_SHOWN_PATHS]) + (f" and {more} more" if more > 0 else "")


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")

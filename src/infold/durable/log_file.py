"""The log of a vault's commands: what ran, what it counted, how it ended; a file that a bug report can carry.

It holds no text of a note or a question, no value of an option, and no key: whoever logs gives counts, kinds, ids and
seconds, an error is written as its type and the lines of code it came through, and the values of secret variables are
struck out. Only this package's own records get in. A library logs, and the command line decides where it goes.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from collections import deque
from pathlib import Path
from typing import Final

from infold.durable.files import PRIVATE
from infold.environment import SECRETS, Environment

MOST_BYTES: Final = 500_000  # of a file; there are two, the older one with `.1` at its end
MOST_CHARACTERS: Final = 2_000  # of a line
_MOST_WAITING: Final = 100
_ALL: Final = logging.getLogger("infold")
_log: Final = logging.getLogger(__name__)


class LogFile(logging.Handler):
    """Appends each record to a file as one line. Lines wait until the folder of the file is there.

    Processes may share a file. One that cannot be written is told once, and stops nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self._file: Path | None = None
        self._waiting: deque[str] = deque(maxlen=_MOST_WAITING)

    def keep_at(self, file: Path) -> None:
        """Where the lines go from now on."""
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a record."""
        self._waiting.append(_line(record))
        file = self._file
        if file is None or not file.parent.is_dir():
            return
        try:
            _append(file, "".join(self._waiting).encode("utf-8", "backslashreplace"))
        except OSError as error:
            self._file = None
            _log.warning("The log %s cannot be written: %s.", file, error.strerror)
        self._waiting.clear()


class _Screen(logging.Handler):
    """Shows records on stderr; warnings are left to whoever else has them, as a server that was given a log."""

    def emit(self, record: logging.LogRecord) -> None:
        if logging.root.handlers and record.levelno >= logging.WARNING:
            return
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        sys.stderr.write(f"{clock}.{int(record.msecs):03} {record.name}: {record.getMessage()}\n")


def log_a_command(*, is_verbose: bool) -> LogFile:
    """Sets this process up to log a command, in place of one before it. Warnings, or with `is_verbose` all, are shown.

    The file is still to be named.
    """
    for handler in list(_ALL.handlers):
        if isinstance(handler, LogFile | _Screen):
            _ALL.removeHandler(handler)
    level = logging.DEBUG if is_verbose else logging.INFO
    file, screen = LogFile(), _Screen(level if is_verbose else logging.WARNING)
    _ALL.addHandler(file)
    _ALL.addHandler(screen)
    _ALL.setLevel(level)
    return file


def _line(record: logging.LogRecord) -> str:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    told = " ".join((_told(record) + _way_of(record)).split())
    for name in SECRETS:
        if secret := Environment().get(name):
            told = told.replace(secret, "***")
    head = f"{moment}.{int(record.msecs):03}Z {record.process} {record.levelname} {record.name}"
    return f"{head}: {told[:MOST_CHARACTERS]}\n"


def _told(record: logging.LogRecord) -> str:
    """The message. An error among its parts may quote a text: its type stands for it."""
    if not isinstance(record.args, tuple):
        return str(record.msg)
    return str(record.msg) % tuple(
        type(part).__name__ if isinstance(part, BaseException) else part for part in record.args
    )


def _way_of(record: logging.LogRecord) -> str:
    """The lines of code that an error came through, innermost last."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    return " via " + " > ".join(f"{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno}" for frame in frames)


def _append(file: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    while True:
        descriptor = os.open(file, flags, PRIVATE)
        try:
            status = os.fstat(descriptor)
            if status.st_size + len(data) <= MOST_BYTES or not status.st_size:
                os.write(descriptor, data)
                return
        finally:
            os.close(descriptor)
        if os.path.samestat(status, file.stat()):  # else another process was first
            file.replace(file.with_name(f"{file.name}.1"))

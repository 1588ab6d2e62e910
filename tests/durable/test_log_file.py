"""The log: one line a record, bounded, private, and without what is nobody else's business."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys

import pytest

from infold.durable import log_file
from infold.durable.log_file import LogFile

KEY = "sk-very-secret"


def record(message: str, *parts: object, error: BaseException | None = None) -> logging.LogRecord:
    """What a module of the package would log."""
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("infold.somewhere", logging.INFO, __file__, 1, message, parts, info)


@pytest.fixture
def log(tmp_path):
    """A log in a folder that is there."""
    made = LogFile()
    made.keep_at(tmp_path / "infold.log")
    return made


def test_it_is_bounded_and_private(log, tmp_path, monkeypatch):
    """Two files however much is logged, neither over its bound, both for their person alone, the newest line last."""
    monkeypatch.setattr(log_file, "MOST_BYTES", 1000)
    for number in range(200):
        log.emit(record("record %d %s", number, "x" * 50))
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["infold.log", "infold.log.1"]
    assert all(file.stat().st_size <= 1000 and stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    assert "record 199" in files[0].read_text().splitlines()[-1]


def test_a_line_is_bounded_and_one_line(log, tmp_path):
    """Line ends in a message do not make a second record; what is endless is cut."""
    log.emit(record("a\nb\r\n%s", "y" * 100_000))
    (line,) = (tmp_path / "infold.log").read_text().splitlines()
    assert "a b yyy" in line
    assert len(line) < log_file.MOST_CHARACTERS + 200


def test_an_error_is_its_type_and_its_way(log, tmp_path):
    """The message of an error may quote a note; it is not in the log, the lines of code are."""
    try:
        int("my diary")
    except ValueError as error:
        log.emit(record("ended by %s", error, error=error))
    text = (tmp_path / "infold.log").read_text()
    assert "ended by ValueError via durable/test_log_file.py:" in text
    assert "diary" not in text


def test_a_key_is_struck_out(log, tmp_path, monkeypatch):
    """Even where a careless line has it."""
    monkeypatch.setenv("openai_api_key", KEY)
    log.emit(record("asked with %s", KEY))
    assert (tmp_path / "infold.log").read_text().endswith("asked with ***\n")


def test_lines_wait_for_the_folder(tmp_path):
    """A log makes no folder: what was logged before there is one is written with the next line."""
    log, folder = LogFile(), tmp_path / "state"
    log.emit(record("first"))
    log.keep_at(folder / "infold.log")
    log.emit(record("second"))
    assert not folder.exists()
    folder.mkdir()
    log.emit(record("third"))
    lines = (folder / "infold.log").read_text().splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["first", "second", "third"]


def test_processes_share_it(tmp_path):
    """No line of one process is lost or torn by another's."""
    code = (
        "import logging, sys; from pathlib import Path; from infold.durable.log_file import log_a_command\n"
        "log_a_command(is_verbose=False).keep_at(Path(sys.argv[1]))\n"
        "for number in range(200): logging.getLogger('infold.x').info('%s-%d', sys.argv[2], number)"
    )
    file = tmp_path / "infold.log"
    processes = [subprocess.Popen([sys.executable, "-c", code, str(file), name]) for name in ("a", "b")]
    assert [process.wait(60) for process in processes] == [0, 0]
    said = {line.rpartition(" ")[2] for line in file.read_text().splitlines()}
    assert said == {f"{name}-{number}" for name in ("a", "b") for number in range(200)}


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_a_link_is_not_followed(log, tmp_path, capsys):
    """A log that is a link to somebody's file leaves that alone, and stops nothing."""
    theirs = tmp_path / "diary.md"
    theirs.write_text("dear diary\n")
    (tmp_path / "infold.log").symlink_to(theirs)
    log.emit(record("something"))
    log.emit(record("more"))
    assert theirs.read_text() == "dear diary\n"

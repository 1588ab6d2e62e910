"""Reading many notes at once."""

import sys

import pytest

from infold.catalogue.reading import Reading, read_rows


@pytest.fixture
def vault(tmp_path):
    for number in range(40):
        (tmp_path / f"n{number:02}.md").write_text(f"# Note {number}\n\n[[n00]] é\n", encoding="utf-8")
    (tmp_path / "bad.md").write_bytes(b"caf\xe9")
    return tmp_path


def wanted(vault):
    return [(file.name, None) for file in sorted(vault.iterdir())] + [("gone.md", None)]


def by_path(readings: list[Reading]) -> dict[str, Reading]:
    return {reading.path: reading for reading in readings}


def test_workers_read_what_one_process_reads(vault):
    """In one process or several: the same rows, the same reasons, progress up to the whole."""
    alone_progress, shared_progress = [], []
    alone = read_rows(vault, wanted(vault), 10_000, lambda *seen: alone_progress.append(seen), workers=1)
    shared = read_rows(vault, wanted(vault), 10_000, lambda *seen: shared_progress.append(seen), workers=2)
    assert by_path(alone) == by_path(shared)
    assert alone_progress[-1] == shared_progress[-1] == (42, 42)
    assert "not UTF-8" in (by_path(alone)["bad.md"].reason or "")
    assert by_path(alone)["gone.md"].reason
    assert not by_path(alone)["gone.md"].is_kept


def test_workers_that_cannot_start_or_die_are_replaced_by_this_process(vault, monkeypatch):
    """No interpreter, or one that fails at once: every note is read all the same."""
    whole = by_path(read_rows(vault, wanted(vault), 10_000, lambda *_: None, workers=1))
    for executable in ("/no/such/python", "/bin/false", "/bin/true"):
        monkeypatch.setattr(sys, "executable", executable)
        assert by_path(read_rows(vault, wanted(vault), 10_000, lambda *_: None, workers=2)) == whole


def test_what_may_be_readable_later_is_told_from_what_is_gone(vault, monkeypatch):
    """An input error of the system keeps what is known of the note; a file that vanished does not."""

    def broken(*args: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.open", broken)
    (reading,) = read_rows(vault, [("n00.md", None)], 10_000, lambda *_: None)
    assert reading.is_kept
    assert "Input/output" in (reading.reason or "")

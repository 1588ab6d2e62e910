"""Readers and writers in turns: never together, and each gets its turn."""

from __future__ import annotations

import threading
import time

import pytest

from infold.search.shared.rwlock import ReadersWriterLock


def test_readers_go_together_and_a_writer_alone():
    """Two readers meet inside; no writer is ever there with anybody else."""
    turns, inside, faults = ReadersWriterLock(), [], []
    both = threading.Barrier(2, timeout=120)

    def meet() -> None:
        with turns.reading():
            both.wait()

    def write() -> None:
        for _ in range(200):
            with turns.writing():
                inside.append("w")
                if len(inside) != 1:
                    faults.append(tuple(inside))
                inside.remove("w")

    def read() -> None:
        for _ in range(200):
            with turns.reading():
                inside.append("r")
                if "w" in inside:
                    faults.append(tuple(inside))
                inside.remove("r")

    for crowd in ([meet, meet], [write, write, read, read]):
        threads = [threading.Thread(target=one) for one in crowd]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert faults == []


@pytest.mark.parametrize("many, one", [("reading", "writing"), ("writing", "reading")])
def test_nobody_starves(many: str, one: str):
    """However busy the others are without a pause, a reader and a writer get their turn."""
    turns = ReadersWriterLock()
    is_over = threading.Event()

    def keep_going() -> None:
        while not is_over.is_set():
            with getattr(turns, many)():
                time.sleep(0.001)

    threads = [threading.Thread(target=keep_going) for _ in range(3)]
    for thread in threads:
        thread.start()
    had = 0
    started = time.monotonic()
    while had < 20 and time.monotonic() - started < 120:
        with getattr(turns, one)():
            had += 1
    is_over.set()
    for thread in threads:
        thread.join()
    assert had == 20


def test_an_error_inside_ends_the_turn():
    """Whoever fails does not block the others."""
    turns = ReadersWriterLock()
    for turn in (turns.reading, turns.writing, turns.reading):
        with pytest.raises(ValueError), turn():
            raise ValueError
    with turns.writing():
        pass

"""A crew of worker processes."""

import io
import operator
import os
import pickle
import signal
import sys
import time
import tracemalloc
from contextlib import closing

import pytest

from infold.workers import BATCH, Crew, is_worker, one_staff, serve

NEGATIVES = f"{__name__}:negatives"


def negatives(items: list[int]) -> list[int]:
    """What a worker does with a batch."""
    return list(map(operator.neg, items))


def sums(items: list[object], other: object) -> list[object]:
    """The same with what all items share."""
    return [operator.add(item, other) for item in items]


def products(items: list[str], times: int) -> list[str]:
    """Longer ones."""
    return [item * times for item in items]


def test_a_crew_does_job_after_job_in_the_order_of_the_items():
    """The same processes serve several times; what all items share is given beside them."""
    with closing(Crew(f"{__name__}:sums", 2)) as crew:
        assert crew.all(range(1000), 5) == list(range(5, 1005))
        assert crew.all([]) == []
        assert crew.all(["a", "b", "c"], "x") == ["ax", "bx", "cx"]


def test_a_crew_that_cannot_start_or_dies_leaves_the_work_to_this_process(monkeypatch):
    """No interpreter, or one that fails at once: everything is done all the same."""
    for executable in ("/no/such/python", "/bin/false", "/bin/true"):
        monkeypatch.setattr(sys, "executable", executable)
        with closing(Crew(NEGATIVES, 2)) as crew:
            assert crew.all([1, 2, 3]) == [-1, -2, -3]
            assert crew.all([4]) == [-4]


def test_workers_killed_between_two_jobs_are_missed_by_nobody():
    """Their shares fall to this process."""
    with closing(Crew(NEGATIVES, 2)) as crew:
        assert crew.all([1, 2, 3]) == [-1, -2, -3]
        for process in crew._staff.running(2):
            process.kill()
        assert crew.all(list(range(500))) == [-number for number in range(500)]


def test_what_the_function_raises_reaches_the_caller():
    """A worker that fails dies; the caller does its share and meets the error itself."""
    with closing(Crew(NEGATIVES, 2)) as crew, pytest.raises(TypeError):
        crew.all([1, "text"])


def test_a_worker_answers_in_batches():
    """Batches of answers, so that progress shows and a crash loses little."""
    jobs, answers = io.BytesIO(), io.BytesIO()
    for count in (3, 2 * BATCH + 1):
        pickle.dump((NEGATIVES, list(enumerate(range(count))), ()), jobs)
    jobs.seek(0)
    serve(jobs, answers)
    answers.seek(0)
    sizes = []
    while answers.tell() < len(answers.getvalue()):
        batch = pickle.load(answers)
        assert all(answer == operator.neg(number) for number, answer in batch)
        sizes.append(len(batch))
    assert sizes == [3, BATCH, BATCH, 1]


def process_of(items: list[str]) -> list[tuple[int, int]]:
    """Which process does the work, and how often it was asked."""
    return [(os.getpid(), len(_asked)) for item in items if not _asked.append(item)]


_asked: list[str] = []
ITEMS = [f"note-{number}" for number in range(400)]


def test_one_staff_serves_one_crew_after_the_other_an_item_by_the_same_worker():
    """Workers start once, and what is about the same goes to the same one, though others of its kind are left out."""
    function = f"{__name__}:process_of"
    with one_staff():
        with closing(Crew(function, 2, by=str)) as first:
            reading = dict(zip(ITEMS, first.all(ITEMS), strict=True))
        with closing(Crew(function, 2, by=str)) as second:
            writing = dict(zip(ITEMS[7::3], second.all(ITEMS[7::3]), strict=True))
    assert len({process for process, _ in reading.values()}) == 2
    assert all(reading[item][0] == process for item, (process, _) in writing.items())
    assert max(asked for _, asked in writing.values()) > len(ITEMS[7::3])  # they remember what they did before


def test_a_job_that_is_given_up_leaves_nothing_to_the_next():
    """Answers that are still on their way are no answers to another job."""
    with one_staff():
        for batch in Crew(NEGATIVES, 2).each(range(5000)):
            assert batch
            break
        assert Crew(NEGATIVES, 2).all([7, 8, 9]) == [-7, -8, -9]


def test_a_crew_at_work_is_left_alone_by_another():
    """Who asks meanwhile has workers of its own."""
    with one_staff(), closing(Crew(NEGATIVES, 2)) as other:
        given = dict[int, int]()
        for batch in Crew(NEGATIVES, 2).each(range(1000)):
            given.update(batch)
            assert other.all([1, 2]) == [-1, -2]
    assert given == {number: -number for number in range(1000)}


def test_workers_wait_for_a_caller_that_is_slower_than_they_are():
    """They do not fill its memory with answers: only a few batches of each are held."""
    with closing(Crew(f"{__name__}:products", 2)) as crew:
        tracemalloc.start()
        for _ in crew.each(["x" * 1000] * 8_000, 10):
            time.sleep(0.002)
            held, _most = tracemalloc.get_traced_memory()
            assert held < 40_000_000  # of 80 MB
        tracemalloc.stop()


def deadly(items: list[int]) -> list[int]:
    """What kills a worker in its second batch, and nobody else."""
    if is_worker() and max(items) >= 2 * BATCH:
        os.kill(os.getpid(), signal.SIGKILL)
    return negatives(items)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_worker_killed_in_the_middle_of_a_batch_loses_none_and_doubles_none():
    """What it answered counts, the rest is done by this process; later jobs go on without it."""
    with closing(Crew(f"{__name__}:deadly", 2)) as crew:
        for _ in range(2):
            answers = [answer for batch in crew.each(range(1000)) for answer in batch]
            assert sorted(answers) == [(number, -number) for number in range(1000)]


def test_a_worker_killed_while_it_answers_loses_none_and_doubles_none():
    """Half an answer is none."""
    with closing(Crew(f"{__name__}:products", 2)) as crew:
        given: list[tuple[int, str]] = []
        for batch in crew.each(["x" * 1000] * 2000, 50):  # far more than a pipe holds
            if not given:
                for process in crew._staff.running(2):
                    process.kill()
            given += batch
    assert sorted(number for number, _ in given) == list(range(2000))
    assert {text for _, text in given} == {"x" * 50_000}

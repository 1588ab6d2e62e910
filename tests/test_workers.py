"""A crew of worker processes."""

import io
import operator
import pickle
import sys
from contextlib import closing

import pytest

from infold.workers import BATCH, Crew, serve


def test_a_crew_does_job_after_job_in_the_order_of_the_items():
    """The same processes serve several times; what all items share is given beside them."""
    with closing(Crew("operator:add", 2)) as crew:
        assert crew.all(range(1000), 5) == list(range(5, 1005))
        assert crew.all([]) == []
        assert crew.all(["a", "b", "c"], "x") == ["ax", "bx", "cx"]


def test_a_crew_that_cannot_start_or_dies_leaves_the_work_to_this_process(monkeypatch):
    """No interpreter, or one that fails at once: everything is done all the same."""
    for executable in ("/no/such/python", "/bin/false", "/bin/true"):
        monkeypatch.setattr(sys, "executable", executable)
        with closing(Crew("operator:neg", 2)) as crew:
            assert crew.all([1, 2, 3]) == [-1, -2, -3]
            assert crew.all([4]) == [-4]


def test_workers_killed_between_two_jobs_are_missed_by_nobody():
    """Their shares fall to this process."""
    with closing(Crew("operator:neg", 2)) as crew:
        assert crew.all([1, 2, 3]) == [-1, -2, -3]
        for process in crew._processes or ():
            process.kill()
        assert crew.all(list(range(500))) == [-number for number in range(500)]


def test_what_the_function_raises_reaches_the_caller():
    """A worker that fails dies; the caller does its share and meets the error itself."""
    with closing(Crew("operator:neg", 2)) as crew, pytest.raises(TypeError):
        crew.all([1, "text"])


def test_a_worker_answers_in_batches():
    """Batches of answers, so that progress shows and a crash loses little."""
    jobs, answers = io.BytesIO(), io.BytesIO()
    for count in (3, 2 * BATCH + 1):
        pickle.dump(("operator:neg", list(enumerate(range(count))), ()), jobs)
    jobs.seek(0)
    serve(jobs, answers)
    answers.seek(0)
    sizes = []
    while answers.tell() < len(answers.getvalue()):
        batch = pickle.load(answers)
        assert all(answer == operator.neg(number) for number, answer in batch)
        sizes.append(len(batch))
    assert sizes == [3, BATCH, BATCH, 1]

"""DESIGN, Operations: locks belong to a caller, not to a thread."""

from __future__ import annotations

import asyncio
import threading

from infold.durable.owners import OwnedLock


def test_its_holder_may_take_it_again():
    """Taken twice, it is free after it was given back twice."""
    lock = OwnedLock()
    assert lock.acquire()
    assert lock.acquire()
    lock.release()
    assert lock.depth == 1
    lock.release()
    assert lock.depth == 0


async def test_two_tasks_of_one_loop_never_both_get_in():
    """The second is told so at once: to wait would stop the loop, and with it the first."""
    lock, got = OwnedLock(), []
    inside = asyncio.Event()

    async def first():
        with lock.held() as is_held:
            got.append(is_held)
            inside.set()
            await asyncio.sleep(0.02)

    async def second():
        await inside.wait()
        with lock.held() as is_held:
            got.append(is_held)

    await asyncio.gather(first(), second())
    assert got == [True, False]
    assert lock.acquire()


def test_two_threads_never_both_get_in():
    """A second thread waits until the first is done."""
    lock, inside, most = OwnedLock(), 0, 0

    def work():
        nonlocal inside, most
        for _ in range(200):
            with lock.held():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_wait_has_an_end():
    """A thread that does not get it in time is told so."""
    lock, got = OwnedLock(), []
    with lock.held():
        other = threading.Thread(target=lambda: got.append(lock.acquire(0.01)))
        other.start()
        other.join()
    assert got == [False]


async def test_a_task_of_another_thread_is_another_caller():
    """What a task hands to a thread does not hold what the task holds."""
    lock = OwnedLock()
    with lock.held():
        assert await asyncio.to_thread(lock.acquire, 0.01) is False

"""Spec 2, Database: transactions belong to their callers, threads and coroutines alike; readers do not wait."""

from __future__ import annotations

import asyncio
import threading

import pytest

from infold.docmem.maintenance import problems
from infold.docmem.memory import open_docmem
from infold.docmem.place import Place
from infold.errors import ArgumentInvalid, StateUnwritable, StoreBusy, TextNotStorable
from tests.docmem.conftest import MEMORY


async def test_a_coroutine_does_not_write_into_the_batch_of_another(memory, tree, texts):
    """Database: while one coroutine's batch is open another's write is refused, not lost when the batch fails."""
    is_open, may_fail = asyncio.Event(), asyncio.Event()

    async def batch_that_fails():
        with memory.batch():
            memory.append("garden", "of the batch", MEMORY)
            is_open.set()
            await may_fail.wait()
            raise RuntimeError

    failing = asyncio.create_task(batch_that_fails())
    await is_open.wait()
    with pytest.raises(StoreBusy, match="coroutine"):
        memory.append("garden", "x", MEMORY)
    kept = asyncio.create_task(asyncio.to_thread(memory.append, "garden", "kept", MEMORY))
    await asyncio.sleep(0.05)
    assert not kept.done()
    assert texts("garden") == ["a", "b", "c"]  # reading goes on, and sees what is committed
    may_fail.set()
    with pytest.raises(RuntimeError):
        await failing
    assert memory.find((await kept).id) is not None
    assert texts("garden") == ["a", "b", "c", "kept"]


async def test_coroutines_take_turns_with_their_batches(memory, tree, texts):
    """Database: `async with` waits for its turn; what a batch awaits in threads is a part of it; one that fails leaves nothing."""
    log = memory.append("garden", "log", MEMORY)

    async def batch(name):
        async with memory.batch():
            for number in range(3):
                await asyncio.to_thread(memory.append, log.id, f"{name}{number}", MEMORY)
                await asyncio.sleep(0)
            async with memory.batch():
                memory.append(log.id, f"{name} last", MEMORY)
            if name == "q":
                raise RuntimeError

    done = await asyncio.gather(*(batch(name) for name in "pqr"), return_exceptions=True)
    assert [type(found) for found in done] == [type(None), RuntimeError, type(None)]
    assert sorted([texts(log.id)[:4], texts(log.id)[4:]]) == [
        [f"{name}0", f"{name}1", f"{name}2", f"{name} last"] for name in "pr"
    ]
    assert problems(memory.store) == []


async def test_who_gives_up_waiting_leaves_the_store_free(memory, tree):
    """Database: a coroutine that is cancelled while it waits for its batch holds nothing afterwards."""

    async def waiting():
        async with memory.batch():
            raise AssertionError

    is_open = asyncio.Event()

    async def waiting_from_outside():
        await is_open.wait()
        await waiting()

    waiter = asyncio.create_task(waiting_from_outside())
    async with memory.batch():
        is_open.set()
        await asyncio.sleep(0.05)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
    await asyncio.to_thread(memory.append, "garden", "x", MEMORY)


async def test_parts_of_one_batch_do_not_mix(memory, tree, texts):
    """Database: a batch that ends while a coroutine of it has a part open is taken back, and says so."""
    is_open, may_end = asyncio.Event(), asyncio.Event()

    async def part():
        with memory.batch():
            memory.append("garden", "part", MEMORY)
            is_open.set()
            await may_end.wait()

    async def whole():
        with memory.batch():
            parts = asyncio.create_task(part())
            await is_open.wait()
        return parts

    with pytest.raises(StateUnwritable, match="taken back"):
        await whole()
    may_end.set()
    await asyncio.sleep(0.05)
    assert texts("garden") == ["a", "b", "c"]
    memory.append("garden", "later", MEMORY)


def test_readers_do_not_wait_for_a_batch(memory, tree, tmp_path):
    """Database: while a thread's batch is open, other threads read what is committed at once; their writes wait."""
    is_open, may_end = threading.Event(), threading.Event()

    def batch():
        with memory.batch():
            memory.append("garden", "of the batch", MEMORY)
            is_open.set()
            may_end.wait(120)

    writer = threading.Thread(target=batch)
    writer.start()
    assert is_open.wait(120)
    with open_docmem(tmp_path / "docmem.sqlite") as mine:
        assert [node.text for node in mine.children("garden")] == ["a", "b", "c"]
        assert writer.is_alive()
        later = threading.Thread(target=mine.append, args=("garden", "later", MEMORY))
        later.start()
        later.join(0.1)
        assert later.is_alive()
        may_end.set()
        later.join(120)
        writer.join(120)
        assert [node.text for node in mine.children("garden")] == ["a", "b", "c", "of the batch", "later"]


@pytest.mark.parametrize(
    "wrong, name",
    [
        (lambda memory: memory.append("garden", "x", MEMORY, readonly=2), "readonly"),
        (lambda memory: memory.append("garden", None, MEMORY), "text"),
        (lambda memory: memory.append("garden", b"x", MEMORY), "text"),
        (lambda memory: memory.append("garden", "x", ("memory", "", "")), "context"),
        (lambda memory: memory.mark("garden", "priority", None), "value"),
        (lambda memory: memory.find(memory.get("garden")), "node_id"),
        (lambda memory: memory.summarise([memory.get("garden")], "x", MEMORY), "expected"),
        (lambda memory: memory.expand("garden", "10"), "budget_tokens"),
        (lambda memory: memory.serialise("garden", "nonsense"), "summaries"),
        (lambda memory: memory.expand("garden", 10, summaries="nonsense"), "summaries"),
        (lambda memory: memory.move("garden", "before", "x"), "place"),
        (lambda _memory: Place("inside", "garden"), "side"),  # type: ignore[arg-type]
        (lambda memory: Place("child", memory.get("garden")), "target"),
    ],
)
def test_a_slip_of_the_caller_is_told_as_such(memory, tree, wrong, name):
    """Operations: a value of the wrong type, or a word that is no choice, is refused by the argument's name."""
    with pytest.raises(ArgumentInvalid, match=rf"\b{name} is "):
        wrong(memory)
    with pytest.raises(TypeError):
        memory.append("garden", "x")
    assert len(memory.subtree("garden")) == 8


@pytest.mark.parametrize("operation", ["find", "serialise", "mark"])
def test_half_a_character_in_a_name_is_refused(memory, tree, operation):
    """Required Properties: what no file can hold is refused by name in ids and flags too."""
    with pytest.raises(TextNotStorable, match="character 2"):
        memory.mark("garden", "a\ud800") if operation == "mark" else getattr(memory, operation)("a\ud800")

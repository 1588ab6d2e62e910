"""The vault's lock belongs to its caller: a process, a thread, a task."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from types import ModuleType

import pytest

from infold.durable.locks import integration_lock, vault_lock
from infold.durable.owners import caller
from infold.errors import VaultBusy
from infold.settings import Params
from infold.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "vault").mkdir()
    return Workspace(tmp_path / "vault", tmp_path / "state", tmp_path / "vault" / "inbox.md", Params())


@pytest.mark.parametrize("lock", [vault_lock, integration_lock])
async def test_two_tasks_of_one_loop_never_both_get_in(workspace, lock):
    """The second is told at once, by VaultBusy, and gets in when the first is done."""
    inside, refused = asyncio.Event(), []

    async def first():
        with lock(workspace):
            inside.set()
            await asyncio.sleep(0.02)

    async def second():
        await inside.wait()
        try:
            with lock(workspace):
                pass
        except VaultBusy as busy:
            refused.append(busy)

    await asyncio.gather(first(), second())
    assert len(refused) == 1
    with lock(workspace):
        pass


def test_a_caller_is_known_while_another_thread_imports_asyncio(monkeypatch):
    """A module that is half imported has no tasks yet; the thread is the caller."""
    monkeypatch.setitem(sys.modules, "asyncio", ModuleType("asyncio"))
    assert caller().task is None
    assert caller().thread is threading.current_thread()


def test_two_threads_never_both_get_in(workspace):
    """Four threads take turns."""
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        for _ in range(10):
            with vault_lock(workspace):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_its_holder_may_take_it_again(workspace):
    """It is free when it was given back as often."""
    with vault_lock(workspace), vault_lock(workspace):
        pass
    thread = threading.Thread(target=lambda: vault_lock(workspace, 0).__enter__())
    thread.start()
    thread.join()


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
def test_the_state_folder_and_the_lock_are_the_persons_alone(workspace):
    """Whoever else uses the machine sees neither, also where the folder was open before."""
    workspace.state.mkdir(mode=0o755)
    with vault_lock(workspace):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in workspace.state.iterdir()}
    assert stat.S_IMODE(workspace.state.stat().st_mode) == 0o700
    assert modes["lock"] == 0o600


def test_an_integration_waits_for_another_and_names_it(workspace):
    """A short one is waited for; of one that takes longer than the wait, the process is named."""
    inside, done = threading.Event(), threading.Event()

    def other():
        with integration_lock(workspace):
            inside.set()
            done.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(30)
    with pytest.raises(VaultBusy, match=f"pid {os.getpid()}"), integration_lock(workspace, 0.05):
        pass
    threading.Timer(0.1, done.set).start()
    with integration_lock(workspace):
        assert done.is_set()
    thread.join()

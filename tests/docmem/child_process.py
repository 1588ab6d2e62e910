"""What the tests run in processes of their own: a writer among others, and a writer that is killed at a statement.

python -m tests.docmem.child_process FILE NODE TIMES
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from infold.docmem.condensing import condense
from infold.docmem.memory import open_docmem
from infold.docmem.node import Context, expected_hashes
from infold.docmem.place import before, child_of
from infold.errors import LockConflict
from infold.librarian.offline import OfflineLibrarian
from infold.settings import Params


def count(file: str, node_id: str, times: str) -> None:
    """Adds one to the number in a node so many times; reads again after each conflict. Prints how many there were.

    Says when it is ready and begins when it is told to, so that all begin together.
    """
    memory = open_docmem(Path(file))
    conflicts = 0
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(int(times)):
        while True:
            node = memory.get(node_id)
            try:
                memory.update_content(node_id, str(int(node.text) + 1), node.hash)
                break
            except LockConflict:
                conflicts += 1
    print(json.dumps({"conflicts": conflicts}))


def killed(file: Path, operation: str, statement: int) -> int:
    """The exit code of a process that does one operation and kills itself before its n-th statement; 0 at its end."""
    child = os.fork()
    if child == 0:
        try:
            _kill(file, operation, statement)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill(file: Path, operation: str, statement: int) -> None:
    memory = open_docmem(file)
    subject = next(node for node, _depth in memory.subtree("garden") if node.text == "subject")
    run = OPERATIONS[operation]
    left = statement

    def tick(_statement: str) -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    with memory.store.alone() as connection:
        connection.set_trace_callback(tick)
    run(memory, subject)


def _summarise(memory, subject):
    memory.summarise(expected_hashes(memory.children(subject.id)[1:-1]), "summary", Context("summary", "", ""))


def _unsummarise(memory, _subject):
    summary = next(node for node, _depth in memory.subtree("garden") if node.is_summary)
    memory.unsummarise(summary.id, summary.hash)


def _condense(memory, _subject):
    params = Params.model_validate(
        {
            "docmem": {"summarise_after": 6, "summarise_run": 4, "keep_recent": 2},
            "summary": {"summary_target_words": [3, 4]},
        }
    )
    asyncio.run(condense(memory, OfflineLibrarian(), params))


OPERATIONS = {
    "condense": _condense,
    "move": lambda memory, subject: memory.move(subject.id, before(memory.children("garden")[0].id), subject.hash),
    "copy": lambda memory, subject: memory.copy(subject.id, child_of("garden")),
    "delete": lambda memory, subject: memory.delete(subject.id),
    "insert with rebalance": lambda memory, subject: memory.insert_after(subject.id, "new", subject.context),
    "summarise": _summarise,
    "unsummarise": _unsummarise,
}


if __name__ == "__main__":
    count(*sys.argv[1:])

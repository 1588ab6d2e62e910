"""Several processes on one store, and processes killed in the middle of an operation."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from infold.docmem import maintenance, order
from infold.docmem.memory import open_docmem
from infold.docmem.node import expected_hashes, node_hash
from infold.docmem.place import child_of
from tests.conftest import REPOSITORY
from tests.docmem.child_process import killed
from tests.docmem.conftest import MEMORY, ROOT, SUMMARY

KILLED = -signal.SIGKILL
OPERATIONS = ("summarise", "move", "copy", "delete", "insert with rebalance", "unsummarise")


def start(*arguments):
    """A child that counts, started."""
    command = [sys.executable, "-m", "tests.docmem.child_process", *map(str, arguments)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def count_together(tmp_path, writers, times):
    """The number in a node that several processes count up, and how often they met."""
    file = tmp_path / "docmem.sqlite"
    memory = open_docmem(file)
    memory.create_root("0", ROOT, root_id="number")
    children = [start(file, "number", times) for _ in range(writers)]
    assert [child.stdout.readline() for child in children] == ["ready\n"] * writers
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    conflicts = sum(json.loads(child.communicate()[0])["conflicts"] for child in children)
    assert [child.returncode for child in children] == [0] * writers
    total, versions = int(memory.get("number").text), len(memory.versions("number"))
    assert maintenance.problems(memory.store) == []
    memory.close()
    return total, versions, conflicts


def test_two_writers_lose_no_update(tmp_path):
    """Optimistic Locking: two processes that change one node 1,000 times in all lose no update, and do meet."""
    total, versions, conflicts = count_together(tmp_path, 2, 500)
    assert (total, versions) == (1000, 1000)
    assert conflicts > 0


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_writers_lose_none_of_10_000_updates(tmp_path):
    """Optimistic Locking: the same over 10,000 operations."""
    total, versions, _conflicts = count_together(tmp_path, 2, 5000)
    assert (total, versions) == (10_000, 10_000)


def make_tree(file):
    """A tree on which every operation has something to do."""
    memory = open_docmem(file)
    memory.create_root("", ROOT, root_id="garden")
    memory.append("garden", "a", MEMORY)
    subject = memory.append("garden", "subject", MEMORY)
    memory.append("garden", "z", MEMORY)
    with memory.batch():
        for number in range(6):
            memory.append(subject.id, f"m{number}", MEMORY)
        folded = memory.append("garden", "folded", MEMORY)
        leaves = [memory.append(folded.id, f"f{number}", MEMORY) for number in range(4)]
        summary = memory.summarise(expected_hashes(leaves[1:3]), "s", SUMMARY)
        for number in range(3):
            memory.append(summary.id, f"late{number}", MEMORY)
    memory.close()
    # One more insertion after the subject finds no number left.
    connection = sqlite3.connect(file)
    orders = {"subject": 2.0, "z": 2.0000000000000004}
    for text, number in orders.items():  # type: ignore[assignment]
        connection.execute(
            "UPDATE nodes SET order_value = ?, hash = ? WHERE text = ?",
            (number, node_hash("garden", MEMORY, text, number), text),
        )
    connection.commit()
    connection.close()


def picture(memory):
    """A tree without the ids and times that differ from run to run, and what belongs to it beside the nodes."""
    texts = [(depth, node.text, node.order_value, node.context_type) for node, depth in memory.subtree("garden")]
    facts = maintenance.facts(memory.store)
    return texts, facts.versions, facts.waiting, facts.rebalances


def look(file):
    """The picture of a file, which is in order."""
    memory = open_docmem(file)
    assert maintenance.problems(memory.store) == []
    seen = picture(memory)
    memory.append("garden", "still writable", MEMORY)
    memory.close()
    return seen


def run_killed(tmp_path, operation, statement):
    """Runs an operation on a fresh copy, killed before a statement. Gives its exit code and the picture left."""
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tmp_path / "tree", copy)
    return killed(copy / "docmem.sqlite", operation, statement), look(copy / "docmem.sqlite")


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads, as 3.12 has it
@pytest.mark.parametrize("operation", OPERATIONS)
def test_killed_at_a_statement(tmp_path, operation):
    """Operations: killed before any of its statements, an operation left the tree of before; at its end, that of after."""
    (tmp_path / "tree").mkdir()
    make_tree(tmp_path / "tree" / "docmem.sqlite")
    code, after = run_killed(tmp_path, operation, 100_000)
    assert code == 0
    shutil.copytree(tmp_path / "tree", tmp_path / "untouched")
    before = look(tmp_path / "untouched" / "docmem.sqlite")
    assert before != after
    thorough = "INFOLD_CHAOS_SHARE" in os.environ
    codes = []
    for statement in range(80) if thorough else (3, 9, 17):
        code, seen = run_killed(tmp_path, operation, statement)
        assert seen == (after if code == 0 else before)
        codes.append(code)
    assert set(codes) <= {0, KILLED}
    assert codes[:2] == [KILLED] * 2


def copy_without_end(file, node_id):
    """Copies, summarises and deletes until it is killed."""
    mine = open_docmem(file)
    while True:
        copied = mine.copy(node_id, child_of("copies"))
        mine.summarise(expected_hashes(mine.children(copied.id)[1:3]), "s", SUMMARY)
        mine.delete(copied.id)


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_killed_at_random_moments(tmp_path):
    """Operations: a process that copies and deletes without end, killed at random moments, leaves whole copies only."""
    share = float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))
    file = tmp_path / "docmem.sqlite"
    make_tree(file)
    memory = open_docmem(file)
    subject = next(node for node in memory.children("garden") if node.text == "subject")
    memory.create_root("", ROOT, root_id="copies")
    whole = memory.serialise(subject.id)
    kills = max(5, round(100 * share))
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            try:
                copy_without_end(file, subject.id)
            finally:
                os._exit(1)
        time.sleep(random.uniform(0.005, 0.08))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED
        assert maintenance.problems(memory.store) == []
        for copied in memory.children("copies"):
            assert "\n\n".join(part for part in memory.serialise(copied.id).split("\n\n") if part != "s") == whole
        memory.delete("copies")
        memory.create_root("", ROOT, root_id="copies")
    memory.close()


def test_the_child_meets_a_full_neighbourhood(tmp_path):
    """Node Ordering: the tree that the killed operations start from has no number left where one is inserted."""
    make_tree(tmp_path / "docmem.sqlite")
    memory = open_docmem(tmp_path / "docmem.sqlite")
    subject, following = memory.children("garden")[1:3]
    with pytest.raises(order.OrderExhausted):  # type: ignore[attr-defined]
        order.beside(subject.order_value, following.order_value, after=True)
    memory.close()

"""Random operations on the store and on a plain model: after each, both say the same."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from infold.docmem import maintenance
from infold.docmem.memory import open_docmem
from infold.docmem.node import Context
from infold.docmem.place import Place
from infold.errors import (
    CrossRootMove,
    CycleRefused,
    LockConflict,
    NodeNotFound,
    NodeReadonly,
    NoParent,
    NotASummary,
    NotSummarisable,
)
from tests.docmem.model import Plain

TEXTS = st.sampled_from(["", " \n", "a", "four", "A sentence of some length.", "木が", "x|y"]) | st.text(max_size=8)
FIELD = st.text(max_size=24)
CONTEXTS = st.tuples(st.sampled_from(["memory", "message", "summary", "note"]), FIELD, FIELD)
SIDES = st.sampled_from(["child", "before", "after"])
NUMBERS = st.integers(0, 10_000)


class Trees(RuleBasedStateMachine):
    """Two trees that grow and change at random."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = open_docmem(Path(self.folder.name) / "docmem.sqlite")
        self.nodes: dict[str, Plain] = {}
        self.roots: list[Plain] = []
        self.deleted: Plain | None = None

    def teardown(self):
        assert maintenance.problems(self.memory.store) == []
        self.memory.close()
        self.folder.cleanup()

    def pick(self, number):
        return list(self.nodes.values())[number % len(self.nodes)]

    def learn(self, node, plain):
        """Takes the id that the store drew, and the numbers that it gave the siblings, if they say the same order."""
        plain.id = node.id
        self.nodes[node.id] = plain
        self.renumber(plain.parent)

    def renumber(self, parent):
        stored = self.memory.children(parent.id)
        assert [node.id for node in stored] == [child.id for child in parent.children]
        assert len({node.order_value for node in stored}) == len(stored)
        for node, child in zip(stored, parent.children, strict=True):
            child.order = node.order_value

    @initialize()
    def two_trees(self):
        for name in ("one", "two"):
            self.memory.create_root("", Context("root", "", name), root_id=name)
            self.roots.append(Plain(name, None, "", ("root", "", name), 0))
            self.nodes[name] = self.roots[-1]

    @rule(where=NUMBERS, side=SIDES, text=TEXTS, context=CONTEXTS, readonly=st.booleans())
    def add(self, where, side, text, context, readonly):
        target = self.pick(where)
        operation = {
            "child": self.memory.append, "before": self.memory.insert_before, "after": self.memory.insert_after,
        }[side]  # fmt: skip
        if side != "child" and target.parent is None:
            with pytest.raises(NoParent):
                operation(target.id, text, Context(*context))
            return
        node = operation(target.id, text, Context(*context), readonly=readonly)
        plain = Plain("", None, text, context, int(readonly))
        plain.attach(target if side == "child" else target.parent, side, target)
        self.learn(node, plain)

    @rule(where=NUMBERS, text=TEXTS, is_stale=st.integers(0, 4).map(lambda number: number == 0))
    def update_content(self, where, text, is_stale):
        target = self.pick(where)
        if target.readonly:
            with pytest.raises(NodeReadonly):
                self.memory.update_content(target.id, text, target.hash)
        elif is_stale:
            with pytest.raises(LockConflict):
                self.memory.update_content(target.id, text, "stale")
        else:
            self.memory.update_content(target.id, text, target.hash)
            target.text = text

    @rule(where=NUMBERS, context=CONTEXTS)
    def update_context(self, where, context):
        target = self.pick(where)
        if not target.readonly:
            self.memory.update_context(target.id, Context(*context), target.hash)
            target.context = context

    @precondition(lambda self: len(self.nodes) > 2)
    @rule(where=NUMBERS)
    def delete(self, where):
        target = self.pick(where)
        if target.parent is None:
            return
        gone = [node for node, _depth in target.walk()]
        assert self.memory.delete(target.id, target.hash) == len(gone)
        target.detach()
        for node in gone:
            del self.nodes[node.id]
        self.deleted = target

    @precondition(lambda self: self.deleted is not None)
    @rule()
    def restore_deleted(self):
        """The latest deletion taken back: the subtree stands where it stood, or behind who took its place."""
        target, self.deleted = self.deleted, None
        if target.parent.id not in self.nodes:
            with pytest.raises(NodeNotFound):
                self.memory.restore_deleted(target.id)
            return
        node = self.memory.restore_deleted(target.id)
        siblings = [sibling.id for sibling in self.memory.children(target.parent.id)]
        target.parent.children.insert(siblings.index(node.id), target)
        for found, _depth in target.walk():
            self.nodes[found.id] = found
        self.renumber(target.parent)

    @rule(source=NUMBERS, where=NUMBERS, side=SIDES)
    def move(self, source, where, side):
        source, target = self.pick(source), self.pick(where)
        place = Place(side, target.id)
        below = [node for node, _depth in source.walk()]
        refused = (
            NoParent if side != "child" and target.parent is None
            else CycleRefused if target in below
            else CrossRootMove if source.root() is not target.root()
            else None
        )  # fmt: skip
        if refused is not None:
            with pytest.raises(refused):
                self.memory.move(source.id, place, source.hash)
            return
        node = self.memory.move(source.id, place, source.hash)
        source.detach()
        source.attach(target if side == "child" else target.parent, side, target)
        self.learn(node, source)
        assert node.hash == source.hash

    @precondition(lambda self: len(self.nodes) < 120)
    @rule(source=NUMBERS, where=NUMBERS, side=SIDES)
    def copy(self, source, where, side):
        source, target = self.pick(source), self.pick(where)
        if side != "child" and target.parent is None:
            return
        copied = _copied(source)
        node = self.memory.copy(source.id, Place(side, target.id))
        copied.attach(target if side == "child" else target.parent, side, target)
        stored = self.memory.subtree(node.id)
        plain = list(copied.walk())
        assert [(depth, found.text) for found, depth in stored] == [(depth, one.text) for one, depth in plain]
        for (found, _), (one, _) in zip(stored, plain, strict=True):
            assert found.id not in self.nodes
            one.id = found.id
            self.nodes[one.id] = one
            one.order = found.order_value
            assert [child.order_value for child in self.memory.children(one.id)] == [
                float(number + 1) for number in range(len(one.children))
            ]
        self.renumber(copied.parent)

    @rule(where=NUMBERS, first=NUMBERS, length=st.integers(1, 5), text=TEXTS)
    def summarise(self, where, first, length, text):
        parent = self.pick(where)
        if not parent.children:
            return
        first %= len(parent.children)
        chosen = parent.children[first : first + length]
        expected = {node.id: node.hash for node in chosen}
        if any(node.children for node in chosen):
            with pytest.raises(NotSummarisable):
                self.memory.summarise(expected, text, Context("summary", "", ""))
            return
        node = self.memory.summarise(expected, text, Context("summary", "", ""))
        assert node.order_value == chosen[0].order + (chosen[-1].order - chosen[0].order) / 2
        summary = Plain("", parent, text, ("summary", "", ""), 0, children=chosen)
        parent.children[first : first + length] = [summary]
        for child in chosen:
            child.parent = summary
        self.learn(node, summary)
        self.renumber(summary)

    @rule(where=NUMBERS)
    def unsummarise(self, where):
        summary = self.pick(where)
        if summary.parent is None or summary.context[0] != "summary":
            return
        if not summary.children:
            with pytest.raises(NotASummary):
                self.memory.unsummarise(summary.id, summary.hash)
            return
        self.memory.unsummarise(summary.id, summary.hash)
        parent, at = summary.parent, summary.parent.children.index(summary)
        parent.children[at : at + 1] = summary.children
        for child in summary.children:
            child.parent = parent
        del self.nodes[summary.id]
        self.renumber(parent)

    @rule(where=NUMBERS, count=st.integers(20, 60))
    def insert_often(self, where, count):
        """The same place again and again, until numbers run out."""
        target = self.pick(where)
        if target.parent is None or len(self.nodes) > 200:
            return
        last = target
        for _ in range(count):
            node = self.memory.insert_after(last.id, "", Context("memory", "", ""))
            plain = Plain("", None, "", ("memory", "", ""), 0)
            plain.attach(last.parent, "after", last)
            self.learn(node, plain)
            last = plain

    @invariant()
    def both_say_the_same(self):
        for root in self.roots:
            stored = self.memory.subtree(root.id)
            plain = list(root.walk())
            assert [(node.id, depth) for node, depth in stored] == [(node.id, depth) for node, depth in plain]
            for (node, _), (one, _) in zip(stored, plain, strict=True):
                assert (node.text, node.token_count, node.hash, node.readonly) == (
                    one.text,
                    one.tokens,
                    one.hash,
                    one.readonly,
                )
                assert (node.context_type, node.context_name, node.context_value) == one.context
            assert self.memory.serialise(root.id) == root.serialise()
            lines = [f"{'  ' * depth}- {node}" for node, depth in stored]
            assert self.memory.structure(root.id) == "\n".join(lines)


def _copied(node):
    copied = Plain("", None, node.text, node.context, node.readonly)
    copied.children = [_copied(child) for child in node.children]
    for child in copied.children:
        child.parent = copied
    return copied


quick = settings(max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
share = float(os.environ.get("INFOLD_CHAOS_SHARE", "0.1"))
thorough = settings(quick, max_examples=max(10, round(300 * share)), stateful_step_count=60)


def test_any_operations_agree_with_a_plain_model():
    """Operations: after any sequence, structure, order, serialisation, hashes and token counts are the model's."""
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(Trees, settings=quick)


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_more_operations_agree_with_a_plain_model():
    """Operations: the same over longer sequences and more of them."""
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(Trees, settings=thorough)

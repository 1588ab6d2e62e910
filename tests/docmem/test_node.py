"""Spec 2, Node Structure: properties, context, display, tokens, hash, ids."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.docmem import ids
from infold.docmem.node import PROPERTIES, Context, node_hash
from infold.errors import (
    ContextFieldMissing,
    ContextFieldTooLong,
    NodeExists,
    NodeIdInvalid,
    StoreDamaged,
    TextNotStorable,
)
from tests.docmem.conftest import MEMORY, ROOT

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_node_ids_are_eight_random_characters(memory, tree):
    """Node ID Generation: node ids are randomly generated 8-character strings."""
    made = {memory.append("garden", "x", MEMORY).id for _ in range(200)}
    assert len(made) == 200
    assert {len(node_id) for node_id in made} == {8}


def test_root_id_may_be_given(memory):
    """Node ID Generation: the only exception is the root ID, which may be user-specified; else it is random too."""
    assert memory.create_root("", ROOT, root_id="my-book.2").id == "my-book.2"
    assert len(memory.create_root("", ROOT).id) == 8


@pytest.mark.parametrize("name", ["", "a b", "a/b", "../x", "-x", ".x", "x" * 65, "a\nb", "a:b"])
def test_bad_root_id_is_refused(memory, name):
    """Node ID Generation: a root id that could be a path, an option or two words is refused."""
    with pytest.raises(NodeIdInvalid):
        memory.create_root("", ROOT, root_id=name)
    assert memory.roots() == []


def test_taken_root_id_is_refused(memory, tree):
    """Node ID Generation: an id is the primary key; a second tree or node of that name is refused."""
    for name in ("garden", tree["a"].id):
        with pytest.raises(NodeExists):
            memory.create_root("", ROOT, root_id=name)


def test_collisions_of_ids_are_drawn_again(monkeypatch):
    """Node ID Generation: an id that is taken is drawn again, and an endless row of taken ones is an error."""
    drawn = iter(["taken", "taken", "free"])
    monkeypatch.setattr(ids, "random_id", lambda: next(drawn))
    assert ids.free_id(lambda name: name == "taken") == "free"
    monkeypatch.undo()
    with pytest.raises(StoreDamaged):
        ids.free_id(lambda _name: True)


def test_node_has_the_required_properties(memory, tree):
    """Required Properties: every property is there, with the type and the default of the table."""
    node = memory.find(tree["a1"].id)
    assert PROPERTIES == (
        "id", "parent_id", "text", "order_value", "token_count", "created_at", "updated_at",
        "context_type", "context_name", "context_value", "readonly", "hash",
    )  # fmt: skip
    assert (node.parent_id, node.text, node.order_value, node.token_count) == (tree["a"].id, "a1", 1.0, 1)
    assert (node.context_type, node.context_name, node.context_value, node.readonly) == ("memory", "source", "walk", 0)
    assert ISO.fullmatch(node.created_at)
    assert ISO.fullmatch(node.updated_at)
    assert memory.get("garden").parent_id is None
    assert list(node.as_dict()) == list(PROPERTIES)


@pytest.mark.parametrize("length", [0, 1, 24])
def test_context_fields_of_up_to_24_characters(memory, tree, length):
    """Context Fields: all context fields are strings of 0 to 24 characters, counted as characters, not bytes."""
    context = Context("ü" * length, "n" * length, "木" * length)
    assert memory.append("garden", "x", context).context == context


@pytest.mark.parametrize("field", ["type", "name", "value"])
def test_longer_context_is_refused_by_field(field):
    """Context Fields: a field of 25 characters is refused, and the error names the field."""
    fields = {"type": "t", "name": "n", "value": "v", field: "x" * 25}
    with pytest.raises(ContextFieldTooLong) as refused:
        Context(**fields)
    assert refused.value.field == f"context_{field}"
    assert f"context_{field}" in str(refused.value)


@pytest.mark.parametrize("field", ["type", "name", "value"])
def test_missing_context_is_refused_by_field(field):
    """Context Fields: all three fields must be provided; creation fails where one is missing, and names it."""
    fields = {"type": "t", "name": "n", "value": "v", field: None}
    with pytest.raises(ContextFieldMissing) as refused:
        Context(**fields)
    assert refused.value.field == f"context_{field}"


def test_context_is_read_as_written():
    """Context Fields: `type:name:value` gives the three fields; two are too few; later colons are the value's."""
    assert Context.parse("root:purpose:a:b") == Context("root", "purpose", "a:b")
    with pytest.raises(ContextFieldMissing) as refused:
        Context.parse("root:purpose")
    assert refused.value.field == "context_value"


def test_display_formats(memory, tree):
    """Standard Display Formats: `type:name:value`, and `ID type:name:value updated_at`."""
    assert str(ROOT) == "root:purpose:document"
    node = tree["a"]
    assert str(node) == f"{node.id} memory:source:walk {node.updated_at}"


def test_display_stays_on_one_line():
    """Standard Display Formats: a line break in a field cannot forge a second line."""
    assert str(Context("a\nb", "\u2028", "c")) == "a b: :c"


def test_roles_are_told_by_context_type(memory, tree):
    """Node Differentiation, Node Types: context_type alone tells summaries, notes and memories apart."""
    summary = memory.summarise({tree["b"].id: tree["b"].hash}, "s", Context("summary", "", ""))
    note = memory.note_beside(tree["a"].id, "n")
    assert (summary.is_summary, note.is_summary, tree["a"].is_summary) == (True, False, False)
    assert (summary.is_note, note.is_note, tree["a"].is_note) == (False, True, False)


@pytest.mark.parametrize("text, tokens", [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("木" * 9, 3)])
def test_token_count(memory, tree, text, tokens):
    """Token Counting: characters divided by four, rounded up, for each node."""
    assert memory.append("garden", text, MEMORY).token_count == tokens


def test_hash_is_base64_of_sha512_of_the_piped_fields(memory, tree):
    """Optimistic Locking: Base64 SHA-512 of parent_id|context_type|context_name|context_value|text|order_value."""
    node = tree["a1"]
    state = f"{tree['a'].id}|memory|source|walk|a1|1.0"
    assert node.hash == base64.b64encode(hashlib.sha512(state.encode()).digest()).decode()


def test_null_is_hashed_as_empty(memory, tree):
    """Optimistic Locking: null values are normalised to empty strings."""
    state = "|root|purpose|document||1.0"
    assert tree["root"].hash == base64.b64encode(hashlib.sha512(state.encode()).digest()).decode()


def test_readonly_is_not_hashed(memory, tree):
    """Optimistic Locking: the readonly field is not part of the hash."""
    locked = memory.append(tree["b"].id, "same", MEMORY, readonly=True)
    memory.delete(locked.id)
    open_one = memory.append(tree["b"].id, "same", MEMORY)
    assert (locked.readonly, open_one.readonly) == (1, 0)
    assert locked.hash == open_one.hash


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_equal_orders_hash_equally(number):
    """Optimistic Locking: an order value is written in one way, whatever way it came about."""
    again = float(repr(number))
    assert node_hash(None, ROOT, "", number) == node_hash(None, ROOT, "", again)
    assert node_hash(None, ROOT, "", 0.0) == node_hash(None, ROOT, "", -0.0)


def test_half_a_character_is_refused(memory, tree):
    """Required Properties: text that no file can hold is refused by name, and nothing is written."""
    with pytest.raises(TextNotStorable, match="character 2"):
        memory.append("garden", "a\ud800", MEMORY)
    with pytest.raises(TextNotStorable):
        memory.update_content(tree["a"].id, "\udfff", tree["a"].hash)
    assert len(memory.subtree("garden")) == 8


@pytest.mark.parametrize("text", ["a\x00b", "👩‍👩‍👧", " \r\n\t", "|:|", "\ufeffbom"])
def test_text_comes_back_as_it_was(memory, tree, text):
    """Node Types: memory nodes preserve ground truth text, every character of it."""
    assert memory.find(memory.append("garden", text, MEMORY).id).text == text

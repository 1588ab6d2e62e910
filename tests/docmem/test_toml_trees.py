"""Trees as TOML: written out and read in, an equal tree (spec 2, Import)."""

from __future__ import annotations

import time
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.docmem import maintenance
from infold.docmem.exporting import export_text
from infold.docmem.importing import import_file
from infold.docmem.node import Context
from infold.docmem.place import child_of
from infold.docmem.toml_trees import toml_draft
from infold.docmem.tree_builder import TreeDraft, plant
from infold.errors import ImportRefused
from tests.docmem.conftest import MEMORY, ROOT

TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from("\"\\\n\r\t\x00\x1f\x7f# =[]'"), st.characters(exclude_categories=["Cs"]))
)
FIELDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=24)
CONTEXTS = st.builds(Context, FIELDS, FIELDS, FIELDS)
MARKS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), TEXTS, max_size=2)
NODES = st.builds(
    lambda context, text, flag, marks: TreeDraft(context, text, is_readonly=flag, marks=marks),
    CONTEXTS,
    TEXTS,
    st.booleans(),
    MARKS,
)
TIMES = ("created_at", "updated_at")


@st.composite
def drafts(draw: st.DrawFn) -> TreeDraft:
    """A tree of up to eight nodes, of any shape."""
    made = [draw(NODES)]
    for _ in range(draw(st.integers(0, 7))):
        child = draw(NODES)
        draw(st.sampled_from(made)).children.append(child)
        made.append(child)
    for draft in made:
        count = len(draft.children)
        orders = draw(st.none() | st.lists(st.floats(-1e6, 1e6), min_size=count, max_size=count, unique=True))
        for child, order in zip(draft.children, sorted(orders or ()), strict=False):
            child.order = order
    return made[0]


def whole(memory, node_id: str) -> list[object]:
    """All about a subtree that is not a time."""
    return [
        ({name: value for name, value in node.as_dict().items() if name not in TIMES}, depth, memory.marks_of(node.id))
        for node, depth in memory.subtree(node_id)
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drafts())
def test_export_then_import_gives_an_equal_tree(memory, tmp_path, draft):
    """Text, contexts, structure, order, readonly, marks, and, where they are free, ids and thereby hashes."""
    with memory.store.writing() as rows:
        root = plant(rows, draft)
    before = whole(memory, root.id)
    file = tmp_path / "tree.toml"
    file.write_bytes(export_text(memory, root.id, "toml").encode())
    memory.delete(root.id)
    done = import_file(memory, file)
    assert (done.node.id, done.nodes) == (root.id, len(before))
    assert whole(memory, root.id) == before
    assert maintenance.problems(memory.store) == []


def test_ids_that_are_taken_are_new(memory, tree, tmp_path):
    """Beside the original, or below a node, a tree gets ids of its own and is otherwise the same."""
    file = tmp_path / "tree.toml"
    file.write_text(export_text(memory, "garden", "toml"))
    beside = import_file(memory, file).node
    below = import_file(memory, file, place=child_of(tree["b"].id)).node
    for made in (beside, below):
        assert len(made.id) == 8
        assert memory.serialise(made.id).startswith("a\n\na1\n\na2\n\nb")
    assert below.parent_id == tree["b"].id
    assert maintenance.problems(memory.store) == []


def test_a_part_of_a_tree_becomes_a_tree(memory, tree, tmp_path):
    """What was exported from the middle has no parent any more, and is named as one likes."""
    file = tmp_path / "part.toml"
    file.write_text(export_text(memory, tree["c"].id, "toml"))
    assert "parent_id" not in tomllib.loads(file.read_text())["nodes"][0]
    part = import_file(memory, file, root_id="part").node
    assert [(node.text, depth) for node, depth in memory.subtree("part")] == [("c", 0), ("c1", 1), ("c11", 2)]
    assert (part.parent_id, part.order_value) == (None, 1.0)


def test_by_hand_little_is_needed(memory, tmp_path):
    """Spec 2, Import: "nodes from TOML files … MUST default to not readonly"; orders and leaves' ids may be left out."""
    file = tmp_path / "by hand.toml"
    head = 'context_type = "memory"\ncontext_name = "by"\ncontext_value = "hand"\n'
    file.write_text(
        f'[[nodes]]\nid = "plan"\ntext = ""\n{head}[[nodes]]\nparent_id = "plan"\ntext = "one"\n{head}'
        f'[[nodes]]\nparent_id = "plan"\ntext = "two"\nreadonly = 1\n{head}'
    )
    done = import_file(memory, file)
    assert done.node.id == "plan"
    assert [(node.text, node.order_value, node.readonly) for node in memory.children("plan")] == [
        ("one", 1.0, 0),
        ("two", 2.0, 1),
    ]


def test_only_random_ids_are_kept_below_a_root(memory, tmp_path):
    """Spec 2, Node IDs: "The ONLY exception is the docmem root ID": a name within a file holds within the file."""
    names = "".join(
        f'[[nodes]]\nid = "{name}"\ntext = ""\ncontext_type = ""\ncontext_name = ""\ncontext_value = ""\n{parent}'
        for name, parent in (("plan", ""), ("intro", 'parent_id = "plan"\n'), ("abcdefgh", 'parent_id = "intro"\n'))
    )
    (tmp_path / "a.toml").write_text(names)
    import_file(memory, tmp_path / "a.toml")
    (_, (intro, _), (leaf, _)) = memory.subtree("plan")
    assert intro.id != "intro"
    assert leaf.id == "abcdefgh"


CONTEXT = 'context_type = ""\ncontext_name = ""\ncontext_value = ""\n'
GOOD = f'[[nodes]]\nid = "a"\ntext = ""\n{CONTEXT}'
CHILD = f'[[nodes]]\nparent_id = "a"\ntext = ""\norder_value = 1\n{CONTEXT}'
LONG = "x" * 25


@pytest.mark.parametrize(
    "text, said",
    [
        ("a = 1\na = 2\n", "line 2"),
        ("a = ", "t.toml is no TOML"),
        ("a = " + "[" * 5000, "nested too deep"),
        ("", "no list of [[nodes]]"),
        ("nodes = 3", "no list of [[nodes]]"),
        ("nodes = []", "no list of [[nodes]]"),
        ("nodes = [1]", "no list of [[nodes]]"),
        ('format = "docmem/9"', "'docmem/9'"),
        ("title = 1", "'title'"),
        (f"{GOOD}colour = 1", "node 1 ('a'): there is no property 'colour'"),
        (f"{GOOD}readonly = 2", "`readonly` is 0 or 1, not 2"),
        (f"{GOOD}order_value = nan", "`order_value` is a number, not nan"),
        (f"{GOOD}order_value = true", "`order_value`"),
        (f"{GOOD}marks = [1]", "`marks`"),
        (f'{GOOD}parent_id = "x"', "the first node is the upmost"),
        (GOOD + GOOD, "node 2 ('a'): another node"),
        (GOOD + CHILD.replace('parent_id = "a"', 'id = "b"'), "node 2 ('b'): `parent_id` is missing"),
        (GOOD + CHILD.replace('parent_id = "a"', 'id = "b"\nparent_id = "b"'), "has the id 'b'"),
        (GOOD + CHILD + CHILD, "two children of 'a' have the order 1.0"),
        ('[[nodes]]\ntext = 3\ncontext_type = ""', "`text` is no string"),
        ('[[nodes]]\ncontext_type = ""', "`text` is missing"),
        ('[[nodes]]\ntext = ""\ncontext_type = ""\ncontext_name = ""', "node 1: context_value is missing"),
        (GOOD.replace('context_type = ""', f'context_type = "{LONG}"'), "25 characters"),
        ('[[nodes]]\nid = 3\ntext = ""', "`id` is no string"),
    ],
)
def test_wrong_files_are_refused_by_place(text, said):
    """What is wrong is said with the line, or with the node and its property."""
    with pytest.raises(ImportRefused) as refused:
        toml_draft(text, "t.toml")
    assert said in str(refused.value)
    assert refused.value.hint


def test_exported_contexts_and_text_are_legible(memory):
    """Several lines stay several lines, so that a person can read and edit them."""
    root = memory.create_root("", ROOT)
    memory.append(root.id, 'said "so"\n\ttwice', MEMORY)
    assert 'text = """\nsaid "so"\n\ttwice"""' in export_text(memory, root.id, "toml")


def test_a_tree_that_comes_back_is_as_old_as_it_was(memory, tree, tmp_path):
    """Version History: exported, deleted for good and read again a tree has its times of creation and its versions."""
    memory.update_content(tree["b"].id, "second", tree["b"].hash)
    memory.move(tree["b"].id, child_of(tree["a"].id), memory.get(tree["b"].id).hash)
    before = [(node.id, node.created_at, node.hash) for node, _ in memory.subtree("garden")]
    versions = memory.versions(tree["b"].id)
    (tmp_path / "a.toml").write_text(export_text(memory, "garden", "toml"))
    memory.delete("garden", for_good=True)
    time.sleep(0.005)
    import_file(memory, tmp_path / "a.toml")
    assert [(node.id, node.created_at, node.hash) for node, _ in memory.subtree("garden")] == before
    assert memory.versions(tree["b"].id) == versions


@pytest.mark.parametrize(
    "line, said",
    [
        ('created_at = "yesterday"', "ISO 8601"),
        ("created_at = 7", "ISO 8601"),
        ("history = 7", "no list"),
        ('history = [{ text = "x" }]', "needs operation"),
        ('history = [{ by = "x" }]', "no property 'by'"),
    ],
)
def test_times_and_versions_that_are_none(line, said):
    """Import: a time or a version that cannot be one is named with its node."""
    with pytest.raises(ImportRefused, match=said):
        toml_draft(
            f'[[nodes]]\ntext = ""\ncontext_type = ""\ncontext_name = ""\ncontext_value = ""\n{line}\n', "a.toml"
        )

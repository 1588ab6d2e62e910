"""Keys by content and the store of decisions: stable, unambiguous, whole or absent."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.errors import StateUnwritable
from infold.librarian.answers import GroupRequest, Paragraph
from infold.librarian.decisions import DecisionStore, content_key
from infold.settings import ExplorationParams, LibrarianParams

KEY = content_key("test", "1", "a")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


class Colour(StrEnum):
    GREEN = "green"


@dataclass(frozen=True)
class Point:
    x: int
    y: int


@dataclass(frozen=True)
class Pair:
    x: int
    y: int


def test_a_key_is_stable_over_processes_hash_seeds_and_versions_of_this_test():
    """The same question has the same key in every process; this literal changes only with the key's own format."""
    program = (
        "from infold.librarian.decisions import content_key;"
        "print(content_key('group', '1', {'b': [1, 2.5, None, True], 'a': 'é'}, {'x', 'y', 'z'}, b'raw'))"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    }
    assert keys == {content_key("group", "1", {"a": "é", "b": (1, 2.5, None, True)}, {"z", "y", "x"}, b"raw")}
    assert keys == {"group/03c9e362b818b31a8953e48697c66f1c88786f81d624537e9aa982791fea91ff"}


def test_requests_and_settings_can_be_keys():
    """Records and parameters are told apart by class and by every field."""
    request, same, other = (GroupRequest((Paragraph(1, text),), ("n.md",), 600) for text in "aab")
    assert content_key("group", "1", request) == content_key("group", "1", same)
    assert content_key("group", "1", request) != content_key("group", "1", other)
    assert content_key("x", "1", LibrarianParams()) != content_key("x", "1", LibrarianParams(model="other"))
    assert content_key("x", "1", LibrarianParams()) != content_key("x", "1", ExplorationParams())


@pytest.mark.parametrize(
    "one, other",
    [
        ((["a", "b"],), (["ab"],)),
        (("a", "b"), ("ab",)),
        (("a", ["b"]), (["a"], "b")),
        ((1,), ("1",)),
        ((1,), (True,)),
        ((1,), (1.0,)),
        ((None,), ("",)),
        (("x",), (b"x",)),
        (("x",), (PurePosixPath("x"),)),
        (("green",), (Colour.GREEN,)),
        (({"a": 1},), ([["a", 1]],)),
        (({"a": {"b": 1}},), ({"a": "b"}, 1)),
        ((Point(1, 2),), (Pair(1, 2),)),
        ((Point(1, 2),), ({"x": 1, "y": 2},)),
        (([],), ((),) * 2),
        ((set(),), ([],)),
    ],
)
def test_what_differs_has_another_key(one, other):
    """Types, nesting and boundaries count: no two questions run into each other."""
    assert content_key("k", "1", *one) != content_key("k", "1", *other)


def test_kind_and_version_count():
    """Two kinds of decision about the same text never share an answer."""
    assert len({content_key("a", "1", "x"), content_key("b", "1", "x"), content_key("a", "2", "x")}) == 3


@given(JSON, JSON)
def test_equal_json_equal_key_and_only_then(one, other):
    """Over any JSON values: the key is the content."""
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (content_key("k", "1", one) == content_key("k", "1", other)) == same


@pytest.mark.parametrize("value", [object(), lambda: None, Point, iter([])])
def test_what_has_no_stable_form_is_refused(value):
    """Better an error than a key that differs in the next process."""
    with pytest.raises(TypeError):
        content_key("k", "1", value)


@pytest.mark.parametrize("kind", ["", "a/b", "A", "ü", ".."])
def test_a_kind_is_a_plain_folder_name(kind):
    """The kind becomes a folder and a task name."""
    with pytest.raises(ValueError):
        content_key(kind, "1")


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_what_is_put_is_got(tmp_path_factory, payload):
    """Any JSON payload comes back equal."""
    store = DecisionStore(tmp_path_factory.mktemp("d"))
    store.put(KEY, payload)
    assert store.get(KEY) == payload


def test_absent_replaced_and_dropped(tmp_path):
    """Get gives None for what is not there, put replaces, drop forgets and does not mind twice."""
    store = DecisionStore(tmp_path / "a" / "b")
    assert store.get(KEY) is None
    store.put(KEY, {"n": 1})
    store.put(KEY, {"n": 2})
    assert DecisionStore(tmp_path / "a" / "b").get(KEY) == {"n": 2}
    store.drop(KEY)
    store.drop(KEY)
    assert store.get(KEY) is None


def test_decisions_lie_in_sharded_folders(tmp_path):
    """Kind / first two signs / digest.json, and nothing else is left lying about."""
    DecisionStore(tmp_path).put(KEY, {})
    kind, digest = KEY.split("/")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [tmp_path / kind / digest[:2] / f"{digest}.json"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:-5],
        lambda data: b"\0" * len(data),
        lambda data: data.replace(b'"n": 1', b'"n": 2'),
        lambda data: b"[]",
        lambda data: b'"text"',
        lambda data: b"[" * 100_000,
        lambda data: b"\xff\xfe",
        lambda data: data.replace(b"test/", b"best/"),
    ],
)
def test_a_spoilt_file_counts_as_absent_and_is_mended(tmp_path, spoil):
    """Cut short, zeroed or changed by hand: the decision is taken again and kept again."""
    store = DecisionStore(tmp_path)
    store.put(KEY, {"n": 1})
    path = next(tmp_path.rglob("*.json"))
    path.write_bytes(spoil(path.read_bytes()))
    assert store.get(KEY) is None
    store.put(KEY, {"n": 3})
    assert store.get(KEY) == {"n": 3}


@pytest.mark.parametrize("key", ["", "test", "test/short", "../" + "a" * 64, "a/b/" + "c" * 62, "test/" + "." * 64])
def test_only_content_keys_reach_the_disk(tmp_path, key):
    """Nothing outside the store's folder can be named."""
    with pytest.raises(ValueError):
        DecisionStore(tmp_path).put(key, {})


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    """StateUnwritable names the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StateUnwritable, match=r"file.*cannot be written"):
        DecisionStore(tmp_path / "file").put(KEY, {})


def _put_many(folder: str, worker: int) -> None:
    store = DecisionStore(Path(folder))
    for n in range(30):
        store.put(content_key("race", "1", n), {"worker": worker, "text": "x" * 5000})


def test_processes_side_by_side_never_leave_half_a_decision(tmp_path):
    """Several writers of the same keys: each key ends whole, by one of them."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_put_many, args=(str(tmp_path), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    store = DecisionStore(tmp_path)
    assert all(store.get(content_key("race", "1", n))["worker"] in (0, 1, 2) for n in range(30))
    assert not list(tmp_path.rglob("*.tmp"))

"""What a sync reads and what it takes away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search.index.change_detection import (
    MANY_NOTES,
    MANY_TIMES,
    RACE_NS,
    ROUND_NOTES,
    ROUND_PASSAGES,
    doubtful,
    gone,
    rounds,
    to_read,
    write_rounds,
)
from infold.search.index.feeds import Item, ReadResult
from infold.search.index.manifest import IndexedNote
from infold.vault.scanning import Skipped

NOW = 1_700_000_000 * 10**9
LONG_AGO = NOW - 100 * RACE_NS


def row(path: str, *, mtime_ns: int = LONG_AGO, size: int = 10, variant: str = "standard") -> IndexedNote:
    """A note that was indexed now."""
    return IndexedNote("notes", path, mtime_ns, size, "abc", variant, 1, "english", NOW)


def test_time_and_size_are_a_short_cut():
    """As known, and not just written: not read. Anything else is read, with the hash that would mean "unchanged"."""
    known = {"a.md": row("a.md"), "late.md": row("late.md", mtime_ns=NOW - RACE_NS // 2)}
    assert to_read([Item("a.md", LONG_AGO, 10, "standard")], known) == []
    touched = Item("a.md", LONG_AGO + 1, 10, "standard")
    assert to_read([touched], known) == [(touched, "abc")]
    grown = Item("a.md", LONG_AGO, 11, "standard")
    assert to_read([grown], known) == [(grown, "abc")]
    late = Item("late.md", NOW - RACE_NS // 2, 10, "standard")
    assert to_read([late], known) == [(late, "abc")]
    new = Item("new.md", LONG_AGO, 10, "standard")
    assert to_read([new], known) == [(new, "")]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"), st.sampled_from([0, 99, 100, 101, 102]), st.integers(1, 2), st.sampled_from("xy")
        ),
        unique_by=lambda item: item[0],
    ),
    st.lists(
        st.tuples(
            st.sampled_from("abcd"), st.sampled_from([0, 99, 100, 101, 102]), st.integers(1, 2), st.sampled_from("xy")
        ),
        unique_by=lambda item: item[0],
    ),
)
def test_what_is_not_in_doubt_is_neither_read_nor_gone(
    there: list[tuple[str, int, int, str]], held: list[tuple[str, int, int, str]]
):
    """Whatever was added, touched, grown, moved away or just written is in doubt; looking at that alone is enough."""
    seconds = RACE_NS // 100
    items = [Item(path, at * seconds, size, kind) for path, at, size, kind in there]
    known = {
        path: row(path, mtime_ns=at * seconds, size=size, variant=kind)._replace(indexed_ns=201 * seconds)
        for path, at, size, kind in held
    }
    stamps = [
        (note.path, note.mtime_ns if note.mtime_ns < note.indexed_ns - RACE_NS else -1, note.size, note.variant)
        for note in known.values()
    ]
    among = doubtful(items, stamps)
    few, rows = [item for item in items if item.path in among], {path: known[path] for path in among & known.keys()}
    assert to_read(few, rows) == to_read(items, known)
    assert gone(rows, few, []) == gone(known, items, [])
    assert len(among) == len(to_read(items, known)) + len(gone(known, items, []))


def test_another_kind_is_another_note():
    """A note that became an index note is written again, whatever its bytes."""
    item = Item("a.md", LONG_AGO, 10, "index")
    assert to_read([item], {"a.md": row("a.md")}) == [(item, "")]


def test_what_is_out_of_reach_is_not_gone():
    """A note leaves where neither it nor a folder above it was only out of reach."""
    known = ["a.md", "deep/b.md", "deep/er/c.md", "deeper/d.md", "cloud.md"]
    skipped = [Skipped("deep/", "cannot be read", is_kept=True), Skipped("cloud.md", "a placeholder", is_kept=True)]
    assert gone(known, [], [*skipped, Skipped("a.md", "too big")]) == ["a.md", "deeper/d.md"]
    assert gone(known, [], [Skipped(".", "no vault", is_kept=True)]) == []
    assert gone(known, [Item("a.md", 0, 0)], [], ["a.md", "cloud.md"]) == ["cloud.md"]


paths = st.sets(st.sampled_from(["a", "b", "c/d", "c/e", "f"]))


@given(paths, paths, paths)
def test_what_stays_and_what_leaves_is_all_there_was(known: set[str], there: set[str], looked_at: set[str]):
    """Nothing leaves that is there or was not looked at; everything else does."""
    leaving = gone(known, [Item(path, 0, 0) for path in there], [], looked_at)
    assert set(leaving) == {path for path in known if path in looked_at and path not in there}


@given(st.lists(st.integers(0, ROUND_PASSAGES * 2), max_size=30))
def test_rounds_are_bounded_and_complete(sizes: list[int]):
    """Everything is in one round, in order; a round ends once it is full."""
    batches = list(rounds(sizes, lambda size: size))
    assert [size for batch in batches for size in batch] == sizes
    for batch in batches:
        assert 1 <= len(batch) <= ROUND_NOTES
        assert sum(batch[:-1]) < ROUND_PASSAGES


@pytest.mark.parametrize("total, most", [(MANY_NOTES, ROUND_NOTES), (MANY_NOTES + 1, MANY_TIMES * ROUND_NOTES)])
def test_rounds_of_very_many_notes_are_larger(total: int, most: int):
    """Fewer commits leave the words in fewer parts; what is read is written all the same, in order."""
    found = [ReadResult(Item(f"{n}.md", 0, 0, "")) for n in range(MANY_TIMES * ROUND_NOTES + 1)]
    batches = list(write_rounds(found, total))
    assert [one for batch in batches for one in batch] == found
    assert max(map(len, batches)) == most

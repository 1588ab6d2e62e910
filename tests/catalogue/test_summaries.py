"""Summaries, kept by content."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.catalogue.summaries import FEW_ROWS, SummaryRow, SummaryStore
from infold.errors import StateUnwritable

ROW = SummaryRow("h1", "note", "general", "Sum of é.", "offline/1", "1", 10, 2)


def test_what_is_appended_is_loaded(tmp_path):
    """Rows come back by content hash, level and lens, from a new store over the same folder."""
    other = replace(ROW, lens="last-known", summary="Other.")
    SummaryStore(tmp_path).append([ROW, other])
    SummaryStore(tmp_path).append([replace(ROW, content_hash="h2")])
    loaded = SummaryStore(tmp_path).load()
    assert loaded[ROW.key] == ROW
    assert loaded[other.key] == other
    assert set(loaded) == {ROW.key, other.key, ("h2", "note", "general")}


def test_an_empty_folder_holds_nothing(tmp_path):
    """No folder, no rows; nothing to append makes no file."""
    store = SummaryStore(tmp_path / "none")
    store.append([])
    assert store.load() == {}
    assert not (tmp_path / "none").exists()


def test_the_last_summary_of_a_content_counts(tmp_path):
    """Made anew with another model, the later row is the summary; of equals the one written last."""
    store = SummaryStore(tmp_path)
    store.append([replace(ROW, summary="new", made=1)])
    store.append([ROW])
    assert store.load()[ROW.key].summary == "new"
    store.append([replace(ROW, summary="one", made=2), replace(ROW, summary="two", made=2)])
    assert store.load()[ROW.key].summary == "two"


def test_the_same_rows_twice_are_one_part(tmp_path):
    """A part is named after its content: writing again after a crash adds nothing."""
    store = SummaryStore(tmp_path)
    store.append([ROW])
    store.append([ROW])
    assert len(list(tmp_path.iterdir())) == 1


def test_a_damaged_part_is_named_and_the_others_count(tmp_path):
    """One bad file loses its own rows only; it is left where it is, and named."""
    store = SummaryStore(tmp_path)
    store.append([ROW])
    store.append([replace(ROW, content_hash="h2")])
    bad = min(tmp_path.iterdir())
    bad.write_bytes(bad.read_bytes()[:20])
    assert len(store.load()) == 1
    assert [bad.name in problem for problem in store.problems] == [True]
    store.compact(least_parts=1)
    assert bad.exists()


def test_compaction_keeps_every_row(tmp_path):
    """Many parts become one, with the same rows; a second time there is nothing to do."""
    store = SummaryStore(tmp_path)
    for number in range(10):
        store.append([replace(ROW, content_hash=f"h{number % 7}", made=number)])
    before = store.load()
    assert store.compact(least_parts=2) == 10
    assert len(list(tmp_path.iterdir())) == 1
    assert SummaryStore(tmp_path).load() == before
    assert store.compact(least_parts=2) == 1


def test_a_settled_store_tells_nothing_of_how_it_came_about(tmp_path):
    """Other orders, other parts, summaries of text that is no more: the same bytes, readable as a dataset by others."""
    import pyarrow.dataset

    rows = [replace(ROW, content_hash=f"h{number}", summary=f"Sum {number}.") for number in range(6)]
    one, other = SummaryStore(tmp_path / "one"), SummaryStore(tmp_path / "other")
    one.append(rows)
    for row in reversed(rows):
        other.append([replace(row, summary="An earlier one.")])
        other.append([replace(row, made=1)])
    other.append([replace(ROW, content_hash="gone")])
    for store in (one, other):
        store.settle([row.key for row in rows[:5]] + [("never", "note", "general")])
    ((first,), (second,)) = (list((tmp_path / name).iterdir()) for name in ("one", "other"))
    assert (first.name, first.read_bytes()) == (second.name, second.read_bytes())
    assert list(one.load().values()) == rows[:5]
    dataset = pyarrow.dataset.dataset(tmp_path / "one")
    assert dataset.count_rows() == 5
    assert dataset.schema.metadata[b"infold-table"] == b"summaries/2"
    assert all(field.metadata[b"description"] for field in dataset.schema)


def test_few_rows_are_lines_and_many_are_a_table(tmp_path):
    """Both are read as one store, one later than the other; compacted they are one table."""
    many = [replace(ROW, content_hash=f"h{number}") for number in range(FEW_ROWS)]
    store = SummaryStore(tmp_path)
    store.append(many)
    store.append([replace(ROW, content_hash="h7", summary="Später: “Öl”\u2028\n", made=1)])
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".jsonl", ".parquet"]
    before = SummaryStore(tmp_path).load()
    assert len(before) == FEW_ROWS
    assert before["h7", "note", "general"].summary == "Später: “Öl”\u2028\n"
    store.compact(least_parts=2)
    assert [path.suffix for path in tmp_path.iterdir()] == [".parquet"]
    assert SummaryStore(tmp_path).load() == before


@pytest.mark.parametrize("text", ["", "{", '"summaries/1"\n', '"summaries/2"\n[1, 2]\n', '"summaries/2"\n{}\n', "\xff"])
def test_lines_that_are_none_are_named(tmp_path, text):
    """Damaged, of another version or of other columns: named, and left where they are."""
    part = tmp_path / "summaries-x.jsonl"
    part.write_bytes(text.encode("latin-1"))
    store = SummaryStore(tmp_path)
    assert store.load() == {}
    assert [part.name in problem for problem in store.problems] == [True]


def test_few_parts_are_left_alone(tmp_path):
    """Compaction waits until it pays."""
    store = SummaryStore(tmp_path)
    store.append([ROW])
    store.append([replace(ROW, content_hash="h2")])
    assert store.compact() == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_a_crash_while_compacting_loses_nothing(tmp_path, monkeypatch):
    """Killed between writing the one part and removing the many: all rows are there, twice at most."""
    store = SummaryStore(tmp_path)
    for number in range(5):
        store.append([replace(ROW, content_hash=f"h{number}")])
    before = store.load()

    def killed(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        store.compact(least_parts=2)
    assert SummaryStore(tmp_path).load() == before


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    """A file stands where the folder should be: the error names it, with what to do."""
    (tmp_path / "state").write_text("x")
    with pytest.raises(StateUnwritable) as caught:
        SummaryStore(tmp_path / "state").append([ROW])
    assert caught.value.hint


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=5), st.integers(0, 3)), max_size=12))
def test_loading_gives_the_latest_of_each_key(tmp_path_factory, rows):
    """Whatever the order of appends: the row made last, of equals the one written last."""
    store = SummaryStore(tmp_path_factory.mktemp("summaries"))
    made = [replace(ROW, content_hash=key, summary=text, made=time) for key, text, time in rows]
    store.append(made)
    wanted: dict[str, SummaryRow] = {}
    for row in made:
        if row.content_hash not in wanted or row.made >= wanted[row.content_hash].made:
            wanted[row.content_hash] = row
    assert {key[0]: row for key, row in store.load().items()} == wanted
    store.compact(least_parts=1)
    assert {key[0]: row for key, row in store.load().items()} == wanted

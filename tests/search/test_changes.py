"""Which notes a sync writes and which it takes away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from infold.search.changes import ROUND_BYTES, ROUND_NOTES, TableNote, changes, rounds

notes = st.dictionaries(
    st.sampled_from("abcdefgh"), st.tuples(st.sampled_from("123"), st.sampled_from(["standard", "daily", "inbox"]))
).map(lambda found: [TableNote(path, *values, 10) for path, values in found.items()])


@given(notes, notes)
def test_changes_lead_from_what_is_held_to_what_the_table_says(before: list[TableNote], after: list[TableNote]):
    """Writing the changed notes and taking the others away makes the index hold the table, the inbox left out."""
    held = {note.path: note.stamp for note in before if note.kind != "inbox"}
    changed, gone = changes(after, held)
    made = {path: stamp for path, stamp in held.items() if path not in gone}
    made |= {note.path: note.stamp for note in changed}
    assert made == {note.path: note.stamp for note in after if note.kind != "inbox"}
    assert changes(after, made) == ([], [])


@given(st.lists(st.integers(0, ROUND_BYTES * 2), max_size=30))
def test_rounds_are_bounded_and_complete(sizes: list[int]):
    """Every note is in one round, in order; a round ends once it is full."""
    rows = [TableNote(str(n), "", "standard", size) for n, size in enumerate(sizes)]
    batches = list(rounds(rows))
    assert [note for batch in batches for note in batch] == rows
    for batch in batches:
        assert 1 <= len(batch) <= ROUND_NOTES
        assert sum(note.size for note in batch[:-1]) < ROUND_BYTES

"""Taking a run back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.errors import RunStateWrong
from infold.inbox.run import RunStatus
from infold.inbox.run_store import RunStore
from infold.inbox.runs import apply_run, recover, save_planned, undo_run
from infold.vault.edits import apply_edits
from tests.fakes.planned import NOTES, PLACES, planned_vault
from tests.fakes.stopping_disk import MOMENTS, Stopped, stopping_at


@pytest.fixture
def applied(tmp_path):
    planned = planned_vault(tmp_path)
    apply_run(planned.workspace, planned.run.id)
    return planned


def test_undo_restores_every_byte(applied):
    """After undo each touched note and the inbox have the bytes they had before the run."""
    result = undo_run(applied.workspace, applied.run.id)
    assert applied.bytes() == applied.before
    assert result.run.status is RunStatus.UNDONE
    assert set(result.restored) == {"inbox.md", "food/bread.md", "tyres.md"}
    assert result.conflicts == ()


def test_a_run_is_undone_once(applied):
    """Undoing again is refused, with the date; a plan has nothing to undo."""
    undo_run(applied.workspace, applied.run.id)
    with pytest.raises(RunStateWrong, match=r"already undone on 20\d\d-\d\d-\d\d"):
        undo_run(applied.workspace, applied.run.id)
    assert applied.bytes() == applied.before


def test_a_plan_cannot_be_undone(tmp_path):
    """Nothing was changed, nothing can be taken back."""
    planned = planned_vault(tmp_path)
    with pytest.raises(RunStateWrong, match="planned"):
        undo_run(planned.workspace, planned.run.id)


def test_later_edits_elsewhere_stay(applied):
    """What a person wrote since, above, below and in the inbox, stays; the run's text goes."""
    applied.write("food/bread.md", applied.read("food/bread.md").replace("# Bread", "# Bread and rolls") + "\nLater.\n")
    applied.write("inbox.md", "Earlier.\n\n" + applied.read("inbox.md") + "\nLater.\n")
    result = undo_run(applied.workspace, applied.run.id)
    assert result.run.status is RunStatus.UNDONE
    assert (
        applied.read("food/bread.md") == NOTES["food/bread.md"].replace("# Bread", "# Bread and rolls") + "\nLater.\n"
    )
    inbox = applied.read("inbox.md")
    assert inbox.startswith("Earlier.\n")
    assert inbox.endswith("\nLater.\n")
    assert all(inbox.count(text) == 1 for text, _, _ in PLACES)


def test_an_older_run_is_taken_back_from_under_a_newer_one(applied):
    """Two runs on one note: undoing the first leaves the second's text, undoing both leaves the note as it was."""
    bread = applied.read("food/bread.md")
    after = apply_edits(bread, [("# Bread", "# Bread\n\nSecond run.")])
    second = save_planned(
        applied.workspace,
        applied.run.model_copy(update={"id": "", "paragraphs": (), "chunks": ()}),
        {"food/bread.md": (bread.encode(), after.encode())},
    )
    apply_run(applied.workspace, second.id)
    assert undo_run(applied.workspace, applied.run.id).run.status is RunStatus.UNDONE
    wanted = NOTES["food/bread.md"].replace("# Bread", "# Bread\n\nSecond run.")
    assert applied.read("food/bread.md") == wanted
    undo_run(applied.workspace, second.id)
    assert applied.bytes() == applied.before


def test_what_was_rewritten_since_stays_and_is_named(applied):
    """The person's form of the run's paragraph stands; the result says which text, where and why."""
    mine = applied.read("food/bread.md").replace("Rye cools for a whole day.", "Rye cools for at least two days.")
    applied.write("food/bread.md", mine)
    result = undo_run(applied.workspace, applied.run.id)
    assert result.run.status is RunStatus.PARTLY_UNDONE
    (conflict,) = result.conflicts
    assert conflict.path == "food/bread.md"
    assert "Rye cools for a whole day." in conflict.text
    assert "changed since" in conflict.reason
    assert "at least two days" in applied.read("food/bread.md")
    assert "A stone gives" not in applied.read("food/bread.md")
    assert applied.bytes()["tyres.md"] == applied.before["tyres.md"]


def test_a_deleted_note_is_said_not_created_again(applied):
    """A note that a person deleted stays deleted; the rest is taken back."""
    (applied.workspace.vault / "tyres.md").unlink()
    result = undo_run(applied.workspace, applied.run.id)
    assert [(c.path, "deleted" in c.reason) for c in result.conflicts] == [("tyres.md", True)]
    assert not (applied.workspace.vault / "tyres.md").exists()
    assert applied.bytes()["inbox.md"] == applied.before["inbox.md"]


def test_an_inbox_written_anew_gets_the_paragraphs_at_its_end(applied):
    """Where the inbox cannot be merged, nothing is lost: the paragraphs follow what stands there."""
    applied.write("inbox.md", "Quite another text.")
    undo_run(applied.workspace, applied.run.id)
    inbox = applied.read("inbox.md")
    assert inbox.startswith("Quite another text.")
    assert all(inbox.count(text) == 1 for text, note, _ in PLACES if note)


def test_a_deleted_inbox_comes_back_with_the_paragraphs(applied):
    """The run's paragraphs must stand somewhere."""
    applied.workspace.inbox.unlink()
    undo_run(applied.workspace, applied.run.id)
    assert (
        applied.read("inbox.md") == "\n\n".join(text for text, note, _ in PLACES if note).replace("\n\n", "\n\n") + "\n"
    )


@pytest.mark.parametrize("moment", MOMENTS)
def test_stopped_at_any_effect_the_next_start_finishes_the_undo(tmp_path, moment):
    """Stopped at any write, rename or removal of an undo and recovered: every byte is back.

    Where nothing had begun, the run stands applied, and can be undone.
    """
    effects = 0
    for effect in range(100):
        planned = planned_vault(tmp_path / str(effect))
        apply_run(planned.workspace, planned.run.id)
        try:
            with stopping_at(effect, moment):
                undo_run(planned.workspace, planned.run.id)
            break
        except Stopped:
            effects += 1
        recover(planned.workspace)
        if RunStore(planned.workspace.runs).load(planned.run.id).undone_at is None:
            assert planned.bytes() == planned.after
            undo_run(planned.workspace, planned.run.id)
        assert planned.bytes() == planned.before
        with pytest.raises(RunStateWrong, match="already undone"):
            undo_run(planned.workspace, planned.run.id)
    assert effects > 10


LINE = st.sampled_from(["- a", "b b", "", "# c", "d  ", "\te"])


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(LINE, max_size=6),
    st.lists(LINE, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
def test_undo_restores_every_byte_of_any_note(tmp_path_factory, above, below, line_end, has_bom, ends_open):
    """Any note, any line ends, BOM or not, last line end or not: applied and undone, it is as it was."""
    text = ("\ufeff" if has_bom else "") + line_end.join([*above, "§anchor§", *below]) + ("" if ends_open else line_end)
    places = [("New paragraph.", "n.md", "§anchor§"), ("Another one.", None, None)]
    planned = planned_vault(tmp_path_factory.mktemp("undo"), {"n.md": text}, places)
    apply_run(planned.workspace, planned.run.id)
    assert "New paragraph." in planned.read("n.md")
    undo_run(planned.workspace, planned.run.id)
    assert planned.bytes() == planned.before

"""Whole evaluations on small vaults: the vault untouched, cases kept, stopped and taken up again, compared in pairs."""

from __future__ import annotations

from collections import Counter

import pytest

from infold.environment import Environment
from infold.errors import CapReached, EndpointUnreachable, UsageError
from infold.evaluation.arms import load_arm, plan_arms
from infold.evaluation.comparing import compare
from infold.evaluation.evaluating import evaluate, finished_cases
from infold.evaluation.figures import broken, damaged, lost
from infold.evaluation.findings import find
from infold.evaluation.report import write_report
from infold.evaluation.trial import case_key
from infold.settings import load_params
from infold.vault_evaluation import carry_out_case
from tests.conftest import REPOSITORY
from tests.evaluation.conftest import arm, note_text, plan, result, verdict, write_vault


class Quick:
    """Carries no case out: every paragraph stays in the inbox. Counts, and stops before the `stops_at`-th with `error`."""

    def __init__(self, error: Exception | None = None, stops_at: int = 0) -> None:
        self.ran: list[int] = []
        self._error, self._stops_at = error, stops_at

    async def __call__(self, case, place, environment):
        if self._error and len(self.ran) == self._stops_at:
            raise self._error
        self.ran.append(case.seed)
        verdicts = (
            verdict(n, "left", kind=item.kind, path=item.path, text=item.text) for n, item in enumerate(case.inbox, 1)
        )
        return result(*verdicts, seed=case.seed).model_copy(update={"key": case_key(case, place.params)})


def bytes_of(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


async def test_the_vault_is_only_read(vault, place, tmp_path, monkeypatch):
    """Not a byte, not a time of a file changes, nothing is added, and no copy is left behind."""
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    (vault / "inbox.md").write_text("Something waits here.\n")
    (vault / "picture.png").write_bytes(b"\x89PNG")
    before = bytes_of(vault)
    workspace = place(vault)
    evaluation = await evaluate(workspace, plan(workspace.params), Environment(), carry_out_case)
    assert bytes_of(vault) == before
    assert list(copies.glob("infold-evaluation-*")) == []
    assert not any("Something waits" in v.text for v in evaluation.arms[0].cases[0].verdicts)


async def test_every_paragraph_is_accounted_for(vault, place):
    """A vault of five subjects: all of them judged, none lost, no note damaged, most at home."""
    workspace = place(vault)
    evaluation = await evaluate(workspace, plan(workspace.params), Environment(), carry_out_case)
    first = evaluation.arms[0]
    assert [len(case.verdicts) for case in first.cases] == [10]
    assert (lost(first), damaged(first)) == (0, 0)
    found = find(evaluation).figures
    assert found["home"].value >= 0.7
    assert found["copies"].value == 1.0
    assert all(set(v.guesses) == {"bm25", "dense", "grep"} for case in first.cases for v in case.verdicts)


async def test_nothing_that_belongs_together_is_parted(place):
    """The demo's vault, with its lists, tables and code: structure broken 0, with items and whole lists put back too."""
    workspace = place(REPOSITORY / "data" / "vault")
    evaluation = await evaluate(workspace, plan(workspace.params, paragraphs=24), Environment(), carry_out_case)
    (case,) = evaluation.arms[0].cases
    put_back = Counter(v.kind for v in case.verdicts if v.ending != "left")
    assert min(put_back["item"], put_back["list"]) > 0, put_back
    assert broken(evaluation.arms[0]) == 0, case.broken


async def test_finished_cases_are_not_carried_out_again(vault, place):
    """The second time nothing runs and the result is the same; a changed note, setting or seed runs anew."""

    async def ran(*changes, **more):
        workspace, quick = place(vault, *changes), Quick()
        evaluation = await evaluate(workspace, plan(workspace.params, **more), Environment(), carrier=quick)
        return quick.ran, evaluation.arms[0].cases

    ran_first, first = await ran()
    assert ran_first == [0]
    assert await ran() == ([], first)
    assert (await ran(seeds=(0, 1)))[0] == [1]
    assert (await ran("exploration.search_candidates=0"))[0] == [0]
    assert (await ran("librarian.timeout_seconds=7", "integrate.concurrency=2"))[0] == []
    (vault / "bees.md").write_text(note_text("bees") + "\nOne more line.\n")
    assert (await ran())[0] == [0]


async def test_a_stopped_evaluation_goes_on_where_it_stopped(vault, place):
    """The endpoint goes away after the first case: that case is kept; the next call carries out the second alone."""
    workspace = place(vault)
    wanted = plan(workspace.params, seeds=(0, 1))
    failing = Quick(EndpointUnreachable("Nothing answers."), stops_at=1)
    with pytest.raises(EndpointUnreachable):
        await evaluate(workspace, wanted, Environment(), carrier=failing)
    quick = Quick()
    evaluation = await evaluate(workspace, wanted, Environment(), carrier=quick)
    assert quick.ran == [1]
    assert len(evaluation.arms[0].cases) == 2


async def test_at_the_cap_only_cases_that_every_arm_finished_count(vault, place):
    """The cap is reached in the second arm's second case: one case of each arm is left, and the reason is said."""
    workspace = place(vault)
    capped = Quick(CapReached("No more.", hint="Raise it."), stops_at=3)
    wanted = plan(workspace.params, "exploration.search_candidates=0", seeds=(0, 1))
    evaluation = await evaluate(workspace, wanted, Environment(), carrier=capped)
    assert [len(each.cases) for each in evaluation.arms] == [1, 1]
    assert evaluation.stopped == "3 of 4 cases are finished. No more. Raise it."


async def test_arms_are_compared_on_the_same_paragraphs(vault, place, tmp_path):
    """Two settings, and an evaluation made before: the same inboxes, so each difference is of pairs."""
    workspace = place(vault)
    first = await evaluate(workspace, plan(workspace.params), Environment(), carrier=Quick())
    write_report(tmp_path / "first", find(first))
    compared = ("exploration.max_files_checked_out=1 exploration.search_candidates=0", str(tmp_path / "first"))
    evaluation = await evaluate(workspace, plan(workspace.params, *compared), Environment(), carrier=Quick())
    base, other, earlier = evaluation.arms
    assert other.settings == ("exploration.max_files_checked_out=1", "exploration.search_candidates=0")
    assert [v.text for v in other.cases[0].verdicts] == [v.text for v in base.cases[0].verdicts]
    same = compare(base, earlier, 200)
    assert {d.value for d in same.differences} <= {0, None}
    assert (same.gained, same.lost) == ((), ())


def test_a_difference_is_counted_by_hand():
    """Of four paragraphs the other arm gets two more and one less right: +1 of 4, and each change is named."""
    base = arm(result(verdict(1), verdict(2, "left"), verdict(3, "elsewhere"), verdict(4, "elsewhere")))
    other = arm(result(verdict(1, "left"), verdict(2), verdict(3), verdict(4, "elsewhere")), name="other")
    found = compare(base, other, 400)
    home = next(d for d in found.differences if d.name == "home")
    assert (home.base, home.other, home.value) == (0.25, 0.5, 0.25)
    assert home.is_gain
    assert not home.is_clear
    assert [change.base.n for change in found.gained] == [2, 3]
    assert [change.base.n for change in found.lost] == [1]


def test_arms_without_a_case_in_common_cannot_be_compared():
    """Other paragraphs, no comparison: an error with what has to be the same."""
    with pytest.raises(UsageError, match="no case in common"):
        compare(arm(result(verdict(1))), arm(result(verdict(1, text="Other."))), 100)


@pytest.mark.parametrize("entry", ["nowhere", "exploration.rounds=1", "exploration.search_candidates=many", " "])
def test_what_cannot_be_compared_with_is_refused(entry):
    """Neither a setting nor a result, a misspelt setting, a value out of range, nothing."""
    with pytest.raises(UsageError):
        plan_arms(load_params(None), [entry])


def test_a_result_in_another_shape_is_no_result(tmp_path):
    """A file of another program, or cut short, is refused by name."""
    (tmp_path / "result.json").write_text('{"arms": 3}')
    with pytest.raises(UsageError, match=r"result\.json"):
        load_arm(tmp_path / "result.json")


async def test_a_kept_result_that_is_damaged_is_made_again(vault, place):
    """A kept case that does not read as one counts as absent."""
    workspace = place(vault)
    wanted = plan(workspace.params)
    first = await evaluate(workspace, wanted, Environment(), carrier=Quick())
    finished_cases(workspace).put(first.arms[0].cases[0].key, {"not": "a case"})
    quick = Quick()
    again = await evaluate(workspace, wanted, Environment(), carrier=quick)
    assert quick.ran == [0]
    assert again.arms == first.arms


async def test_one_note_and_files_that_are_no_text(tmp_path, place):
    """A vault of one note works and says that home means nothing; what is no text is named, as in every run."""
    vault = write_vault(tmp_path / "one", {"bees.md": note_text("bees"), "broken.md": b"\xff\xfe\x00bad\x81"})
    workspace = place(vault)
    evaluation = await evaluate(workspace, plan(workspace.params), Environment(), carry_out_case)
    assert any("one note" in warning for warning in evaluation.warnings)
    (case,) = evaluation.arms[0].cases
    assert [skipped.path for skipped in case.skipped] == ["broken.md"]
    assert case.key == case_key_of(workspace)


def case_key_of(workspace):
    from infold.evaluation.evaluating import draw_cases

    _, (case,) = draw_cases(workspace, plan(workspace.params))
    return case_key(case, workspace.params)

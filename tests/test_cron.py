"""Cron fields, checked before anything starts."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.cron import check_cron
from infold.errors import SettingInvalid
from infold.settings import load_params

LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def items(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.integers(low, high)
    spans = st.tuples(numbers, numbers).map(lambda pair: f"{min(pair)}-{max(pair)}")
    bases = st.one_of(st.just("*"), numbers.map(str), spans)
    stepped = st.tuples(st.one_of(st.just("*"), spans), st.integers(1, high)).map(lambda pair: f"{pair[0]}/{pair[1]}")
    return st.lists(st.one_of(bases, stepped), min_size=1, max_size=3).map(",".join)


@given(st.tuples(*(items(*limits) for limits in LIMITS)).map(" ".join))
def test_what_cron_allows_is_taken(said):
    """Every field of numbers, ranges, steps and lists within its limits is a schedule, as it was written."""
    assert check_cron(said) == said


@pytest.mark.prefect
@hypothesis.settings(deadline=None)  # the first one imports Prefect
@given(st.text(alphabet="0123456789*/-, monjanAZ#L", max_size=24))
def test_what_is_taken_can_be_scheduled(said):
    """Nothing passes the check that the scheduler would refuse fourteen seconds later."""
    from prefect._vendor.croniter import croniter  # type: ignore[attr-defined]

    try:
        taken = check_cron(said)
    except ValueError:
        return
    assert taken is None or croniter.is_valid(taken)


@pytest.mark.parametrize("said", ["0 6 * * mon-fri", "0 0 1 jan *", "*/15 8-18 * * *", " 59  23 * * * "])
def test_names_and_spaces_are_taken(said):
    """Months and days go by name too; what lies between the fields does not matter."""
    assert check_cron(said) == " ".join(said.split())


@pytest.mark.parametrize(
    "said, about",
    [
        ("banana", "five fields"),
        ("0 6 * *", "five fields"),
        ("60 6 * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 6 0 * *", "day of the month"),
        ("0 6 * 13 *", "month"),
        ("0 6 * * 8", "day of the week"),
        ("5-1 * * * *", "minute"),
        ("*/0 * * * *", "minute"),
        ("٣ * * * *", "minute"),
    ],
)
def test_what_is_wrong_is_named(said, about):
    """The field that is wrong is named, with what it may be; as a setting too, before anything has started."""
    with pytest.raises(ValueError, match=about):
        check_cron(said)
    with pytest.raises(SettingInvalid, match=r"schedules\.integrate") as refused:
        load_params(None, [f"schedules.integrate={said!r}"])
    assert about in str(refused.value)


def test_nothing_is_no_schedule():
    """No fields and the empty text turn a schedule off."""
    assert check_cron(None) is check_cron("") is check_cron("  ") is None
    assert load_params(None, ["schedules.preprocess=null"]).schedules.preprocess is None

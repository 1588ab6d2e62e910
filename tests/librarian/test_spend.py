"""The meter: what a call may take is reserved before it, and what it took is counted after it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.errors import CapReached, SettingInvalid
from infold.librarian.prices import price_of
from infold.librarian.spend import CostMeter, Usage


def _price(prompt: int, cached: int, completion: int) -> float:
    return (prompt - cached + cached / 10 + completion * 8) / 1_000_000


def test_usages_add_up_and_unknown_stays_unknown():
    """Every figure is summed; one unknown price makes the sum unknown."""
    one, two = Usage(calls=1, prompt_tokens=10, completion_tokens=2, usd=0.5), Usage(calls=2, usd=0.25, reused=3)
    assert one + two == Usage(calls=3, prompt_tokens=10, completion_tokens=2, usd=0.75, reused=3)
    assert (one + Usage(usd=None)).usd is None
    assert sum([one, two], Usage()) == one + two


def test_an_unknown_price_is_said():
    """A reader sees that the price is unknown, not a zero."""
    assert "price unknown" in str(Usage(calls=1, usd=None))
    assert "0.5000 USD" in str(Usage(calls=1, usd=0.5, reused=2))


def test_a_dollar_cap_without_a_price_is_refused():
    """The cap cannot be held, so it is not taken; the hint names the one that can."""
    with pytest.raises(SettingInvalid, match="max_usd") as raised:
        CostMeter(max_usd=1.0)
    assert "max_tokens" in raised.value.hint


def test_a_cap_of_nothing_lets_nothing_through():
    """0 is a cap, not the absence of one."""
    with pytest.raises(CapReached):
        CostMeter(max_tokens=0).reserve("x", 1, 1)
    with pytest.raises(CapReached):
        CostMeter(max_usd=0, price=_price).reserve("x", 1, 1)


def test_released_room_can_be_used_again():
    """A call that failed unpaid gives its room back."""
    spend = CostMeter(max_tokens=100)
    held = spend.reserve("x", 50, 50)
    with pytest.raises(CapReached):
        spend.reserve("y", 1, 1)
    spend.release(held)
    spend.settle(spend.reserve("y", 50, 50), 40, 10)
    assert spend.usage.tokens == 50


def test_an_endpoint_that_counts_more_widens_later_reservations():
    """Where the endpoint's tokenizer counts double, the next call reserves double."""
    spend = CostMeter(max_tokens=500)
    spend.settle(spend.reserve("x", 100, 10), 200, 10)
    with pytest.raises(CapReached):
        spend.reserve("y", 150, 1)
    spend.reserve("y", 140, 1)


@given(
    cap=st.integers(0, 3000),
    calls=st.lists(st.tuples(st.integers(1, 200), st.integers(1, 200), st.floats(0, 1)), max_size=40),
)
def test_no_order_of_calls_passes_the_cap(cap, calls):
    """Whatever is reserved, settled and released in whatever order: the cap holds while answers keep their limit."""
    spend = CostMeter(max_tokens=cap)
    open_calls = []
    for prompt, most, share in calls:
        try:
            open_calls.append((spend.reserve("x", prompt, most), prompt, int(most * share)))
        except CapReached:
            if open_calls:
                held, counted, said = open_calls.pop(0)
                spend.settle(held, counted, said)
    for held, counted, said in open_calls:
        spend.settle(held, counted, said)
    assert spend.usage.tokens <= cap


def test_threads_side_by_side_cannot_pass_the_cap():
    """The meter is shared by threads of a flow."""
    spend = CostMeter(max_usd=0.01, price=_price)

    def call(_: int) -> bool:
        try:
            held = spend.reserve("x", 1000, 100)
        except CapReached:
            return False
        spend.settle(held, 1000, 100)
        return True

    with ThreadPoolExecutor(16) as pool:
        done = sum(pool.map(call, range(200)))
    assert spend.usage.usd <= 0.01
    assert done == spend.usage.calls == 5


def test_cached_prompt_tokens_are_cheaper():
    """What the endpoint read from its prompt cache is priced as such."""
    spend = CostMeter(price=_price)
    usage = spend.settle(spend.reserve("x", 1000, 10), 1000, 10, cached_tokens=900)
    assert usage.usd == pytest.approx((100 + 90 + 80) / 1_000_000)


def test_prices_come_from_the_kept_list():
    """OpenAI's own endpoint and listed ones are known by model; others are unknown, whatever the model is called."""
    known = price_of("gpt-5-mini", None)
    assert known is not None
    assert known(1_000_000, 0, 1_000_000) > known(1_000_000, 900_000, 1_000_000) > 0
    assert price_of("gpt-5-mini", "https://api.openai.com/v1") is not None
    assert price_of("no-such-model", None) is None
    assert price_of("gpt-5-mini", "http://127.0.0.1:11434/v1") is None

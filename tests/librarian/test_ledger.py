"""What a day costs, for all processes of a vault together."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from infold.errors import CapReached, SettingInvalid
from infold.librarian.ledger import Ledger
from infold.librarian.spend import CostMeter


@pytest.fixture
def file(tmp_path):
    """Where a ledger lies."""
    return tmp_path / "kept" / "ledger.sqlite"


def test_a_day_counts_what_was_entered_until_it_is_settled(file):
    """A reservation counts whole, then what the call took; a call that was not paid counts nothing."""
    ledger = Ledger(file)
    assert ledger.today().tokens == 0
    assert not file.exists()
    first, second = ledger.enter(100, 0.5), ledger.enter(50, 0.25)
    assert (ledger.today().tokens, ledger.today().usd) == (150, 0.75)
    ledger.settle(first, 80, 0.4)
    ledger.release(second)
    assert (ledger.today().tokens, ledger.today().usd) == (80, 0.4)


@pytest.mark.parametrize("caps", [{"max_tokens": 100}, {"max_usd": 1.0}])
def test_a_call_that_might_pass_the_cap_of_the_day_is_not_made(file, caps):
    """The refusal names cap and setting, and enters nothing; another day's entries do not count."""
    ledger = Ledger(file, **caps)
    ledger.enter(60, 0.6)
    with pytest.raises(CapReached, match="a day") as raised:
        ledger.enter(41, 0.41)
    assert "per_day" in raised.value.hint
    assert ledger.today().tokens == 60


def test_a_day_begins_with_nothing(file, monkeypatch):
    """At midnight, local time, the whole cap is there again."""
    ledger = Ledger(file, max_tokens=100)
    monkeypatch.setattr("infold.librarian.ledger._today", lambda: "2026-01-01")
    ledger.enter(100, 0)
    monkeypatch.setattr("infold.librarian.ledger._today", lambda: "2026-01-02")
    ledger.enter(100, 0)


def test_the_cap_holds_for_several_meters_and_threads_at_once(file):
    """Eight runs that reserve side by side never pass the cap of the day together."""

    def spend(_: int) -> int:
        meter = CostMeter(ledger=Ledger(file, max_tokens=1000))
        paid = 0
        for _ in range(10):
            with suppress(CapReached):
                held = meter.reserve("chunk", 10, 20)
                paid += meter.settle(held, 10, 15).tokens
        return paid

    with ThreadPoolExecutor(8) as crowd:
        paid = sum(crowd.map(spend, range(8)))
    assert paid == Ledger(file).today().tokens
    assert 900 < paid <= 1000


def test_the_cap_holds_across_processes_and_a_killed_one_counts_what_it_reserved(file):
    """What another process entered counts, also where it died before its answer came."""
    code = (
        "import os, sys; from pathlib import Path; from infold.librarian.ledger import Ledger;"
        "Ledger(Path(sys.argv[1])).enter(70, 0.0); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=False, timeout=60)
    assert Ledger(file).today().tokens == 70
    with pytest.raises(CapReached):
        Ledger(file, max_tokens=100).enter(31, 0)


def test_a_cap_in_dollars_needs_a_price(file):
    """Refused at once, naming the setting that would do."""
    with pytest.raises(SettingInvalid, match="max_usd_per_day") as raised:
        CostMeter(ledger=Ledger(file, max_usd=1.0))
    assert "max_tokens_per_day" in raised.value.hint

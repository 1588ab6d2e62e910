"""What may cost money is told first, and agreed to by a token or a cap."""

from __future__ import annotations

import os
import time

import pytest

import infold
from infold.errors import UsageError
from infold.librarian.estimate import Estimate
from infold.operations.inbox import InboxIntegrateRequest, inbox_integrate
from infold.operations.spending import GOOD_SECONDS, quote_first

pytestmark = pytest.mark.usefixtures("nowhere")
EXPECTED = Estimate(calls=(2, 5), prompt_tokens=(100, 200), completion_tokens=(10, 20), usd=None)


@pytest.fixture
def vault(tmp_path):
    """A vault whose librarian would be paid."""
    (tmp_path / "vault").mkdir()
    changes = ["librarian.kind=model", "librarian.max_tokens_per_day=5000"]
    with infold.open(tmp_path / "vault", state=tmp_path / "state", changes=changes) as opened:
        yield opened


def quoted(vault, **request):
    """What is answered first."""
    return quote_first(vault, "inbox_integrate", InboxIntegrateRequest(**request), lambda: EXPECTED)


def test_without_agreement_the_answer_is_an_estimate(vault):
    """Calls, tokens and price from low to high, the caps that hold besides, and a token."""
    quote = quoted(vault)
    assert (quote.calls, quote.tokens, quote.usd) == ((2, 5), (110, 220), None)
    assert "5,000 tokens a day" in quote.cap


def test_the_same_request_with_its_token_goes_on_once(vault, tmp_path):
    """Also for another process; a second time the token is no agreement any more."""
    token = quoted(vault, dry_run=True).token
    with infold.open(tmp_path / "vault", state=tmp_path / "state", changes=list(vault_changes(vault))) as other:
        assert quoted(other, dry_run=True, token=token) is None
    with pytest.raises(UsageError, match="no estimate"):
        quoted(vault, dry_run=True, token=token)


def vault_changes(vault) -> tuple[str, ...]:
    """The settings of the vault above."""
    librarian = vault.params.librarian
    return (f"librarian.kind={librarian.kind}", f"librarian.max_tokens_per_day={librarian.max_tokens_per_day}")


def test_a_token_agrees_to_no_other_request(vault):
    """A dry run that was agreed to is not a real run."""
    token = quoted(vault, dry_run=True).token
    with pytest.raises(UsageError, match="another request"):
        quoted(vault, dry_run=False, token=token)
    assert quoted(vault, dry_run=True, token=token) is None


def test_a_token_ends_after_an_hour_and_a_made_up_one_is_none(vault):
    """Prices and inboxes change; a token is never a path."""
    token = quoted(vault).token
    file = vault.workspace.spending / "quotes" / token
    old = time.time() - GOOD_SECONDS - 1
    os.utime(file, (old, old))
    for made in (token, "0" * 16, "../ledger.sqlite"):
        with pytest.raises(UsageError, match="no estimate"):
            quoted(vault, token=made)
    quoted(vault)
    assert not file.exists(), "old estimates are swept"


def test_a_cap_of_the_caller_is_an_agreement(vault):
    """It spends at once; what the cap is holds in the run."""
    assert quoted(vault, max_tokens=0) is None


def test_nothing_to_do_and_nothing_to_pay_ask_for_no_agreement(vault, tmp_path):
    """An empty inbox, and the offline librarian."""
    assert quote_first(vault, "inbox_integrate", InboxIntegrateRequest(), lambda: None) is None
    with infold.open(tmp_path / "vault", state=tmp_path / "state") as offline:
        assert quoted(offline) is None


def test_an_estimate_spends_nothing_and_writes_nothing(vault, tmp_path, monkeypatch):
    """The whole operation: no run, no note changed, status `estimate`."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    (tmp_path / "vault" / "inbox.md").write_text("The pump hums.\n")
    answer = inbox_integrate(vault, InboxIntegrateRequest())
    assert (answer.status, answer.run) == ("estimate", None)
    assert answer.quote is not None
    assert answer.quote.calls[0] > 0
    assert vault.runs.list() == []
    assert (tmp_path / "vault" / "inbox.md").read_text() == "The pump hums.\n"

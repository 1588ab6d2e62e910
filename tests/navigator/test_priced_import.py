"""An import that a model is paid for: the price first, its agreement, the bill beside the estimate, nothing paid twice."""

from __future__ import annotations

from itertools import count

import pytest

import infold
from infold.errors import EnvironmentFault, UsageError
from infold.operations.navigator_import import ImportRequest, import_
from tests.fakes.openai_server import fault
from tests.small_vaults import TWO_SUBJECTS

CHANGES = ["search.embedding=static", "librarian.kind=model", "librarian.model=fake"]


@pytest.fixture
def paid(folder, tmp_path, model_server):
    """A vault whose notes say enough for a model to have something to sum up."""
    sentence = "In week {} the beds were dug over, the soil was tested, and what grew there was written down by hand. "
    week = count(1)
    for number in range(6):
        parts = (f"## Part {n}\n\n" + "".join(sentence.format(next(week)) for _ in range(6)) for n in range(5))
        (folder / f"log {number}.md").write_text(f"# Log {number}\n\n" + "\n\n".join(parts) + "\n")
    with infold.open(folder, state=tmp_path / "state", changes=CHANGES) as opened:
        yield opened


def test_the_estimate_comes_first_and_the_bill_is_near_it(paid, model_server):
    """Without agreement nothing is imported or asked; with its token it is, and takes what was told within a tenth."""
    first = import_(paid, ImportRequest(paths=(".",)))
    assert first.quote is not None
    assert model_server.asked == []
    assert paid.navigator_store.choices.imports() == {}
    assert sum(sum(each.tokens) for each in first.by_note) == sum(first.quote.tokens)
    done = import_(paid, ImportRequest(paths=(".",), token=first.quote.token))
    assert (done.notes, done.warnings) == (len(TWO_SUBJECTS) + 6, ())
    assert model_server.counts == {"ArticleSummaries": first.quote.calls[0]}
    assert done.usage.tokens == pytest.approx(first.estimated_tokens, rel=0.1)
    ((_, estimated, billed),) = paid.navigator_store.choices.bills()
    assert (estimated, billed) == (first.estimated_tokens, done.usage.tokens)
    assert paid.navigator_store.dirty() == {}


def test_how_far_bills_were_from_their_estimates_is_told_with_the_next(paid):
    """Null before the first; then what all took, as a share of what was expected."""
    first = import_(paid, ImportRequest(paths=("garden",)))
    assert first.billed_share is None
    done = import_(paid, ImportRequest(paths=("garden",), token=first.quote.token))
    share = import_(paid, ImportRequest(paths=("work",))).billed_share
    assert share == pytest.approx(done.usage.tokens / first.estimated_tokens, abs=0.001)


def test_a_token_agrees_once_and_to_nothing_else(paid, model_server):
    """Another import needs an estimate of its own; what is already done costs nothing and needs none."""
    token = import_(paid, ImportRequest(paths=("garden",))).quote.token
    with pytest.raises(UsageError):
        import_(paid, ImportRequest(paths=("work",), token=token))
    import_(paid, ImportRequest(paths=("garden",), token=token))
    asked = len(model_server.asked)
    again = import_(paid, ImportRequest(paths=("garden",)))
    assert (again.quote, again.summaries, again.usage.tokens) == (None, 0, 0)
    assert len(model_server.asked) == asked


def test_what_was_paid_before_a_fault_is_not_paid_again(folder, tmp_path, model_server, monkeypatch):
    """The endpoint refuses in the middle: what was answered is kept, and the next import asks for the rest only."""
    whole = model_server.reply_to
    monkeypatch.setattr(
        model_server,
        "reply_to",
        lambda asked: whole(asked) if len(model_server.asked) <= 2 else fault(401, code="invalid_api_key"),
    )
    with infold.open(folder, state=tmp_path / "state", changes=[*CHANGES, "integrate.concurrency=1"]) as vault:
        first = import_(vault, ImportRequest(paths=(".",)))
        with pytest.raises(EnvironmentFault):
            import_(vault, ImportRequest(paths=(".",), token=first.quote.token))
    monkeypatch.setattr(model_server, "reply_to", whole)
    with infold.open(folder, state=tmp_path / "state", changes=CHANGES) as vault:
        rest = import_(vault, ImportRequest(paths=(".",)))
        assert rest.quote.calls[0] == first.quote.calls[0] - 2
        import_(vault, ImportRequest(paths=(".",), token=rest.quote.token))
        assert vault.navigator_store.dirty() == {}
    assert model_server.repeated == []
    answered = sum(asked.status == 200 for asked in model_server.asked)
    assert answered == first.quote.calls[0]

"""What an evaluation with a model will take, before it is started.

Each case is a run of its own, so the estimate of a run is taken case by case. Summaries are paid for once where the
note stays the same from case to case; what is kept from before is not foreseen, so it may cost less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from infold.evaluation.cases import Case
from infold.inbox.paragraphs import number_paragraphs
from infold.librarian.estimate import Estimate, estimate
from infold.librarian.spend import Price
from infold.settings import Params
from infold.text import token_count, word_count


def expected(cases: Sequence[Case], arms: Iterable[Params], price: Price | None) -> Estimate | None:
    """All cases of all arms that ask a model; None where none does."""
    found = [
        estimate(
            [entry.paragraph for entry in number_paragraphs(case.inbox_text)],
            _summarised(case, params, is_first=n == 0),
            params,
            price,
        )
        for params in arms
        if params.librarian.kind == "model"
        for n, case in enumerate(cases)
    ]
    return _together(found) if found else None


def _summarised(case: Case, params: Params, *, is_first: bool) -> list[int]:
    """The tokens of the notes that are summarised anew: all of them once, those that were cut each time."""
    notes: Mapping[str, str] = case.notes
    low = params.summary.summary_target_words[0]
    asked = notes if is_first else case.changed
    return [token_count(notes[path]) for path in sorted(asked) if word_count(notes[path]) >= low]


def _together(found: Sequence[Estimate]) -> Estimate:
    usd = [each.usd for each in found if each.usd is not None]
    return Estimate(
        calls=_sum([each.calls for each in found]),
        prompt_tokens=_sum([each.prompt_tokens for each in found]),
        completion_tokens=_sum([each.completion_tokens for each in found]),
        usd=(sum(low for low, _ in usd), sum(high for _, high in usd)) if len(usd) == len(found) else None,
    )


def _sum(ranges: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(low for low, _ in ranges), sum(high for _, high in ranges)

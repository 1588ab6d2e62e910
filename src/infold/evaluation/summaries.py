"""How good the summaries are: their length, whether they say what the note says, and whether they tell notes apart.

A note that is its own summary, and one summarised from those it links to, says nothing about the first two: only
summaries made from the note's own text are judged by them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from infold.evaluation.intervals import Interval, Resampling
from infold.inbox.run import RunPart
from infold.search.languages import detect_language
from infold.search.terms import encoder, query_weights, tokens
from infold.text import word_count
from infold.vault.records import Note

LEAST_CONTENT_CHARACTERS: Final = 4  # shorter words are mostly grammar
RESAMPLES: Final = 2000


class SummaryVerdict(RunPart):
    """One note's summary. `kept` is the share of its content words that the note has; a rank is None if not found."""

    path: str
    words: int
    is_own_text: bool  # the note is its own summary: too short for one
    is_within: bool
    kept: float
    missing: tuple[str, ...]  # content words that the note does not have
    note_rank: int | None  # of the note, for its summary as the question
    summary_rank: int | None  # of the summary among all summaries, for the note's title and headings


class SummariesEvaluation(RunPart):
    """All summaries of a vault, judged."""

    vault: str
    created_at: str
    version: str
    librarian: str
    target_words: tuple[int, int]
    verdicts: tuple[SummaryVerdict, ...]


class Ranks:
    """BM25 over whole texts, as search stems them, for the rank of one text among all."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {path: _terms(text) for path, text in texts.items()}
        self._mean = sum(sum(found.values()) for found in self._texts.values()) / max(1, len(self._texts)) or 1.0
        self._holding: dict[str, int] = {}
        for found in self._texts.values():
            for term in found:
                self._holding[term] = self._holding.get(term, 0) + 1

    def rank(self, text: str, path: str) -> int | None:
        """The rank of `path` for this question, from 1; None where they share no word."""
        weights = query_weights(text)
        scores = {other: self._score(weights, found) for other, found in self._texts.items()}
        own = scores.get(path, 0.0)
        return 1 + sum(score > own for score in scores.values()) if own > 0 else None

    def _score(self, weights: Mapping[str, float], found: Mapping[str, int]) -> float:
        norm = 1.2 * (0.25 + 0.75 * sum(found.values()) / self._mean)
        return math.fsum(
            weight * math.log(1 + (len(self._texts) - holding + 0.5) / (holding + 0.5)) * times * 2.2 / (times + norm)
            for term, weight in weights.items()
            if (times := found.get(term)) and (holding := self._holding[term])
        )


def judge_summaries(
    notes: Mapping[str, Note], summaries: Mapping[str, str], target_words: tuple[int, int], is_index: frozenset[str]
) -> tuple[SummaryVerdict, ...]:
    """A verdict for each note that has a summary, but for index notes, whose words are those of others."""
    low, high = target_words
    judged = {path: notes[path] for path in sorted(notes) if summaries.get(path) and path not in is_index}
    in_notes = Ranks({path: note.text for path, note in notes.items()})
    in_summaries = Ranks({path: summaries[path] for path in judged})
    found = []
    for path, note in judged.items():
        summary = summaries[path]
        content, missing = _content(summary, note.text)
        headings = "\n".join([note.title, *(heading.title for heading in note.headings)])
        words = word_count(summary)
        found.append(
            SummaryVerdict(
                path=path,
                words=words,
                is_own_text=words < low,
                is_within=low <= words <= high,
                kept=1 - len(missing) / len(content) if content else 1.0,
                missing=tuple(missing),
                note_rank=in_notes.rank(summary, path),
                summary_rank=in_summaries.rank(headings, path),
            )
        )
    return tuple(found)


def summary_figures(verdicts: Sequence[SummaryVerdict]) -> dict[str, tuple[float | None, Interval, int]]:
    """Each figure with its interval and what it is a share of."""
    made = [verdict for verdict in verdicts if not verdict.is_own_text]
    return {
        "within_target": _mean([float(v.is_within) for v in made]),
        "content_words_of_note": _mean([v.kept for v in made]),
        "wholly_of_note": _mean([float(not v.missing) for v in made]),
        "note_first": _mean([float(v.note_rank == 1) for v in made]),
        "note_mrr": _mean([1 / v.note_rank if v.note_rank else 0.0 for v in made]),
        "summary_first": _mean([float(v.summary_rank == 1) for v in verdicts]),
        "summary_among_5": _mean([float((v.summary_rank or math.inf) <= 5) for v in verdicts]),
        "summary_mrr": _mean([1 / v.summary_rank if v.summary_rank else 0.0 for v in verdicts]),
    }


MEANINGS: Final = {
    "within_target": "summaries with as many words as asked for",
    "content_words_of_note": "content words of a summary that its note has (a floor of faithfulness)",
    "wholly_of_note": "summaries with no content word that their note lacks",
    "note_first": "the summary as the question puts its note first among all notes",
    "note_mrr": "the same, one over the rank",
    "summary_first": "title and headings put the note's own summary first among all summaries",
    "summary_among_5": "the same, among the first five",
    "summary_mrr": "the same, one over the rank",
}


def as_metrics(evaluation: SummariesEvaluation) -> dict[str, Any]:
    """The figures for programs."""
    figures = summary_figures(evaluation.verdicts)
    return {
        "measured_on": {
            "vault": evaluation.vault,
            "summaries": len(evaluation.verdicts),
            "librarian": evaluation.librarian,
        },
        "figures": {name: None if value is None else round(value, 4) for name, (value, _, _) in figures.items()},
        "intervals": {name: {"low": i.low, "high": i.high} for name, (_, i, _) in figures.items()},
    }


def report_text(evaluation: SummariesEvaluation) -> str:
    """The report in Markdown: figures, then the summaries that are worst found or say most that the note does not."""
    rows = [
        f"| {name.replace('_', ' ')} | {'–' if value is None else f'{value:.3f}'} | {_between(interval)} | {count} | "
        f"{MEANINGS[name]} |"
        for name, (value, interval, count) in summary_figures(evaluation.verdicts).items()
    ]
    low, high = evaluation.target_words
    own = sum(verdict.is_own_text for verdict in evaluation.verdicts)
    worst = sorted(evaluation.verdicts, key=lambda v: (-(v.summary_rank or 10**6), v.path))
    unfaithful = sorted((v for v in evaluation.verdicts if v.missing), key=lambda v: (v.kept, v.path))
    facts = (
        f"{len(evaluation.verdicts)} notes, librarian {evaluation.librarian}, asked for {low} to {high} words; "
        f"{own} notes are too short for a summary and count in the last three figures only."
    )
    parts = [
        f"# How good the summaries of {evaluation.vault} are",
        facts,
        "\n".join(["| figure | | 95 % interval | of | what it is |", "|---|---|---|---|---|", *rows]),
        "## Hardest to find by title and headings",
        "\n".join(f"- {v.path}: {f'rank {v.summary_rank}' if v.summary_rank else 'not found'}" for v in worst[:10])
        or "None.",
        "## Words that the note does not have",
        "\n".join(f"- {v.path}: {', '.join(v.missing[:8])}" for v in unfaithful[:10]) or "None.",
    ]
    return "\n\n".join(parts) + "\n"


def _content(summary: str, text: str) -> tuple[list[str], list[str]]:
    """The distinct content words of a summary, and those of them that the text has in no form."""
    known = set(_terms(text))
    forms = encoder(detect_language(text)).forms
    words = list(dict.fromkeys(word for word in tokens(summary) if len(word) >= LEAST_CONTENT_CHARACTERS))
    return words, [word for word in words if not known.intersection(*[set().union(*forms(word))])]


def _terms(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    forms = encoder(detect_language(text)).forms
    for token in tokens(text):
        main, secondary = forms(token)
        for term in (*main, *secondary):
            found[term] = found.get(term, 0) + 1
    return found


def _mean(values: Sequence[float]) -> tuple[float | None, Interval, int]:
    if not values:
        return None, Interval(None, None), 0
    interval = Resampling([len(values)], RESAMPLES).share(values, [1] * len(values))
    return math.fsum(values) / len(values), interval, len(values)


def _between(interval: Interval) -> str:
    return "" if interval.low is None or interval.high is None else f"{interval.low:.2f} to {interval.high:.2f}"

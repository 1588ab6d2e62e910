"""The report of an evaluation as Markdown, and each paragraph's story in plain lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from infold.evaluation.comparing import Comparison
from infold.evaluation.error_analysis import MissKind, why
from infold.evaluation.figures import BASELINES, FOUND, GROUPING, WRONG, Figure
from infold.evaluation.findings import Findings
from infold.evaluation.intervals import Interval
from infold.evaluation.records import Evaluation, Verdict

_SHOWN: Final = ("section", "place", "short", "items", "lists", "viewed", "opened", "copies", "reworded")


def percent(value: float | None) -> str:
    """A share, for a person."""
    return "–" if value is None else f"{100 * value:.0f} %"


def points(value: float | None) -> str:
    """A difference of shares, in percentage points with its sign."""
    if value is None:
        return "–"
    rounded = round(100 * value)
    return f"{'+' if rounded > 0 else '−' if rounded < 0 else '±'}{abs(rounded)}"


def report_text(findings: Findings) -> str:
    """What the page says, in Markdown."""
    evaluation = findings.evaluation
    parts = [
        f"# How well {evaluation.vault} is filed: {percent(findings.figures['home'].value)} came home",
        headline(findings),
        "\n".join(_facts(findings)),
        *([f"**Not finished.** {evaluation.stopped}"] if evaluation.stopped else []),
        *(f"**Worth knowing.** {warning}" for warning in evaluation.warnings),
        "## Figures",
        _figures(findings),
        "## What went wrong, and what to try",
        *(_kind(kind) for kind in findings.misses),
    ]
    if not findings.misses:
        parts.append("Nothing did.")
    if findings.grouping_trials:
        parts.append(
            f"{findings.strangers} of these shared a chunk with paragraphs of other notes alone. "
            f"To try: {_trials(findings.grouping_trials)}."
        )
    parts += [_comparison(comparison) for comparison in findings.comparisons]
    return "\n\n".join(parts) + "\n"


def headline(findings: Findings) -> str:
    """The finding in one or two sentences."""
    home, best = findings.figures["home"], min(findings.leads, key=lambda lead: lead.value or 0.0)
    said = f"{round((home.value or 0) * home.count)} of {home.count} paragraphs cut out of the notes came home"
    low, high = best.interval
    if best.value is None or low is None or high is None:
        return f"{said}."
    is_sure = "clearly" if low > 0 or high < 0 else "perhaps"
    way = "more" if best.value > 0 else "fewer" if best.value < 0 else "more or fewer"
    return (
        f"{said}: {is_sure} {way} than by {best.title}, the best of the simple ways "
        f"({points(best.value)} points, 95 % interval {points(low)} to {points(high)})."
    )


def summary_lines(findings: Findings) -> Iterator[str]:
    """The findings in some lines, for a terminal."""
    shown = findings.figures
    yield headline(findings)
    yield ""
    for name in ("home", *(measure.name for measure in BASELINES), *_SHOWN):
        figure = shown[name]
        title = "infold, home" if name == "home" else figure.title
        yield f"{title:<18}{percent(figure.value):>6}   {_between(figure.interval, percent)}"
    yield f"{'grouping':<18}{percent(shown['grouping_note'].value):>6}   F1 of pairs out of one note"
    yield f"{'lost, damaged':<18}{findings.lost} paragraphs, {findings.damaged} notes"
    yield f"{'structure broken':<18}{findings.broken} times"
    for comparison in findings.comparisons:
        yield ""
        yield f"{comparison.other.name}, on the same {comparison.paragraphs} paragraphs:"
        told = [d for d in comparison.differences if d.value]
        for d in told:
            sure = "" if d.is_clear else "   within noise"
            yield f"{d.title:<18}{points(d.value):>6}   {_between(d.interval, points)}{sure}"
        if not told:
            yield "no figure differs"
    if findings.misses:
        yield ""
        yield "What went wrong:"
        for kind in findings.misses[:3]:
            tries = f"; try --compare {kind.trials[0]}" if kind.trials else ""
            yield f"{len(kind.misses):>4}  {kind.title}{tries}"
    yield ""
    yield f"cost    {findings.arm.usage.in_words}, {findings.seconds:.1f} s in all runs"


def cases_text(evaluation: Evaluation) -> str:
    """Every paragraph of every arm: misses in full, what went right in one line."""
    parts = [
        "# What became of each paragraph",
        f"Vault {evaluation.vault}, {evaluation.created_at}. Misses first, run by run.",
    ]
    for arm in evaluation.arms:
        for case in arm.cases:
            parts.append(f"## {arm.name}, seed {case.seed}, {arm.librarian}")
            wrong = [verdict for verdict in case.verdicts if not verdict.is_right]
            parts += [_story(verdict) for verdict in wrong]
            right = [verdict for verdict in case.verdicts if verdict.is_right]
            parts.append("\n".join(f"- {verdict.n}. ({verdict.kind}) {why(verdict)}" for verdict in right))
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(findings: Findings) -> Iterator[str]:
    evaluation, arm = findings.evaluation, findings.arm
    yield f"- vault: {evaluation.vault}, {evaluation.notes} notes; librarian: {arm.librarian}"
    yield (
        f"- {len(arm.cases)} runs (seeds {', '.join(str(case.seed) for case in arm.cases)}), "
        f"{findings.paragraphs} paragraphs, {findings.seconds:.1f} s"
    )
    yield f"- cost: {arm.usage.in_words}"
    yield f"- explorations ended by: {', '.join(f'{name} {count}' for name, count in findings.stops.items()) or 'none'}"
    yield (
        f"- lost: {findings.lost} paragraphs; damaged: {findings.damaged} notes; "
        f"structure broken: {findings.broken} times"
    )


def _figures(findings: Findings) -> str:
    shown = findings.figures
    names = [measure.name for measure in (*FOUND, *WRONG)] + [f"grouping_{truth}" for truth, _, _ in GROUPING]
    rows = [_row(shown[name]) for name in (*names, *(measure.name for measure in BASELINES))]
    rows += [
        f"| home − {lead.title} | {points(lead.value)} | {_between(lead.interval, points)} | | "
        "difference in percentage points, on the same paragraphs |"
        for lead in findings.leads
    ]
    return "\n".join(["| figure | | 95 % interval | of | what it is |", "|---|---|---|---|---|", *rows])


def _row(figure: Figure) -> str:
    interval = _between(figure.interval, percent)
    return f"| {figure.title} | {percent(figure.value)} | {interval} | {figure.count} | {figure.meaning} |"


def _between(interval: Interval, shown: Callable[[float | None], str]) -> str:
    return "" if interval.low is None else f"{shown(interval.low)} to {shown(interval.high)}"


def _kind(kind: MissKind) -> str:
    tries = f" To try: {_trials(kind.trials)}." if kind.trials else ""
    examples = "\n\n".join(_story(miss.verdict, seed=miss.seed) for miss in kind.examples)
    return f"### {len(kind.misses)}: {kind.title}\n\n{kind.meaning}{tries}\n\n{examples}"


def _trials(trials: tuple[str, ...]) -> str:
    return ", ".join(f"`infold evaluate --compare {trial}`" for trial in trials)


def _story(verdict: Verdict, *, seed: int | None = None) -> str:
    run = "" if seed is None else f" (seed {seed})"
    home = f"{verdict.path} › {' › '.join(verdict.trail) or 'no heading'}"
    lines = [f"**{verdict.n}{run}, {verdict.kind}, of {home}.** {why(verdict)}", _quoted(verdict.text)]
    if verdict.quote:
        lines += ["Quoted as covering it:", _quoted(verdict.quote)]
    if verdict.viewed:
        lines.append(f"Looked at: {', '.join(verdict.viewed)}. Opened: {', '.join(verdict.checked_out) or 'none'}.")
    if verdict.guesses and verdict.kind == "cut":
        titles = {measure.name: measure.title for measure in BASELINES}
        named = "; ".join(f"{titles.get(name, name)}: {path}" for name, path in verdict.guesses.items())
        lines.append(f"The simple ways say: {named}.")
    return "\n\n".join(lines)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in re.split(r"\r\n|\r|\n", text))


def _comparison(comparison: Comparison) -> str:
    rows = [
        f"| {d.title} | {percent(d.base)} | {percent(d.other)} | {points(d.value)} | {_between(d.interval, points)} | "
        f"{'clear' if d.is_clear else ''} |"
        for d in comparison.differences
    ]
    base, other = comparison.usage
    head = f"## {comparison.base.name} beside {comparison.other.name}"
    told = (
        f"The same {comparison.paragraphs} paragraphs: {len(comparison.gained)} are right only with the second, "
        f"{len(comparison.lost)} only with the first. Cost: {base.in_words}; {other.in_words}."
    )
    table = ["| figure | first | second | points | 95 % interval | |", "|---|---|---|---|---|---|", *rows]
    return "\n\n".join([head, told, "\n".join(table)])

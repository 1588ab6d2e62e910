"""How well questions are answered that name a day or who spoke: dated notes and conversations that are made up.

    python -m bench.dated [--seeds 0-2] [--languages english,german,…] [--wording 0|1]

No public collection with a licence to ship has notes of many days beside conversations, so this one is drawn from lists
of people, things and what may be said of them, the same each time: **what it shows is that dates are read and put to
use, not how often people ask so**. Each thing is spoken of on eight days of a year, in daily notes, dated notes of
meetings, sessions, and sessions of several people in which only the name of the speaker says whose word it is; a
note without a date tells of it at length. Families of questions:

- `day`, `month` and `relative` name when ("on 3 May", "in March", "last week"), and often who spoke; the answers are of
  that time;
- `content` names a day that a note of another day tells of ("what is planned for 3 May?"): a trap;
- `speaker` asks what somebody said in a session of several people, and `none` anything, without a time.

`--wording` is how questions are put: weights were chosen on wording 0 of English, seed 0. Each row is a family:
nDCG@10, share of the answers among the first five and ten; without dates and speakers read, and with both.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final
from unittest.mock import patch

from bench.dated_words import WORDINGS, Wording
from infold.evaluation.retrieval.asking import ask
from infold.evaluation.retrieval.figures import ndcg, recall
from infold.evaluation.retrieval.sets import RetrievalQuestion, RetrievalSet
from infold.notebook import transcripts
from infold.search.embed.static_embedder import StaticEmbedder
from infold.search.query import searcher
from infold.settings import load_params, seeds_of
from infold.vault.date_words import DATE_WORDS

TODAY: Final = date(2026, 5, 13)
DAYS: Final = 330  # back from today, in which all happened
PER_THING: Final = 8  # days on which a thing is spoken of
FAMILIES: Final = ("day", "month", "relative", "content", "speaker", "none")
PER_FAMILY: Final = 40
MEASURES: Final = {"nDCG@10": ndcg, "R@5": recall(5), "R@10": recall(10)}


@dataclass(frozen=True, slots=True)
class Event:
    """Somebody said something of a thing on a day; `path` is the note or session that has it."""

    day: date
    who: str
    what: str
    path: str
    is_talk: bool  # of several people, by their names


def made_up(language: str, seed: int, wording: int) -> RetrievalSet:
    """The notes, sessions and questions of a language."""
    said = WORDINGS[language]
    draw = random.Random(f"{language}:{seed}")
    events, notes, sessions = _happened(said, draw)
    questions = list(_questions(said, events, draw, wording, language, notes))
    return RetrievalSet(
        name="dated", title=f"{language} {seed}", meaning="", questions=tuple(questions), notes=notes, sessions=sessions
    )


def _happened(said: Wording, draw: random.Random) -> tuple[list[Event], dict[str, str], dict[str, str]]:
    people = said.people.split()
    lines: dict[str, list[str]] = {}
    events: list[Event] = []
    for what in said.things:
        near = [TODAY - timedelta(days=back) for back in (1, 3, draw.randint(4, 8), draw.randint(13, 42))]
        days = [
            *near[: draw.randint(1, 3)],
            *(TODAY - timedelta(days=draw.randint(13, DAYS)) for _ in range(PER_THING)),
        ]
        for day in sorted(set(days))[-PER_THING:]:
            who, telling = draw.choice(people), draw.choice(said.said)
            kind = draw.choice(("daily", "meeting", "session", "talk"))
            path = {
                "daily": f"daily/{day}.md",
                "meeting": f"meetings/{what} {len(events)}.md",
                "session": f"sessions/{day}-{len(events)}.jsonl",
                "talk": f"sessions/{day}-{len(events)}.jsonl",
            }[kind]
            events.append(Event(day, who, what, path, kind == "talk"))
            lines.setdefault(path, []).append(telling.format(who=said.me if kind == "talk" else who, what=what))
    notes, sessions = {}, {}
    dates = {event.path: event.day for event in events}
    talks = {event.path: event.who for event in events if event.is_talk}
    for path, told in lines.items():
        body = [*told, *draw.sample(said.filler, 3)]
        draw.shuffle(body)
        if path.startswith("sessions/"):
            turns = [
                {"role": "user", "content": line, "timestamp": f"{dates[path]}T12:00:00Z"}
                | ({"name": talks[path] if line in told else draw.choice(people)} if path in talks else {})
                for line in body
            ]
            sessions[path] = "".join(json.dumps(turn) + "\n" for turn in turns)
        elif path.startswith("daily/"):
            notes[path] = "\n\n".join(body) + "\n"
        else:
            notes[path] = f"---\ndate: {dates[path]}\n---\n" + "\n\n".join(body) + "\n"
    for what in said.things:  # a note that tells of it at length, without a date
        about = [draw.choice(said.said).format(who=draw.choice(people), what=what) for _ in range(12)]
        notes[f"{what}.md"] = f"# {what}\n\n" + "\n\n".join(about) + "\n"
    return events, notes, sessions


def _questions(
    said: Wording, events: Sequence[Event], draw: random.Random, wording: int, language: str, notes: dict[str, str]
) -> Iterator[RetrievalQuestion]:
    timed, planned, bare = said.questions[wording]
    families = {"day": _days(said, events, draw, language), "month": _months(said, events, draw, language),
                "relative": _relatives(said, events)}  # fmt: skip
    for family, asked in families.items():
        entries = list(asked)
        draw.shuffle(entries)
        for n, (when, event, first, last) in enumerate(entries[:PER_FAMILY]):
            answers = [e.path for e in events if (e.who, e.what) == (event.who, event.what) and first <= e.day <= last]
            text = timed.format(who=event.who, what=event.what, when=when)
            yield RetrievalQuestion(f"{family}-{n}", text, dict.fromkeys(answers, 1), asked_on=TODAY)
    for n, event in enumerate(draw.sample(list(events), min(PER_FAMILY, len(events)))):
        when = _said_of(draw.choice(said.day), event.day + timedelta(days=draw.randint(3, 40)), language)
        notes[event.path if event.path in notes else f"plans/{n}.md"] = (
            notes.get(event.path, f"---\ndate: {event.day}\n---\n")
            + f"\n{said.planned.format(what=event.what, when=when)}\n"
        )
        text = planned.format(what=event.what, when=when)
        answer = event.path if event.path in notes else f"plans/{n}.md"
        yield RetrievalQuestion(f"content-{n}", text, {answer: 1}, asked_on=TODAY)
    for family, those in (("speaker", [event for event in events if event.is_talk]), ("none", list(events))):
        for n, event in enumerate(draw.sample(those, min(PER_FAMILY, len(those)))):
            answers = [
                e.path
                for e in events
                if (e.who, e.what, e.is_talk or family == "none") == (event.who, event.what, True)
            ]
            text = bare.format(who=event.who, what=event.what)
            yield RetrievalQuestion(f"{family}-{n}", text, dict.fromkeys(answers, 1), asked_on=TODAY)


def _said_of(form: str, day: date, language: str) -> str:
    months = DATE_WORDS[language].months.split() if language in DATE_WORDS else [""] * 12
    month = months[day.month - 1].split("|")[0]
    month = month.capitalize() if language in ("english", "german") else month
    return form.format(d=day.day, m=day.month, y=day.year, iso=day.isoformat(), month=month)


Asked = Iterator[tuple[str, Event, date, date]]


def _days(said: Wording, events: Sequence[Event], draw: random.Random, language: str) -> Asked:
    for event in events:
        yield _said_of(draw.choice(said.day), event.day, language), event, event.day, event.day


def _months(said: Wording, events: Sequence[Event], draw: random.Random, language: str) -> Asked:
    for event in events:
        first = event.day.replace(day=1)
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        yield _said_of(draw.choice(said.month), event.day, language), event, first, last


def _relatives(said: Wording, events: Sequence[Event]) -> Asked:
    for event in events:
        for when, begins, ends in said.relative:
            first, last = TODAY - timedelta(days=begins), TODAY - timedelta(days=ends)
            if first <= event.day <= last:
                yield when, event, first, last


def measured(asked: RetrievalSet, way: str) -> dict[str, list[float]]:
    """By family the measures of the hybrid, or of another way to search."""
    found = ask(asked, load_params(None), StaticEmbedder())
    by_family = {family: [each for each in found.asked if each.id.startswith(f"{family}-")] for family in FAMILIES}
    return {
        family: [sum(measure(each, way) for each in those) / len(those) for measure in MEASURES.values()]
        for family, those in by_family.items()
        if those
    }


def main() -> None:
    """Prints a row a language, seed and family; then each family's mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--languages", default="english")
    parser.add_argument("--wording", type=int, default=0, choices=(0, 1))
    options = parser.parse_args()
    print("| set | family | questions | without dates | with |\n|---|---|---|---|---|")
    for language in options.languages.split(","):
        for seed in seeds_of(options.seeds):
            asked = made_up(language, seed, options.wording)
            undated = replace(asked, questions=tuple(replace(each, asked_on=None) for each in asked.questions))
            with (
                patch.object(searcher, "may_name_time", lambda _: False),
                patch.object(transcripts, "_speaker", lambda _: ""),
            ):
                before = measured(undated, "hybrid")
            after = measured(asked, "hybrid")
            for family in after:
                count = sum(each.id.startswith(f"{family}-") for each in asked.questions)
                row = " | ".join(", ".join(f"{value:.3f}" for value in each[family]) for each in (before, after))
                print(f"| {asked.title} | {family} | {count} | {row} |", flush=True)


if __name__ == "__main__":
    main()

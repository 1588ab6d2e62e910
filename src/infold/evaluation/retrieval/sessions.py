"""Session sets: dated transcripts, and questions about what was said in one of them, as JSON lines.

    {"session": "a", "date": "2026-02-24", "turns": [{"role": "user", "content": "…"}, …]}
    {"question": "What did I call the cat?", "sessions": ["a"]}

A question may carry its own haystack instead, with the field names of LongMemEval: `question_id`, `question`,
`question_date`, `answer_session_ids`, `haystack_session_ids`, `haystack_dates`, `haystack_sessions`. All sessions then
share one index, and each question is asked among its own; how rare a word is counts over all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from infold.evaluation.retrieval.sets import RetrievalQuestion, RetrievalSet
from infold.notebook.sessions import PREFIX
from infold.text import content_hash


def session_set(name: str, lines: Sequence[Mapping[str, Any]]) -> RetrievalSet:
    """The set that these lines hold. Raises KeyError and ValueError where a line is of another form."""
    sessions: dict[str, str] = {}
    called: dict[str, str] = {}

    def add(session: str, date: str, turns: Iterable[Mapping[str, Any]]) -> str:
        text = "".join(json.dumps({**turn, "timestamp": date} if date else dict(turn)) + "\n" for turn in turns)
        path = f"{PREFIX}{content_hash(session)[:16]}.jsonl"
        if sessions.setdefault(path, text) != text:
            path = f"{PREFIX}{content_hash(session + text)[:16]}.jsonl"
            sessions[path] = text
        called[path] = session
        return path

    shared: dict[str, str] = {}
    for line in lines:
        if "session" in line:
            shared[str(line["session"])] = add(str(line["session"]), _day(line.get("date")), line["turns"])
    questions: list[RetrievalQuestion] = []
    for line in lines:
        if "question" not in line:
            continue
        own = shared
        if "haystack_sessions" in line:
            hay = zip(
                line["haystack_session_ids"],
                line.get("haystack_dates") or [""] * len(line["haystack_sessions"]),
                line["haystack_sessions"],
                strict=True,
            )
            own = {str(session): add(str(session), _day(date), turns) for session, date, turns in hay}
        answers = line["answer_session_ids"] if "answer_session_ids" in line else line["sessions"]
        questions.append(
            RetrievalQuestion(
                id=str(line.get("question_id") or f"{name}-{len(questions) + 1}"),
                text=line["question"],
                relevant={own[str(session)]: 1 for session in answers if str(session) in own},
                among=() if own is shared else tuple(own.values()),
                asked_on=date.fromisoformat(day) if (day := _day(line.get("question_date"))) else None,
            )
        )
    return RetrievalSet(
        name=name,
        title=name,
        meaning="a question; the session in which it was spoken of",
        questions=tuple(questions),
        sessions=sessions,
        called=called,
    )


def _day(date: object) -> str:
    """The ISO day of a date such as `2023/05/20 (Sat) 02:21`; '' where there is none."""
    text = str(date or "").strip().replace("/", "-")[:10]
    return text if len(text) == 10 and text.replace("-", "").isdigit() else ""
